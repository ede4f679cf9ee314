"""Methods compared on a store's own labels: what each reaches, loses and costs."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from nodegraft.analysis.own_labels.own_stream import Plan
from nodegraft.evaluation.metrics import interval
from nodegraft.evaluation.protocol import StreamResult


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds, and how far it can be trusted."""

    mean: float
    """The mean."""

    half_width: float
    """Half the width of its 95 % interval, by Student's t; 0 for a single seed."""

    seeds: int
    """How many seeds it is the mean of."""

    @classmethod
    def of(cls, values: Sequence[float]) -> "Estimate":
        """From one number for each seed.

        >>> Estimate.of([0.5]), Estimate.of([1.0, 2.0, 3.0]).mean
        (Estimate(mean=0.5, half_width=0.0, seeds=1), 2.0)

        Args:
            values: The numbers.
        """
        array = np.array(values, dtype=np.float64)
        return cls(float(array.mean()), interval(array), array.size)

    @property
    def beyond_noise(self) -> bool:
        """Whether the interval leaves out zero; one seed cannot say."""
        return self.seeds > 1 and abs(self.mean) > self.half_width


@dataclass(frozen=True)
class MethodResult:
    """One method, taught the same streams as the others."""

    method: str
    """Its name."""

    streams: tuple[StreamResult, ...]
    """What was measured, seed by seed."""

    @property
    def first(self) -> Estimate:
        """Macro accuracy before the first new class."""
        return Estimate.of([one.sessions[0].macro_accuracy for one in self.streams])

    @property
    def last(self) -> Estimate:
        """Macro accuracy over all classes, after the last new one."""
        return Estimate.of(self._last)

    @property
    def loss_per_class(self) -> Estimate:
        """How much macro accuracy falls for each new class, on average."""
        return Estimate.of(
            [one.summary["performance_drop"] / _new_classes(one) for one in self.streams]
        )

    @property
    def session_seconds(self) -> Estimate:
        """Seconds to learn a session of new classes, and to answer what is asked then.

        Answering counts because a method may put off its work until somebody asks.
        """
        return Estimate.of(
            [
                float(np.mean([two.seconds + two.query_seconds for two in one.sessions[1:]]))
                for one in self.streams
            ]
        )

    def ahead_of(self, other: "MethodResult") -> Estimate:
        """By how much its last session is better than that of another, paired by seed.

        Args:
            other: Another method, measured with the same seeds.
        """
        return Estimate.of([a - b for a, b in zip(self._last, other._last, strict=True)])

    @property
    def _last(self) -> list[float]:
        return [one.sessions[-1].macro_accuracy for one in self.streams]

    def to_json(self) -> dict[str, Any]:
        """As plain JSON; accuracies are shares between 0 and 1."""
        numbers = ("first", "last", "loss_per_class", "session_seconds")
        sessions = [[two.macro_accuracy for two in one.sessions] for one in self.streams]
        return {
            "method": self.method,
            **{name: asdict(getattr(self, name)) for name in numbers},
            "macro_accuracy": sessions,
        }


@dataclass(frozen=True)
class Evaluation:
    """Which method is best on a store's own labels, under the strict protocol."""

    version: int
    """The version whose graph and labels were used."""

    plan: Plan
    """Which classes took part, and in which roles."""

    methods: tuple[MethodResult, ...]
    """Best last session first."""

    @property
    def seeds(self) -> int:
        """How many streams each method was taught."""
        return len(self.methods[0].streams)

    @property
    def best(self) -> MethodResult:
        """The method with the best last session."""
        return self.methods[0]

    @property
    def lead(self) -> Estimate | None:
        """How far it is ahead of the second best; None for a single method."""
        return self.best.ahead_of(self.methods[1]) if len(self.methods) > 1 else None

    def to_json(self) -> dict[str, Any]:
        """As plain JSON."""
        return {
            "version": self.version,
            **asdict(self.plan),
            "methods": [one.to_json() for one in self.methods],
            "lead": None if self.lead is None else asdict(self.lead),
        }


def _new_classes(result: StreamResult) -> int:
    return result.sessions[-1].classes - result.sessions[0].classes
