"""Results of a comparison of methods on a store's own labels: accuracy, forgetting and time."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from nodegraft.analysis.own_labels.own_stream import Plan
from nodegraft.base.tabular import Tabular
from nodegraft.evaluation.metrics import interval
from nodegraft.evaluation.protocol import StreamResult
from nodegraft.model.back_off import TreeMeasures

if TYPE_CHECKING:
    from nodegraft.analysis.rendering.drawing import Axes


@dataclass(frozen=True)
class Estimate:
    """Mean over seeds, with the half width of its 95 % interval."""

    mean: float
    """Mean over seeds."""

    half_width: float
    """Half width of the 95 % interval by Student's t; 0 for a single seed."""

    seeds: int
    """Number of seeds."""

    @classmethod
    def of(cls, values: Sequence[float]) -> "Estimate":
        """Return the estimate from the results of all seeds.

        >>> Estimate.of([0.5]), Estimate.of([1.0, 2.0, 3.0]).mean
        (Estimate(mean=0.5, half_width=0.0, seeds=1), 2.0)

        Args:
            values: Result of each seed.
        """
        array = np.array(values, dtype=np.float64)
        return cls(float(array.mean()), interval(array), array.size)

    @property
    def ends(self) -> tuple[float, float]:
        """Lower and upper end of the interval of a share, limited to 0 to 1."""
        return max(0.0, self.mean - self.half_width), min(1.0, self.mean + self.half_width)

    @property
    def beyond_noise(self) -> bool:
        """Whether the 95 % interval excludes zero; always False for a single seed."""
        return self.seeds > 1 and abs(self.mean) > self.half_width


@dataclass(frozen=True)
class MethodResult:
    """Results of one method; all methods are trained on the same streams."""

    method: str
    """Name of the method."""

    streams: tuple[StreamResult, ...]
    """Results on the stream of each seed."""

    tree_measures: tuple[TreeMeasures, ...] = ()
    """Accuracy in the class tree for each seed, after the last new class; empty without a tree."""

    @property
    def in_tree(self) -> dict[str, Estimate | None]:
        """Name of a measure in the class tree -> its estimate, None for a method without
        calibrated confidence or without answers; empty without a tree."""
        names = [part.name for part in fields(TreeMeasures)] if self.tree_measures else []
        values = {name: [getattr(own, name) for own in self.tree_measures] for name in names}
        return {name: None if None in some else Estimate.of(some) for name, some in values.items()}

    @property
    def first(self) -> Estimate:
        """Macro accuracy before the first new class."""
        return Estimate.of([stream.sessions[0].macro_accuracy for stream in self.streams])

    @property
    def last(self) -> Estimate:
        """Macro accuracy over all classes after the last new class."""
        return Estimate.of(self._last)

    @property
    def loss_per_class(self) -> Estimate:
        """Mean drop of macro accuracy per new class."""
        return Estimate.of(
            [stream.summary["performance_drop"] / _new_classes(stream) for stream in self.streams]
        )

    @property
    def session_seconds(self) -> Estimate:
        """Seconds per session of new classes, for training and for predicting the query nodes.

        Prediction is included because a method may postpone computations until then.
        """
        return Estimate.of(
            [
                float(np.mean([two.seconds + two.query_seconds for two in stream.sessions[1:]]))
                for stream in self.streams
            ]
        )

    def ahead_of(self, other: "MethodResult") -> Estimate:
        """Return the lead in last accuracy over another method; the difference is paired by seed.

        Args:
            other: Results of another method, for the same seeds.
        """
        return Estimate.of([a - b for a, b in zip(self._last, other._last, strict=True)])

    @property
    def _last(self) -> list[float]:
        return [stream.sessions[-1].macro_accuracy for stream in self.streams]

    def to_json(self) -> dict[str, Any]:
        """Return the results as plain JSON; accuracies are shares between 0 and 1."""
        numbers = ("first", "last", "loss_per_class", "session_seconds")
        sessions = [[two.macro_accuracy for two in stream.sessions] for stream in self.streams]
        tree = {name: own and asdict(own) for name, own in self.in_tree.items()}
        return {
            "method": self.method,
            **{name: asdict(getattr(self, name)) for name in numbers},
            "macro_accuracy": sessions,
            **({"tree": tree} if tree else {}),
        }


