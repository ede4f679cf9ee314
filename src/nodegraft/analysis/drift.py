"""Whether the nodes of today are still like those that a version was made for."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodegraft.analysis.preview import SAMPLE
from nodegraft.analysis.snapshot import State
from nodegraft.graph.edges.matrix import Matrix, normalise_rows
from nodegraft.model.hooks import Capability

Floats = NDArray[np.float64]

SURE = 0.9
"""An answer that is less sure counts as kept back."""

ALARM = 0.1
"""A distance beyond which there is something to look at, unless chance alone gives more."""


@dataclass(frozen=True)
class Shift:
    """How far one thing has moved."""

    what: str
    """What was looked at."""

    before: str
    """What it was, in words."""

    after: str
    """What it is."""

    distance: float
    """How far apart both are, from 0 to 1: half the sum of all gaps between shares, or the largest
    gap between two distributions."""

    noise: float
    """About the distance that two samples of the same have once in twenty times."""

    @property
    def alarming(self) -> bool:
        """Whether somebody should look."""
        return self.distance > max(ALARM, self.noise)


@dataclass(frozen=True)
class _Sample:
    """A fair sample of a version's nodes."""

    answers: NDArray[Any]
    sure: Floats
    degrees: Floats
    features: Matrix

    @classmethod
    def of(cls, state: State) -> "_Sample":
        rows = state.graph.sampled(SAMPLE, state.graph.rows[:0])
        found = state.answers(rows)
        return cls(
            found.classes,
            found.confidence,
            np.asarray(state.graph.degrees(rows), dtype=np.float64),
            normalise_rows(state.graph.features(rows)),
        )


def shifts(before: State, after: State) -> list[Shift]:
    """What has moved between two versions: answers, confidence, edges, features.

    Args:
        before: The version that is compared with.
        after: The version of today.
    """
    old, new = _Sample.of(before), _Sample.of(after)
    usual = np.asarray(old.features.mean(axis=0)).ravel()
    found = [_answers_shift(old.answers, new.answers)]
    if Capability.CALIBRATED in after.model.capabilities():
        found.append(_abstained_shift(old.sure, new.sure))
    likeness = (np.asarray(one.features @ usual).ravel() for one in (old, new))
    return [
        *found,
        _spread_shift("edges per node", old.degrees, new.degrees),
        _spread_shift("similarity to average features", *likeness),
    ]


def _answers_shift(before: NDArray[Any], after: NDArray[Any]) -> Shift:
    old, new = Counter(before.tolist()), Counter(after.tolist())
    gaps = {name: new[name] / after.size - old[name] / before.size for name in {*old, *new}}
    most = max(sorted(gaps), key=lambda name: abs(gaps[name]))
    errors = [_error(old[name] / before.size, before.size, after.size) for name in gaps]
    return Shift(
        "predictions",
        f"{100 * old[most] / before.size:.1f} % {most}",
        f"{100 * new[most] / after.size:.1f} % {most}",
        sum(map(abs, gaps.values())) / 2,
        1.96 * sum(errors) / 2,
    )


def _abstained_shift(before: Floats, after: Floats) -> Shift:
    old, new = float((before < SURE).mean()), float((after < SURE).mean())
    return Shift(
        f"confidence below {SURE:g}",
        f"{100 * old:.1f} %",
        f"{100 * new:.1f} %",
        abs(new - old),
        1.96 * _error(old, before.size, after.size),
    )


def _spread_shift(what: str, before: Floats, after: Floats) -> Shift:
    """By the largest gap between both distributions (Kolmogorov and Smirnov)."""
    places = np.union1d(before, after)
    old, new = (
        np.searchsorted(np.sort(some), places, side="right") / some.size for some in (before, after)
    )
    return Shift(
        what,
        f"median {np.median(before):.3g}",
        f"median {np.median(after):.3g}",
        float(np.abs(old - new).max()),
        float(1.36 * np.sqrt(1.0 / before.size + 1.0 / after.size)),
    )


def _error(share: float, one: int, other: int) -> float:
    return float(np.sqrt(share * (1.0 - share) * (1.0 / one + 1.0 / other)))
