"""What is right among the answers that are given when a model abstains on the others."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.integer[Any]]
Floats = NDArray[np.floating[Any]]
Bools = NDArray[np.bool_]


def balanced_weights(targets: Ints) -> Floats:
    """One divided by the size of each node's class: every class counts alike, however large.

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
    """How many of the answers this confident are right, and how many answers are this confident.

    Precision is NaN where no answer is.

    >>> precision_and_coverage(np.array([0.9, 0.8, 0.2]), np.array([True, False, True]), 0.9)
    (1.0, 0.3333333333333333)

    Args:
        confidence: How sure each answer was.
        correct: Whether it was right.
        threshold: The least confidence at which an answer is given.
        weights: How much each answer counts; all alike if none are given.
    """
    weights = np.ones(confidence.size) if weights is None else weights
    accepted = np.where(confidence >= threshold, weights, 0.0)
    total = float(accepted.sum())
    precision = float(accepted @ correct) / total if total else np.nan
    return precision, total / float(weights.sum())


def risk_coverage(
    confidence: Floats, correct: Bools, coverages: Floats, weights: Floats | None = None
) -> Floats:
    """The share of wrong answers among the most confident ones, for each share that is answered.

    Answers of equal confidence are equally wrong on average: their order says nothing.

    >>> confidence, correct = np.array([0.9, 0.5, 0.5, 0.1]), np.array([True, True, False, False])
    >>> risk_coverage(confidence, correct, np.array([0.25, 0.5, 1.0])).tolist()
    [0.0, 0.25, 0.5]

    Args:
        confidence: How sure each answer was.
        correct: Whether it was right.
        coverages: Shares of nodes that are answered, the surest first.
        weights: How much each answer counts; all alike if none are given.
    """
    weights = np.ones(confidence.size) if weights is None else weights
    _, place = np.unique(-confidence, return_inverse=True)
    size = np.bincount(place, weights)
    wrong = np.bincount(place, weights * ~correct)
    covered, missed = (np.append(0.0, np.cumsum(part)) for part in (size, wrong))
    risk: Floats = np.interp(coverages * covered[-1], covered, missed) / (coverages * covered[-1])
    return risk
