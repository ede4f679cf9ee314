"""Calibration of predictions: accuracy in bins of similar probability, and the error of it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodegraft.analysis.version import AccuracyCount


@dataclass(frozen=True)
class ProbabilityBin:
    """Predictions of similar probability."""

    probability: float
    """Mean probability of these predictions."""

    count: AccuracyCount
    """How many of them are correct."""

    def to_json(self) -> dict[str, Any]:
        """Return mean probability, counts, share and interval as plain JSON."""
        return {"probability": self.probability, **self.count.to_json()}


def probability_bins(
    probability: NDArray[np.float64], is_right: NDArray[np.bool_], bins: int = 10
) -> tuple[ProbabilityBin, ...]:
    """Group predictions by probability into bins of equal width; empty ones are left out.

    >>> [(one.probability, one.count.asked, one.count.right) for one in probability_bins(
    ...     np.array([0.25, 0.95, 1.0]), np.array([False, True, False]))]
    [(0.25, 1, 0), (0.975, 2, 1)]

    Args:
        probability: Probability of each prediction, from 0 to 1.
        is_right: Whether each prediction is correct.
    """
    place = np.minimum((probability * bins).astype(np.int64), bins - 1)
    return tuple(
        ProbabilityBin(
            float(probability[place == bin_].mean()),
            AccuracyCount(int((place == bin_).sum()), int(is_right[place == bin_].sum())),
        )
        for bin_ in np.unique(place)
    )


def calibration_error(bins: tuple[ProbabilityBin, ...]) -> float:
    """Return the mean distance of accuracy from probability over all predictions (ECE).

    >>> calibration_error((ProbabilityBin(0.75, AccuracyCount(4, 2)),))
    0.25

    Args:
        bins: All predictions, grouped; at least one.
    """
    total = sum(one.count.asked for one in bins)
    return sum(abs(one.probability * one.count.asked - one.count.right) for one in bins) / total
