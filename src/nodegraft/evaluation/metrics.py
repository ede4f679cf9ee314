"""What is measured, as pure functions. Accuracies are shares between 0 and 1."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.integer[Any]]
Floats = NDArray[np.floating[Any]]
Bools = NDArray[np.bool_]


def interval(values: Floats, confidence: float = 0.95) -> float:
    """Half the width of the mean's confidence interval, by Student's t; 0 for a single value.

    >>> round(interval(np.array([1.0, 2.0, 3.0])), 2)
    2.48

    Args:
        values: One for each seed.
        confidence: How often such an interval holds the mean.
    """
    # Not scipy.stats: it takes longer to import than all the rest of a command.
    from scipy.special import stdtrit

    if values.size < 2:
        return 0.0
    quantile = stdtrit(values.size - 1, (1 + confidence) / 2)
    return float(quantile * values.std(ddof=1) / np.sqrt(values.size))


def share_interval(right: int, asked: int) -> tuple[float, float]:
    """The 95 % interval of a share that was counted, by Wilson's score (1927).

    (p + z²/2n ± z √(p(1 − p)/n + z²/4n²)) / (1 + z²/n), which is never empty, not even where all
    answers are right.

    >>> low, high = share_interval(9, 10)
    >>> round(low, 3), round(high, 3)
    (0.596, 0.982)

    Args:
        right: How many were right.
        asked: How many were asked, at least one.
    """
    share, z = right / asked, 1.959964
    middle = (share + z**2 / (2 * asked)) / (1 + z**2 / asked)
    spread = np.sqrt(share * (1 - share) / asked + (z / (2 * asked)) ** 2)
    half = float(z * spread / (1 + z**2 / asked))
    return max(0.0, middle - half), min(1.0, middle + half)


def harmonic_mean(first: float, second: float) -> float:
    """High only where both are.

    >>> harmonic_mean(1.0, 0.0), harmonic_mean(0.5, 0.5)
    (0.0, 0.5)

    Args:
        first: A share.
        second: Another one.
    """
    total = first + second
    return 2 * first * second / total if total else 0.0


def performance_drop(accuracies: list[float]) -> float:
    """PD = A0 - AT, the paper's. It rewards a weak start: never sort by it.

    Args:
        accuracies: Session by session.
    """
    return accuracies[0] - accuracies[-1]


def relative_performance_drop(accuracies: list[float]) -> float:
    """RPD = PD / A0, the paper's.

    Args:
        accuracies: Session by session.
    """
    return performance_drop(accuracies) / accuracies[0] if accuracies[0] else 0.0


@dataclass(frozen=True)
class Answers:
    """What was asked in one session, and whether the answers were right."""

    nodes: Ints
    """The nodes, ascending, by numbers that mean the same in every session."""

    classes: Ints
    """The class of each, by numbers from 0."""

    correct: Bools
    """Whether it was named rightly."""


def average_forgetting(sessions: Sequence[Answers]) -> float:
    """Mean over classes of the largest loss of recall from an earlier session to the last one.

    Each loss is taken over the nodes that were asked in both sessions. Classes that came with the
    last session have nothing to forget and do not count.

    >>> before = Answers(np.array([1, 2]), np.array([0, 0]), np.array([True, True]))
    >>> after = Answers(np.array([1, 2, 3]), np.array([0, 0, 0]), np.array([True, False, False]))
    >>> average_forgetting([before, after])
    0.5

    Args:
        sessions: In order.
    """
    last = sessions[-1]
    count = int(last.classes.max()) + 1
    largest = np.full(count, np.nan)
    for earlier in sessions[:-1]:
        _, then, now = np.intersect1d(earlier.nodes, last.nodes, True, return_indices=True)
        lost = earlier.correct[then].astype(float) - last.correct[now]
        asked = np.bincount(last.classes[now], minlength=count)
        total = np.bincount(last.classes[now], lost, minlength=count)
        loss = np.full(count, np.nan)
        np.divide(total, asked, out=loss, where=asked > 0)
        largest = np.fmax(largest, loss)
    known = ~np.isnan(largest)
    return float(largest[known].mean()) if known.any() else 0.0


def expected_calibration_error(confidence: Floats, correct: Bools, bins: int = 15) -> float:
    """Mean gap between confidence and accuracy over equal-width bins, weighted by their size.

    >>> expected_calibration_error(np.array([0.8, 0.8]), np.array([True, False])).__round__(3)
    0.3

    Args:
        confidence: How sure each answer was.
        correct: Whether it was right.
        bins: How many bins between 0 and 1.
    """
    place = np.minimum((confidence * bins).astype(np.int64), bins - 1)
    gaps = np.bincount(place, weights=confidence - correct, minlength=bins)
    return float(np.abs(gaps).sum() / max(confidence.size, 1))


def auroc(positive: Floats, negative: Floats) -> float:
    """The chance that a number of the first kind is above one of the second; ties count half.

    >>> auroc(np.array([0.9, 0.5]), np.array([0.5, 0.1]))
    0.875

    Args:
        positive: Numbers that should be large.
        negative: Numbers that should be small.
    """
    from sklearn.metrics import roc_auc_score

    truth = np.repeat([True, False], [positive.size, negative.size])
    return float(roc_auc_score(truth, np.concatenate((positive, negative))))


def accuracy_at_coverage(confidence: Floats, correct: Bools, coverage: float) -> float:
    """Accuracy on the most confident share of nodes: what is left when it abstains on the rest.

    >>> accuracy_at_coverage(np.array([0.9, 0.2]), np.array([True, False]), 0.5)
    1.0

    Args:
        confidence: How sure each answer was.
        correct: Whether it was right.
        coverage: The share that is answered.
    """
    count = max(1, round(coverage * confidence.size))
    most = np.argsort(-confidence, kind="stable")[:count]
    return float(correct[most].mean())
