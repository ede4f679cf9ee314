"""Probabilities of classes from scores, and the threshold of each class.

Both are fitted on the left-out scores of the labelled nodes.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nodegraft.methods.graft.confidence import logistic_coefficients

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

SMALLEST_SCORE = 0.003
"""Number added to scores before the logarithm; negative scores count as 0."""

MOST_PAIRS = 2_000_000
"""Maximum number of pairs of a node and a class on which the calibration is fitted."""

OWN_THRESHOLD = 20
"""Minimum number of labels of a class that has its own threshold; the others share one."""


@dataclass(frozen=True)
class Calibration:
    r"""Probabilities :math:`\sigma(a_1 s + a_2 \log(s + 0.003) + a_3 \log b_c + a_0)`.

    :math:`s` is the score, at least 0, and :math:`b_c` the share of the labelled nodes that have
    the class.

    Args:
        coefficients: Coefficients :math:`a_1, a_2, a_3, a_0`.
        log_shares: Logarithm of the share of each class.
        thresholds: Minimum probability of each class to be predicted.
    """

    coefficients: Floats
    log_shares: Floats
    thresholds: Floats

    @classmethod
    def fitted(cls, left_out: Floats, targets: Bools) -> "Calibration":
        """Fit probabilities and thresholds.

        Args:
            left_out: Score of each labelled node and class without this node; nodes in random
                order.
            targets: Whether each labelled node has each class. Every class has a node.
        """
        log_shares = np.log(targets.mean(axis=0))
        used = max(1, MOST_PAIRS // targets.shape[1])
        coefficients = _rising(_predictors(left_out[:used], log_shares), targets[:used].ravel())
        without = cls(coefficients, log_shares, np.zeros(log_shares.size))
        probabilities = without.probabilities(left_out)
        return cls(coefficients, log_shares, class_thresholds(probabilities, targets))

    def probabilities(self, scores: Floats) -> Floats:
        """Return the probability of each node and class."""
        from scipy.special import expit

        *slopes, offset = self.coefficients
        linear = _predictors(scores, self.log_shares) @ np.array(slopes) + offset
        probabilities: Floats = expit(linear).reshape(scores.shape)
        return probabilities


def class_thresholds(probabilities: Floats, targets: Bools) -> Floats:
    """Return the threshold of each class with the best F1; classes with few labels share one.

    If these have few labels in all, they take the threshold that is best for all classes together.
    """
    few = targets.sum(axis=0) < OWN_THRESHOLD
    thresholds = np.zeros(few.size)
    if few.any():
        pooled = few if targets[:, few].sum() >= OWN_THRESHOLD else np.ones_like(few)
        thresholds[few] = best_threshold(
            probabilities[:, pooled].ravel(), targets[:, pooled].ravel()
        )
    for column in np.flatnonzero(~few):
        thresholds[column] = best_threshold(probabilities[:, column], targets[:, column])
    return thresholds


def best_threshold(probabilities: Floats, truth: Bools) -> float:
    """Return the probability from which on predictions have the best F1.

    >>> best_threshold(np.array([0.9, 0.6, 0.5, 0.1]), np.array([True, False, True, False]))
    0.5

    Args:
        probabilities: Probability of each pair.
        truth: Whether each pair is right; at least one is.
    """
    order = np.argsort(-probabilities, kind="stable")
    values, right = probabilities[order], np.cumsum(truth[order])
    scores = 2.0 * right / (np.arange(1, order.size + 1) + right[-1])
    # Equal probabilities are predicted together.
    scores[:-1][values[:-1] == values[1:]] = -1.0
    return float(values[scores.argmax()])


def _rising(predictors: Floats, truth: Bools) -> Floats:
    """Fit a logistic regression whose slopes of the score are not negative, at most one of them 0.

    Few labels could else give a higher score a lower probability.
    """
    neutral = np.array([0.0, 1.0, 0.0, 0.0])
    if truth.all() or not truth.any():
        return neutral
    for kept in ([0, 1, 2], [1, 2], [0, 2]):
        found = logistic_coefficients(predictors[:, kept], truth)
        slopes = np.zeros(4)
        slopes[[*kept, 3]] = found
        if (slopes[:2] >= 0.0).all() and slopes[:2].any():
            return slopes
    return neutral


def _predictors(scores: Floats, log_shares: Floats) -> Floats:
    positive = np.maximum(scores, 0.0)
    shares = np.broadcast_to(log_shares, scores.shape)
    parts = (positive, np.log(positive + SMALLEST_SCORE), shares)
    return np.column_stack([part.ravel() for part in parts])
