"""How sure an answer is: probabilities that come true.

``scipy.special`` is imported where it is needed: it is slow to import, and most of the library does
without.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nodegraft.methods.graft.mixture import class_shares
from nodegraft.methods.linear.logistic import logistic_coefficients

Floats = NDArray[np.float64]

UNCALIBRATED = np.array([1.0, 0.0, 0.0, 0.0, 50.0])
"""Coefficients that leave probabilities as they are, but for how large classes seem to be."""

CROWDING = 0.5
"""How much less sure an answer is among more classes than were practised on, in log-odds for each
time that there are e times as many: practice cannot tell, so it was chosen on streams of known
and validation classes of four real graphs."""

ALWAYS_KNOWN = np.array([0.0, 50.0])
"""Coefficients of an open-set score that takes every node to be of a known class."""

BELIEVED = 0.5
"""How far the share of nodes of known classes that unlabelled nodes point to is believed, in
log-odds: it is estimated too high where classes with few labels take in strangers. Chosen as
:data:`CROWDING` was."""

SHARE_ROUNDS = 50
"""So often the share of known classes is estimated: enough but where scores hardly tell them."""

LEAST = 1e-300
"""Less probable than this no class is: a node whose rivals had nothing would have none."""


def fit_calibration(
    answers: Sequence[tuple[Floats, Floats, NDArray[np.bool_]]], trust: Floats | None = None
) -> Floats:
    r"""Coefficients of a confidence that comes true in practice.

    .. math:: \sigma\Bigl(a_1 \operatorname{logit} p + a_2 e + a_3 \bar e + a_0
        - \tfrac{1}{2} \max\bigl(0, \log \tfrac{C}{C_0}\bigr)\Bigr)

    Platt's scaling of the probability :math:`p` of the answer's class, given how large classes seem
    to be, with terms for how few labels that class has (:math:`e`) and its rivals have
    (:math:`\bar e`, their mean by probability). The last term is not fitted: it is for more known
    classes :math:`C` than the :math:`C_0` that were practised on. Where practice cannot tell (all
    right, all wrong), :math:`p` is taken as it is.

    Args:
        answers: One triple a round: probabilities (node x class) before calibration, the label
            scarcity of each class, and which answers were right. Scarcity is larger for fewer
            labels, such as log(1 + 100 / labels).
        trust: How much each answer counts, of all rounds one after the other; None for alike.
    """
    correct = np.concatenate([right for _, _, right in answers])
    if correct.all() or not correct.any():
        return UNCALIBRATED
    predictors = np.concatenate(
        [
            _predictors(probabilities, scarcity, class_shares(probabilities))
            for probabilities, scarcity, _ in answers
        ]
    )
    found = logistic_coefficients(predictors, correct, trust)
    if found[0] <= 0.0:
        return UNCALIBRATED
    most = max(scarcity.size for _, scarcity, _ in answers)
    return np.append(found, np.log(most))


def _predictors(probabilities: Floats, scarcity: Floats, shares: Floats) -> Floats:
    """What confidence may depend on, a row for each answer."""
    nodes, top = np.arange(len(probabilities)), probabilities.argmax(axis=1)
    likely = probabilities * shares
    likely /= likely.sum(axis=1, keepdims=True)
    rivals = np.maximum(probabilities, LEAST)
    rivals[nodes, top] = 0.0
    rivals_scarcity = rivals @ scarcity / rivals.sum(axis=1)
    return np.column_stack((_log_odds(likely[nodes, top]), scarcity[top], rivals_scarcity))


def calibrated_probabilities(
    probabilities: Floats, scarcity: Floats, shares: Floats, coefficients: Floats
) -> Floats:
    """Probabilities in which the largest of a row is as likely as practice says.

    The others share the rest in proportion. The answer stays the answer: the largest is never put
    below the second.

    >>> probabilities = np.array([[0.6, 0.3, 0.1]])
    >>> doubled = np.array([2.0, 0.0, 0.0, 0.0, np.log(3.0)])
    >>> even = np.full(3, 1 / 3)
    >>> calibrated_probabilities(probabilities, np.zeros(3), even, doubled).round(3).tolist()
    [[0.692, 0.231, 0.077]]

    Args:
        probabilities: Before calibration: one row a node, one column a class, adding up to 1.
        scarcity: How few labels each class has, in the measure of :func:`fit_calibration`.
        shares: How large each class seems to be, as a share of all nodes.
        coefficients: What :func:`fit_calibration` found.
    """
    from scipy.special import expit

    if probabilities.shape[1] == 1:
        return probabilities
    *slopes, offset, practised = coefficients
    linear = _predictors(probabilities, scarcity, shares) @ slopes + offset
    linear -= CROWDING * max(0.0, np.log(scarcity.size) - practised)
    nodes, top = np.arange(len(probabilities)), probabilities.argmax(axis=1)
    rest = np.maximum(probabilities, LEAST)
    rest[nodes, top] = 0.0
    second, others = rest.max(axis=1), rest.sum(axis=1)
    # A hair above the second: at a tie another class would be the answer.
    confidence = np.maximum(expit(linear), (1.0 + 1e-9) * second / (second + others))
    out: Floats = rest * ((1.0 - confidence) / others)[:, None]
    out[nodes, top] = confidence
    return out


def fit_open_set(known: Floats, unknown: Floats) -> Floats:
    r"""Coefficients of :math:`\sigma(a s + d)`, the chance that a node is of a known class.

    :math:`s` is the node's best score. Probabilities cannot tell: they add up to 1 among the known
    classes, however little a node is like any. Nodes of unknown classes are taken to be half of
    all: how many there are in use, :func:`share_of_known_classes` says.

    >>> slope, offset = fit_open_set(np.array([3.0, 4.0, 5.0]), np.array([0.0, 1.0, 2.0]))
    >>> bool(slope > 0), float(-offset / slope).__round__(1)
    (True, 2.5)

    Args:
        known: Best scores of nodes of known classes.
        unknown: Best scores of nodes of unknown classes.
    """
    best = np.concatenate((known, unknown))[:, None]
    is_known = np.arange(best.size) < known.size
    even = 0.5 * best.size / np.where(is_known, known.size, unknown.size)
    found = logistic_coefficients(best, is_known, even)
    return ALWAYS_KNOWN if found[0] <= 0.0 else found


def known_class_probability(scores: Floats, coefficients: Floats, share: float = 0.5) -> Floats:
    """The chance that each row's node is of a known class.

    >>> scores = np.array([[1.0, 2.0], [9.0, 0.0]])
    >>> known_class_probability(scores, np.array([1.0, -2.0])).round(3).tolist()
    [0.5, 0.999]

    Args:
        scores: One row a node, one column a class.
        coefficients: What :func:`fit_open_set` found.
        share: How many of all nodes are of known classes.
    """
    from scipy.special import expit, logit

    best = scores.max(axis=1)
    chance: Floats = expit(coefficients[0] * best + coefficients[1] + logit(share))
    return chance


def share_of_known_classes(chances: Floats) -> float:
    """How many of all nodes to take for nodes of known classes.

    The share under which these chances are most likely (expectation maximisation, with one node
    of each side beforehand), moved towards one half (:data:`BELIEVED`).

    >>> round(share_of_known_classes(np.array([0.99] * 90 + [0.01] * 10)), 2)
    0.75

    Args:
        chances: Of a fair sample, if half of all nodes were of known classes.
    """
    from scipy.special import expit, logit

    share = 0.5
    for _ in range(SHARE_ROUNDS):
        known = share * chances
        known = known / (known + (1.0 - share) * (1.0 - chances))
        share = (known.sum() + 1.0) / (chances.size + 2.0)
    return float(expit(BELIEVED * logit(share)))


def _log_odds(probabilities: Floats) -> Floats:
    from scipy.special import logit

    # Probabilities of exactly 0 or 1 have none; beyond a millionth they mean the same.
    log_odds: Floats = logit(np.clip(probabilities, 1e-6, 1.0 - 1e-6))
    return log_odds
