"""Prediction counts by class for a sample of nodes, and drift between two versions."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodegraft.analysis.results.comparisons import Shift
from nodegraft.analysis.snapshot import SAMPLE, State
from nodegraft.graph.edges.matrix import normalise_rows
from nodegraft.model.hooks import Capability

Floats = NDArray[np.float64]

CONFIDENT = 0.9
"""Confidence threshold: predictions below it are counted as uncertain."""

ALARM = 0.1
"""Alarm threshold: a distance above it is reported as drift unless the distance is within noise."""


@dataclass(frozen=True)
class PredictionCounts:
    """Prediction counts by class for a sample of nodes."""

    sampled: int
    """Number of sampled nodes. A small graph is not sampled: all its nodes count."""

    predicted: Counter[str]
    """Class -> number of sampled nodes that are predicted to be of this class."""

    uncertain: Counter[str] | None
    """Class -> number of them with confidence below :data:`CONFIDENT`; None if not calibrated."""


def count_predictions(state: State) -> PredictionCounts:
    """Count predictions by class for a sample of nodes, which is selected by key hash."""
    rows = state.graph.sampled(SAMPLE, state.graph.rows[:0])
    predictions = state.predict(rows)
    uncertain = None
    if Capability.CALIBRATED in state.model.capabilities():
        uncertain = Counter(predictions.classes[predictions.confidence < CONFIDENT].tolist())
    return PredictionCounts(int(rows.size), Counter(predictions.classes.tolist()), uncertain)


def shifts(before: State, after: State) -> list[Shift]:
    """Return the drift of predictions, confidence, edges and features between two versions.

    Features are not compared if the two versions used different text encoders.
    """
    states = (before, after)
    rows = [state.graph.sampled(SAMPLE, state.graph.rows[:0]) for state in states]
    pairs = list(zip(states, rows, strict=True))
    old, new = (state.predict(some) for state, some in pairs)
    degrees = (np.asarray(state.graph.degrees(some), np.float64) for state, some in pairs)
    class_shifts = [_class_shift(old.classes, new.classes)]
    if Capability.CALIBRATED in after.model.capabilities():
        class_shifts.append(_confidence_shift(old.confidence, new.confidence))
    class_shifts.append(_distribution_shift("edges per node", *degrees))
    if before.graph.recipe == after.graph.recipe:
        features = [normalise_rows(state.graph.features(some)) for state, some in pairs]
        average = np.asarray(features[0].mean(axis=0)).ravel()
        similarities = (np.asarray(matrix @ average).ravel() for matrix in features)
        class_shifts.append(_distribution_shift("similarity to average features", *similarities))
    return class_shifts


def _class_shift(before: NDArray[Any], after: NDArray[Any]) -> Shift:
    old, new = Counter(before.tolist()), Counter(after.tolist())
    gaps = {name: new[name] / after.size - old[name] / before.size for name in {*old, *new}}
    most = max(sorted(gaps), key=lambda name: abs(gaps[name]))
    errors = [_standard_error(old[name] / before.size, before.size, after.size) for name in gaps]
    return _shift(
        "predictions",
        f"{100 * old[most] / before.size:.1f} % {most}",
        f"{100 * new[most] / after.size:.1f} % {most}",
        sum(map(abs, gaps.values())) / 2,
        1.96 * sum(errors) / 2,
    )


def _confidence_shift(before: Floats, after: Floats) -> Shift:
    old, new = float((before < CONFIDENT).mean()), float((after < CONFIDENT).mean())
    return _shift(
        f"confidence below {CONFIDENT:g}",
        f"{100 * old:.1f} %",
        f"{100 * new:.1f} %",
        abs(new - old),
        1.96 * _standard_error(old, before.size, after.size),
    )


def _distribution_shift(measure: str, before: Floats, after: Floats) -> Shift:
    """Compare two distributions by the Kolmogorov-Smirnov statistic."""
    places = np.union1d(before, after)
    old, new = (
        np.searchsorted(np.sort(some), places, side="right") / some.size for some in (before, after)
    )
    return _shift(
        measure,
        f"median {np.median(before):.3g}",
        f"median {np.median(after):.3g}",
        float(np.abs(old - new).max()),
        float(1.36 * np.sqrt(1.0 / before.size + 1.0 / after.size)),
    )


def _shift(measure: str, before: str, after: str, distance: float, noise: float) -> Shift:
    return Shift(measure, before, after, distance, noise, alarm=distance > max(ALARM, noise))


def _standard_error(share: float, first: int, second: int) -> float:
    return float(np.sqrt(share * (1.0 - share) * (1.0 / first + 1.0 / second)))
