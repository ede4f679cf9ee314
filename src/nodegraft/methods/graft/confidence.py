"""Confidence of graft: calibrated probabilities, the open-set score, and shares of classes.

The functions import ``scipy.special`` themselves: it is slow to import, and most of the library
does not need it.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.edges.matrix import IntArray

Floats = NDArray[np.float64]

UNCALIBRATED = np.array([1.0, 0.0, 0.0, 0.0, 50.0])
"""Coefficients without calibration: only the estimated class shares change the probabilities."""

CROWDING = 0.5
"""Decrease of confidence, in log-odds, if there are e times as many classes as in practice
episodes. Practice cannot estimate this number, so it was chosen on streams of known and validation
classes of four graphs."""

ALWAYS_KNOWN = np.array([0.0, 50.0])
"""Open-set coefficients for which every node belongs to a known class."""

SHARE_FACTOR = 0.5
"""Factor for the log-odds of the estimated share of nodes of known classes. Without this factor the
share is too high if nodes of unknown classes resemble classes with few labels. The value was chosen
like :data:`CROWDING`."""

CLASS_ROUNDS, SHARE_ROUNDS = 10, 50
"""Number of expectation-maximisation steps for class shares and for the share of known classes."""

LEAST = 1e-300
"""Minimum probability of a class. Without it, the other classes of a node could add up to 0."""

SLOPE_PENALTY = 1e-4
"""Penalty on squared slopes; keeps slopes finite if the predictors separate the cases perfectly."""

STEPS, HALVINGS = 100, 30
"""Maximum number of Newton steps, and of step halvings in each; fewer than ten steps are usual."""

CLOSE = 1e-9
"""Tolerance of Newton's method: minimum decrease of the cost per unit weight in a step."""


def fit_calibration(
    predictions: Sequence[tuple[Floats, Floats, NDArray[np.bool_]]], trust: Floats | None = None
) -> Floats:
    r"""Fit the coefficients of the confidence on predictions of practice rounds.

    .. math:: \sigma\Bigl(a_1 \operatorname{logit} p + a_2 e + a_3 \bar e + a_0
        - \tfrac{1}{2} \max\bigl(0, \log \tfrac{C}{C_0}\bigr)\Bigr)

    This is Platt scaling of the probability :math:`p` of the predicted class, given the class
    shares. Two terms are for the label scarcity of the predicted class (:math:`e`) and of the
    other classes (:math:`\bar e`, their mean weighted by probability). The last term is not
    fitted: it lowers confidence if there are more known classes :math:`C` than the :math:`C_0` of
    practice. If all predictions are right, or all wrong, :math:`p` is not changed.

    Args:
        predictions: One triple per round: probabilities (node x class) before calibration, the
            label scarcity of each class, and whether each prediction was right. Scarcity is larger
            for fewer labels, such as log(1 + 100 / labels).
        trust: Weight of each prediction, round by round; None if all have weight 1.
    """
    correct = np.concatenate([right for _, _, right in predictions])
    if correct.all() or not correct.any():
        return UNCALIBRATED
    predictors = np.concatenate(
        [
            _predictors(probabilities, scarcity, class_shares(probabilities))[0]
            for probabilities, scarcity, _ in predictions
        ]
    )
    coefficients = logistic_coefficients(predictors, correct, trust)
    if coefficients[0] <= 0.0:
        return UNCALIBRATED
    most = max(scarcity.size for _, scarcity, _ in predictions)
    return np.append(coefficients, np.log(most))


def _predictors(
    probabilities: Floats, scarcity: Floats, shares: Floats
) -> tuple[Floats, IntArray, Floats, Floats]:
    """Return the predictors of the calibration, and the other classes' probabilities.

    The function runs for every predicted node, so it reads large matrices as few times as possible.

    Returns:
        The predictors, the predicted classes, the probabilities of the other classes (0 for the
        predicted class), and the sums of these probabilities.
    """
    nodes, top = np.arange(len(probabilities)), probabilities.argmax(axis=1)
    likely = probabilities[nodes, top] * shares[top] / (probabilities @ shares)
    rivals = np.maximum(probabilities, LEAST)
    rivals[nodes, top] = 0.0
    # Use products with vectors, which are faster than sums along rows.
    sums, weighted = (rivals @ np.column_stack((np.ones_like(scarcity), scarcity))).T
    return np.column_stack((_log_odds(likely), scarcity[top], weighted / sums)), top, rivals, sums


