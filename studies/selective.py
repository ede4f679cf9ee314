"""Precision, coverage and risk of a model that abstains below a confidence."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.integer[Any]]
Floats = NDArray[np.floating[Any]]
Bools = NDArray[np.bool_]


def balanced_weights(targets: Ints) -> Floats:
    """Return weights with which every class counts the same: 1 / size of each node's class.

    >>> balanced_weights(np.array([0, 0, 3])).tolist()
    [0.5, 0.5, 1.0]

    Args:
        targets: The class of each node.
    """
    _, place, counts = np.unique(targets, return_inverse=True, return_counts=True)
    weights: Floats = 1.0 / counts[place]
    return weights


def precision_and_coverage(
    confidence: Floats, correct: Bools, threshold: float, weights: Floats | None = None
) -> tuple[float, float]:
    """Return precision and coverage of the predictions with at least some confidence.

    Precision is NaN where there are none.

    >>> precision_and_coverage(np.array([0.9, 0.8, 0.2]), np.array([True, False, True]), 0.9)
    (1.0, 0.3333333333333333)

    Args:
        confidence: Confidence of each prediction.
        correct: Whether each prediction is correct.
        threshold: The least confidence at which a prediction is given.
        weights: Weight of each prediction; None for equal ones.
    """
    weights = np.ones(confidence.size) if weights is None else weights
    accepted = np.where(confidence >= threshold, weights, 0.0)
    total = float(accepted.sum())
    precision = float(accepted @ correct) / total if total else np.nan
    return precision, total / float(weights.sum())


def risk_coverage(
    confidence: Floats, correct: Bools, coverages: Floats, weights: Floats | None = None
) -> Floats:
    """Return the error rate of the most confident predictions at each coverage.

    Predictions of equal confidence share their mean error, because their order is arbitrary.

    >>> confidence, correct = np.array([0.9, 0.5, 0.5, 0.1]), np.array([True, True, False, False])
    >>> risk_coverage(confidence, correct, np.array([0.25, 0.5, 1.0])).tolist()
    [0.0, 0.25, 0.5]

    Args:
        confidence: Confidence of each prediction.
        correct: Whether each prediction is correct.
        coverages: Shares of nodes that are predicted, the most confident first.
        weights: Weight of each prediction; None for equal ones.
    """
    weights = np.ones(confidence.size) if weights is None else weights
    _, place = np.unique(-confidence, return_inverse=True)
    size = np.bincount(place, weights)
    wrong = np.bincount(place, weights * ~correct)
    covered, missed = (np.append(0.0, np.cumsum(part)) for part in (size, wrong))
    risk: Floats = np.interp(coverages * covered[-1], covered, missed) / (coverages * covered[-1])
    return risk
