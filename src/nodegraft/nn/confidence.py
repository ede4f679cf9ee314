"""How sure an answer is: probabilities that come true."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

Floats = NDArray[np.float64]

UNCHANGED = np.array([1.0, 0.0, 0.0, 0.0, 0.0])
EVERYONE = np.array([0.0, 50.0])
"""Coefficients of a familiarity that takes nobody for a stranger."""


def fit_confidence(answers: Sequence[tuple[Floats, Floats, NDArray[np.bool_]]]) -> Floats:
    r"""Coefficients of a confidence that comes true in practice.

    .. math:: \sigma(a_1 \operatorname{logit} p + a_2 e + a_3 \varepsilon + a_4 \log C + a_0)

    Platt's scaling of the share :math:`p` that the answer's class has, with terms for how few
    labels the class rests on (:math:`e`) and the :math:`C` known classes on average
    (:math:`\varepsilon`): among many young classes an answer is less sure, whatever its share. One
    triple a round: shares, every class's evidence, and which answers were right. Where practice
    cannot tell (all right, all wrong), nothing changes.
    """
    correct = np.concatenate([right for _, _, right in answers])
    if correct.all() or not correct.any():
        return UNCHANGED
    known = np.concatenate([_known(shares, evidence) for shares, evidence, _ in answers])
    fitted = LogisticRegression(C=1e4).fit(known, correct)
    if fitted.coef_[0, 0] <= 0.0:
        return UNCHANGED
    return np.append(fitted.coef_[0], fitted.intercept_[0])


def _known(shares: Floats, evidence: Floats) -> Floats:
    """What confidence may depend on, a row for each answer."""
    odds = _odds(shares.max(axis=1))
    own = evidence[shares.argmax(axis=1)]
    everywhere = np.tile((evidence.mean(), np.log(evidence.size)), (odds.size, 1))
    return np.column_stack((odds, own, everywhere))


def confident(shares: Floats, evidence: Floats, coefficients: Floats) -> Floats:
    """Probabilities in which the largest of a row is as likely as practice says.

    The others share the rest in proportion. The answer stays the answer: the largest is never put
    below the second.

    >>> shares = np.array([[0.6, 0.3, 0.1]])
    >>> confident(shares, np.zeros(3), np.array([2.0, 0.0, 0.0, 0.0, 0.0])).round(3).tolist()
    [[0.692, 0.231, 0.077]]
    """
    if shares.shape[1] == 1:
        return shares
    sure = expit(_known(shares, evidence) @ coefficients[:-1] + coefficients[-1])
    nodes, top = np.arange(len(shares)), shares.argmax(axis=1)
    rest = shares.copy()
    rest[nodes, top] = 0.0
    second, others = rest.max(axis=1), np.maximum(rest.sum(axis=1), 1e-300)
    # A hair above the second: at a tie another class would be the answer.
    sure = np.maximum(sure, (1.0 + 1e-9) * second / (second + others))
    out: Floats = rest * ((1.0 - sure) / others)[:, None]
    out[nodes, top] = sure
    return out


def fit_familiarity(known: Floats, strange: Floats) -> Floats:
    r"""Coefficients of :math:`\sigma(a s + d)`, the chance that a node is of a known class.

    :math:`s` is the node's best score. Shares cannot tell: they add up to 1 among the known
    classes, however little a node is like any. Strangers are taken to be half of all, as nothing
    is known about how many will come.

    >>> slope, offset = fit_familiarity(np.array([3.0, 4.0, 5.0]), np.array([0.0, 1.0, 2.0]))
    >>> bool(slope > 0), float(-offset / slope).__round__(1)
    (True, 2.5)
    """
    best = np.concatenate((known, strange))[:, None]
    fitted = LogisticRegression(C=1e4, class_weight="balanced").fit(
        best, np.arange(best.size) < known.size
    )
    if fitted.coef_[0, 0] <= 0.0:
        return EVERYONE
    return np.append(fitted.coef_[0], fitted.intercept_[0])


def familiar(scores: Floats, coefficients: Floats) -> Floats:
    """The chance that each row's node is of a known class.

    >>> familiar(np.array([[1.0, 2.0], [9.0, 0.0]]), np.array([1.0, -2.0])).round(3).tolist()
    [0.5, 0.999]
    """
    chance: Floats = expit(coefficients[0] * scores.max(axis=1) + coefficients[1])
    return chance


def _odds(shares: Floats) -> Floats:
    # Shares of exactly 0 or 1 have no odds; beyond a millionth they mean the same.
    odds: Floats = logit(np.clip(shares, 1e-6, 1.0 - 1e-6))
    return odds