def calibrated_probabilities(
    probabilities: Floats, scarcity: Floats, shares: Floats, coefficients: Floats
) -> Floats:
    """Calibrate the largest probability of each row, and scale the others to a sum of 1.

    The predicted class does not change: the largest probability stays above the second largest.

    >>> probabilities = np.array([[0.6, 0.3, 0.1]])
    >>> doubled = np.array([2.0, 0.0, 0.0, 0.0, np.log(3.0)])
    >>> even = np.full(3, 1 / 3)
    >>> calibrated_probabilities(probabilities, np.zeros(3), even, doubled).round(3).tolist()
    [[0.692, 0.231, 0.077]]

    Args:
        probabilities: Probabilities before calibration: nodes x classes; each row adds up to 1.
        scarcity: Label scarcity of each class, as in :func:`fit_calibration`.
        shares: Estimated share of each class among all nodes.
        coefficients: Coefficients from :func:`fit_calibration`.
    """
    from scipy.special import expit

    if probabilities.shape[1] == 1:
        return probabilities
    *slopes, offset, practised = coefficients
    predictors, top, out, others = _predictors(probabilities, scarcity, shares)
    linear = predictors @ slopes + offset
    linear -= CROWDING * max(0.0, np.log(scarcity.size) - practised)
    second = out.max(axis=1)
    # Keep the value a little above the second largest probability: a tie could change the predicted
    # class.
    confidence = np.maximum(expit(linear), (1.0 + 1e-9) * second / (second + others))
    out *= ((1.0 - confidence) / others)[:, None]
    out[np.arange(len(out)), top] = confidence
    return out


def fit_open_set(known: Floats, unknown: Floats) -> Floats:
    r"""Fit the coefficients of :math:`\sigma(a s + d)`, the chance that a node's class is known.

    :math:`s` is the node's best score. Probabilities cannot be used: they add up to 1 over the
    known classes, even for a node that resembles none of them. The fit assumes that half of all
    nodes belong to unknown classes; :func:`share_of_known_classes` estimates the actual share.

    >>> slope, offset = fit_open_set(np.array([3.0, 4.0, 5.0]), np.array([0.0, 1.0, 2.0]))
    >>> bool(slope > 0), float(-offset / slope).__round__(1)
    (True, 2.5)
    """
    best = np.concatenate((known, unknown))[:, None]
    is_known = np.arange(best.size) < known.size
    even = 0.5 * best.size / np.where(is_known, known.size, unknown.size)
    coefficients = logistic_coefficients(best, is_known, even)
    return ALWAYS_KNOWN if coefficients[0] <= 0.0 else coefficients


def known_class_probability(scores: Floats, coefficients: Floats, share: float = 0.5) -> Floats:
    """Return the chance that each node belongs to a known class.

    >>> scores = np.array([[1.0, 2.0], [9.0, 0.0]])
    >>> known_class_probability(scores, np.array([1.0, -2.0])).round(3).tolist()
    [0.5, 0.999]

    Args:
        coefficients: Coefficients from :func:`fit_open_set`.
        share: Share of nodes of known classes among all nodes.
    """
    from scipy.special import expit, logit

    best = scores.max(axis=1)
    chance: Floats = expit(coefficients[0] * best + coefficients[1] + logit(share))
    return chance


def share_of_known_classes(chances: Floats) -> float:
    """Estimate the share of nodes of known classes among all nodes.

    The estimate uses expectation maximisation; one node of a known class and one of an unknown
    class are added to the sample. The log-odds of the estimate are then multiplied by
    :data:`SHARE_FACTOR`, which moves it towards one half.

    >>> round(share_of_known_classes(np.array([0.99] * 90 + [0.01] * 10)), 2)
    0.75

    Args:
        chances: For a random sample of nodes, the chance that each belongs to a known class,
            assuming that half of all nodes do.
    """
    from scipy.special import expit, logit

    share = 0.5
    for _ in range(SHARE_ROUNDS):
        known = share * chances
        known = known / (known + (1.0 - share) * (1.0 - chances))
        share = (known.sum() + 1.0) / (chances.size + 2.0)
    return float(expit(SHARE_FACTOR * logit(share)))


