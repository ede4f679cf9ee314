"""Metrics as pure functions; accuracies are between 0 and 1."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.integer[Any]]
Floats = NDArray[np.floating[Any]]
Bools = NDArray[np.bool_]


def interval(values: Floats, confidence: float = 0.95) -> float:
    """Return the half-width of the mean's confidence interval (Student's t); 0 for one value.

    >>> round(interval(np.array([1.0, 2.0, 3.0])), 2)
    2.48

    Args:
        confidence: Probability that such an interval contains the true mean.
    """
    # Import here, because importing scipy.stats takes longer than the rest of a command.
    from scipy.special import stdtrit

    if values.size < 2:
        return 0.0
    quantile = stdtrit(values.size - 1, (1 + confidence) / 2)
    return float(quantile * values.std(ddof=1) / np.sqrt(values.size))


def share_interval(right: int, total: int) -> tuple[float, float]:
    """Return the 95 % confidence interval of an accuracy `right / total` (Wilson's score, 1927).

    (p + z²/2n ± z √(p(1 − p)/n + z²/4n²)) / (1 + z²/n). Its width is never 0, even if all
    predictions are correct.

    >>> low, high = share_interval(9, 10)
    >>> round(low, 3), round(high, 3)
    (0.596, 0.982)
    """
    share, z = right / total, 1.959964
    middle = (share + z**2 / (2 * total)) / (1 + z**2 / total)
    spread = np.sqrt(share * (1 - share) / total + (z / (2 * total)) ** 2)
    half = float(z * spread / (1 + z**2 / total))
    return max(0.0, middle - half), min(1.0, middle + half)


def harmonic_mean(first: float, second: float) -> float:
    """Return the harmonic mean of two values, which is high only if both values are high.

    >>> harmonic_mean(1.0, 0.0), harmonic_mean(0.5, 0.5)
    (0.0, 0.5)
    """
    total = first + second
    return 2 * first * second / total if total else 0.0


def performance_drop(accuracies: list[float]) -> float:
    """Return the paper's PD = A0 - AT.

    Do not rank methods by it: a low first accuracy improves it.
    """
    return accuracies[0] - accuracies[-1]


def relative_performance_drop(accuracies: list[float]) -> float:
    """Return the paper's RPD = PD / A0."""
    return performance_drop(accuracies) / accuracies[0] if accuracies[0] else 0.0


@dataclass(frozen=True)
class QueryOutcomes:
    """Query nodes of a session, and whether each prediction is correct."""

    nodes: Ints
    """Node numbers, ascending; a node has the same number in every session."""

    classes: Ints
    """Class number of each node, from 0."""

    correct: Bools
    """Whether each prediction is correct."""


def average_forgetting(sessions: Sequence[QueryOutcomes]) -> float:
    """Return the mean over classes of the maximum drop in recall from any session to the last.

    Each drop is computed on the query nodes that both sessions share. Classes of the last session
    are not counted.

    >>> before = QueryOutcomes(np.array([1, 2]), np.zeros(2, int), np.array([True, True]))
    >>> after = QueryOutcomes(np.array([1, 2]), np.zeros(2, int), np.array([True, False]))
    >>> average_forgetting([before, after])
    0.5
    """
    last = sessions[-1]
    count = int(last.classes.max()) + 1
    largest = np.full(count, np.nan)
    for earlier in sessions[:-1]:
        _, then, now = np.intersect1d(earlier.nodes, last.nodes, True, return_indices=True)
        lost = earlier.correct[then].astype(float) - last.correct[now]
        queries = np.bincount(last.classes[now], minlength=count)
        total = np.bincount(last.classes[now], lost, minlength=count)
        with np.errstate(invalid="ignore"):
            largest = np.fmax(largest, total / queries)
    known = ~np.isnan(largest)
    return float(largest[known].mean()) if known.any() else 0.0


def anytime_accuracy(matrix: Floats) -> float:
    r"""Return the mean over sessions of the mean accuracy on the class groups that have arrived.

    :math:`M_{ti}` is the accuracy after session t on the classes that arrived in session i, and T
    is the last session. The result is the mean over t of :math:`\frac{1}{t+1}\sum_{i \le t}
    M_{ti}`.

    >>> anytime_accuracy(np.array([[0.8, np.nan], [0.6, 0.4]]))
    0.65

    Args:
        matrix: Accuracy, sessions x class groups; values before a group's session are ignored.
    """
    return float(np.mean([row[: index + 1].mean() for index, row in enumerate(matrix)]))


def backward_transfer(matrix: Floats) -> float | None:
    """Return the mean change of accuracy on earlier groups, from their own session to the last.

    This is the mean of :math:`M_{Ti} - M_{ii}` over i < T: the average forgetting (AF) of CGLB, and
    of BeGin with the opposite sign. The result is None if there is only one session.

    >>> round(backward_transfer(np.array([[0.8, np.nan], [0.6, 0.4]])), 2)
    -0.2
    """
    differences = matrix[-1, :-1] - np.diagonal(matrix)[:-1]
    return float(differences.mean()) if differences.size else None


def forward_transfer(matrix: Floats, untrained: Floats) -> float | None:
    """Return how much earlier sessions improve the accuracy on a class group before it is learned.

    This is the mean of :math:`M_{i-1,i} - R_i` over i > 0 (FWT of BeGin), where R is the accuracy
    of an untrained model. The result is None if there is only one session. The value is meaningless
    for our streams, because their classes cannot be predicted before they arrive.

    >>> round(forward_transfer(np.array([[0.8, 0.3], [0.6, 0.4]]), np.array([0.1, 0.2])), 2)
    0.1

    Args:
        matrix: Accuracy matrix, as for :func:`anytime_accuracy`, but also with the accuracy on each
            group one session before its own.
        untrained: Accuracy of an untrained model on each class group.
    """
    differences = np.diagonal(matrix, 1) - untrained[1:]
    return float(differences.mean()) if differences.size else None


def expected_calibration_error(confidence: Floats, correct: Bools, bins: int = 15) -> float:
    """Return the mean gap between confidence and accuracy over equal-width bins, weighted by size.

    >>> expected_calibration_error(np.array([0.8, 0.8]), np.array([True, False])).__round__(3)
    0.3
    """
    place = np.minimum((confidence * bins).astype(np.int64), bins - 1)
    gaps = np.bincount(place, weights=confidence - correct, minlength=bins)
    return float(np.abs(gaps).sum() / max(confidence.size, 1))


def auroc(positive: Floats, negative: Floats) -> float:
    """Return the AUROC: the probability that a positive score exceeds a negative score.

    Equal scores count half.

    >>> auroc(np.array([0.9, 0.5]), np.array([0.5, 0.1]))
    0.875
    """
    from sklearn.metrics import roc_auc_score

    truth = np.repeat([True, False], [positive.size, negative.size])
    return float(roc_auc_score(truth, np.concatenate((positive, negative))))


def accuracy_at_coverage(confidence: Floats, correct: Bools, coverage: float) -> float:
    """Return the accuracy on the share of nodes with the highest confidence.

    >>> accuracy_at_coverage(np.array([0.9, 0.2]), np.array([True, False]), 0.5)
    1.0
    """
    count = max(1, round(coverage * confidence.size))
    most = np.argsort(-confidence, kind="stable")[:count]
    return float(correct[most].mean())