@dataclass(frozen=True, repr=False)
class Evaluation(Tabular):
    """Comparison of methods on a store's own labels, under the strict protocol."""

    version: int
    """Number of the version whose graph and labels were used."""

    plan: Plan
    """Classes that are used in the comparison, and their roles."""

    methods: tuple[MethodResult, ...]
    """Results of all methods; the method with the highest last accuracy is first."""

    @property
    def seeds(self) -> int:
        """Number of seeds; each method was trained on one stream per seed."""
        return len(self.methods[0].streams)

    @property
    def best(self) -> MethodResult:
        """Method with the highest last accuracy."""
        return self.methods[0]

    @property
    def lead(self) -> Estimate | None:
        """Difference between the two highest last accuracies; None for a single method."""
        return self.best.ahead_of(self.methods[1]) if len(self.methods) > 1 else None

    def to_arrow(self) -> Any:
        """Return a table with a row for each method, the best first; accuracies are shares.

        The columns are the method; accuracy before the first new class and after the last new
        class, with the ends of the 95 % interval of the latter; difference to the best method
        (paired by seed) with the half width of its interval; and seconds per session.
        """
        # Import here, because pyarrow is slow to import.
        import pyarrow as pa

        behind = [result.ahead_of(self.best) for result in self.methods]
        several = self.seeds > 1
        return pa.table(
            {
                "method": [result.method for result in self.methods],
                "first": [result.first.mean for result in self.methods],
                "last": [result.last.mean for result in self.methods],
                "last low": [result.last.ends[0] if several else None for result in self.methods],
                "last high": [result.last.ends[1] if several else None for result in self.methods],
                "behind best": [difference.mean for difference in behind],
                "behind ±": [difference.half_width if several else None for difference in behind],
                "session seconds": [result.session_seconds.mean for result in self.methods],
            }
        )

    def plot_sessions(self, *, ax: "Axes | None" = None) -> "Axes":
        """Plot macro accuracy by session, with a line per method for the mean over seeds.

        Args:
            ax: Axes to draw into; None for a new figure.
        """
        from nodegraft.analysis.rendering import drawing, plots

        accuracies = {
            result.method: [
                [two.macro_accuracy for two in each.sessions] for each in result.streams
            ]
            for result in self.methods
        }
        return drawing.draw_on(ax, plots.SIZE, lambda axes: plots.draw_sessions(axes, accuracies))

    @property
    def recommended(self) -> str | None:
        """Recommended method; None if its lead is within noise or there is only one method."""
        return self.best.method if self.lead is not None and self.lead.beyond_noise else None

    @property
    def headline(self) -> str:
        """Recommendation as a short heading."""
        if self.recommended is not None:
            return f"Use {self.recommended}"
        names = [measured.method for measured in self.methods[:2]]
        return f"No clear winner: {' or '.join(names)}" if self.lead else f"Only {names[0]}"

    @property
    def advice(self) -> str:
        """Recommendation as a sentence that also says whether the lead is larger than noise.

        The terminal, JSON and the web page all use this text.
        """
        best, lead = self.best, self.lead
        if lead is None:
            return f"Only {best.method} was measured: add others to compare (--method)."
        second = self.methods[1]
        difference = _points(lead)
        if lead.beyond_noise:
            return (
                f"{self.headline}: {difference} more accurate than {second.method}, the next best, "
                "which is more than noise."
            )
        fastest = min((best, second), key=lambda measured: measured.session_seconds.mean)
        doubt = (
            "which is within noise" if lead.seeds > 1 else "but one seed cannot tell noise apart"
        )
        return (
            f"{self.headline}. {best.method} is {difference} more accurate than {second.method}, "
            f"{doubt}: run more seeds (--seeds {2 * lead.seeds}). {fastest.method} learns faster."
        )

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as plain JSON."""
        return {
            "version": self.version,
            "recommended": self.recommended,
            "advice": self.advice,
            **asdict(self.plan),
            "methods": [result.to_json() for result in self.methods],
            "lead": None if self.lead is None else asdict(self.lead),
        }


def _points(lead: Estimate) -> str:
    noise = f" ± {100 * lead.half_width:.1f}" if lead.seeds > 1 else ""
    return f"{100 * lead.mean:.1f}{noise} points"


def _new_classes(result: StreamResult) -> int:
    return result.sessions[-1].classes - result.sessions[0].classes