def responsibilities(scores: Floats) -> Floats:
    r"""Return :math:`r_{ic} \propto \pi_c \exp s_{ic}`, with class shares :math:`\pi`.

    The result is the probability of each class for each node. Expectation maximisation alternately
    estimates shares and probabilities. It starts with equal shares, and one node is added to each
    class at the start.

    >>> found = responsibilities(np.array([[2.0, 0.0], [2.0, 0.0], [0.0, 0.1]]))
    >>> found.round(2).tolist()
    [[0.95, 0.05], [0.95, 0.05], [0.7, 0.3]]

    Args:
        scores: Log-odds of each class for each node, up to a constant for each node.
    """
    from scipy.special import softmax

    likely: Floats = softmax(scores, axis=1)
    likely *= class_shares(likely, CLASS_ROUNDS - 1)
    likely /= likely.sum(axis=1, keepdims=True)
    return likely


def class_shares(likely: Floats, rounds: int = CLASS_ROUNDS) -> Floats:
    """Estimate the share of each class among all nodes.

    >>> class_shares(np.array([[0.9, 0.1], [0.9, 0.1], [0.4, 0.6]])).round(2).tolist()
    [0.71, 0.29]

    Args:
        likely: Class probabilities of a random sample of nodes, assuming classes of equal size.
    """
    nodes, classes = likely.shape
    shares = np.full(classes, 1.0 / classes)
    for _ in range(rounds):
        # Do not store the posterior, because only its column sums are needed.
        sums = shares * ((1.0 / (likely @ shares)) @ likely)
        shares = (sums + 1.0) / (nodes + classes)
    return shares


def _log_odds(probabilities: Floats) -> Floats:
    from scipy.special import logit

    # Clip probabilities, because log-odds of exactly 0 or 1 are not finite.
    log_odds: Floats = logit(np.clip(probabilities, 1e-6, 1.0 - 1e-6))
    return log_odds


def logistic_coefficients(
    predictors: Floats, is_positive: NDArray[np.bool_], weights: Floats | None = None
) -> Floats:
    """Fit a logistic regression, and return the slope of each predictor, then the offset.

    >>> found = logistic_coefficients(np.arange(4.0)[:, None], np.array([False, True, False, True]))
    >>> bool(found[0] > 0), float(-found[1] / found[0]).__round__(2)
    (True, 1.5)

    Args:
        predictors: One row per case, one column per predictor.
        is_positive: Whether each case is positive; both values must occur.
        weights: Weight of each case; None if all have weight 1.
    """
    # This import is slow, and only a fit needs it.
    from scipy.special import expit

    scale = predictors.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    centre = predictors.mean(axis=0)
    rows = np.column_stack(((predictors - centre) / scale, np.ones(len(predictors))))
    counts = np.ones(len(rows)) if weights is None else weights
    signs = np.where(is_positive, 1.0, -1.0)
    penalty = np.append(SLOPE_PENALTY / scale**2, 0.0)

    def cost(coefficients: Floats) -> float:
        loss = np.logaddexp(0.0, -signs * (rows @ coefficients))
        return float(counts @ loss + 0.5 * penalty @ coefficients**2)

    coefficients, lowest = np.zeros(rows.shape[1]), cost(np.zeros(rows.shape[1]))
    for _ in range(STEPS):
        chances = expit(rows @ coefficients)
        slope = rows.T @ (counts * (chances - is_positive)) + penalty * coefficients
        curved = counts * chances * (1.0 - chances)
        # Add a small number to the diagonal: it splits the slope evenly between identical
        # predictors.
        curvature = rows.T @ (curved[:, None] * rows) + np.diag(penalty + 1e-12 * counts.sum())
        step = np.linalg.solve(curvature, slope)
        if slope @ step < CLOSE * counts.sum():
            break
        for halving in range(HALVINGS):
            tried = coefficients - step / 2.0**halving
            reached = cost(tried)
            if reached < lowest:
                break
        else:
            break
        coefficients, lowest = tried, reached
    slopes = coefficients[:-1] / scale
    return np.append(slopes, coefficients[-1] - slopes @ centre)
