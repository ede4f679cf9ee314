"""What is measured, as pure functions. Accuracies are shares between 0 and 1."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Ints = NDArray[np.integer[Any]]
Floats = NDArray[np.floating[Any]]
Bools = NDArray[np.bool_]


def interval(values: Floats, confidence: float = 0.95) -> float:
    """Half the width of the mean's confidence interval, by Student's t; 0 for a single value.

    >>> round(interval(np.array([1.0, 2.0, 3.0])), 2)
    2.48
    """
    if values.size < 2:
        return 0.0
    quantile = stats.t.ppf((1 + confidence) / 2, values.size - 1)
    return float(quantile * values.std(ddof=1) / np.sqrt(values.size))


def harmonic_mean(first: float, second: float) -> float:
    """High only where both are.

    >>> harmonic_mean(1.0, 0.0), harmonic_mean(0.5, 0.5)
    (0.0, 0.5)
    """
    total = first + second
    return 2 * first * second / total if total else 0.0


def performance_drop(accuracies: list[float]) -> float:
    """PD = A0 - AT, the paper's. It rewards a weak start: never sort by it."""
    return accuracies[0] - accuracies[-1]


def relative_performance_drop(accuracies: list[float]) -> float:
    """RPD = PD / A0, the paper's."""
    return performance_drop(accuracies) / accuracies[0] if accuracies[0] else 0.0


def average_forgetting(recall: Floats) -> float:
    """Mean over classes of their best earlier recall minus the final one.

    Rows are sessions, columns classes, NaN where a class was not there yet. Classes that came
    with the last session have nothing to forget and do not count.

    >>> average_forgetting(np.array([[0.9, np.nan], [0.7, 0.8]])).__round__(3)
    0.2
    """
    if len(recall) < 2:
        return 0.0
    seen = ~np.isnan(recall[:-1]).all(axis=0)
    if not seen.any():
        return 0.0
    return float(np.mean(np.nanmax(recall[:-1, seen], axis=0) - recall[-1, seen]))


def expected_calibration_error(confidence: Floats, correct: Bools, bins: int = 15) -> float:
    """Mean gap between confidence and accuracy over equal-width bins, weighted by their size.

    >>> expected_calibration_error(np.array([0.8, 0.8]), np.array([True, False])).__round__(3)
    0.3
    """
    place = np.minimum((confidence * bins).astype(np.int64), bins - 1)
    gaps = np.bincount(place, weights=confidence - correct, minlength=bins)
    return float(np.abs(gaps).sum() / max(confidence.size, 1))


def accuracy_at_coverage(confidence: Floats, correct: Bools, coverage: float) -> float:
    """Accuracy on the most confident share of nodes: what is left when the rest is refused.

    >>> accuracy_at_coverage(np.array([0.9, 0.2]), np.array([True, False]), 0.5)
    1.0
    """
    count = max(1, round(coverage * confidence.size))
    most = np.argsort(-confidence, kind="stable")[:count]
    return float(correct[most].mean())


def balanced_weights(targets: Ints) -> Floats:
    """One divided by the size of each node's class: every class counts alike, however large.

    >>> balanced_weights(np.array([0, 0, 3])).tolist()
    [0.5, 0.5, 1.0]
    """
    _, place, counts = np.unique(targets, return_inverse=True, return_counts=True)
    weights: Floats = 1.0 / counts[place]
    return weights


def precision_and_coverage(
    confidence: Floats, correct: Bools, at_least: float, weights: Floats | None = None
) -> tuple[float, float]:
    """How many of the answers this confident are right, and how many answers are this confident.

    Precision is NaN where no answer is.

    >>> precision_and_coverage(np.array([0.9, 0.8, 0.2]), np.array([True, False, True]), 0.9)
    (1.0, 0.3333333333333333)
    """
    weights = np.ones(confidence.size) if weights is None else weights
    accepted = np.where(confidence >= at_least, weights, 0.0)
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
    """
    weights = np.ones(confidence.size) if weights is None else weights
    _, place = np.unique(-confidence, return_inverse=True)
    size = np.bincount(place, weights)
    wrong = np.bincount(place, weights * ~correct)
    covered, missed = (np.append(0.0, np.cumsum(part)) for part in (size, wrong))
    risk: Floats = np.interp(coverages * covered[-1], covered, missed) / (coverages * covered[-1])
    return risk
