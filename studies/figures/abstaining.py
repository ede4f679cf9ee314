"""Figure of the error rate by coverage when a model abstains."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nodegraft.analysis.rendering.drawing import Axes, Figure, Line2D
from nodegraft.base.errors import ParameterError

# From the palette of Okabe and Ito, apart for colour-blind eyes; dashes tell them apart in grey.
STYLES: tuple[tuple[str, Literal[":", "--", "-"]], ...] = (
    ("#E69F00", ":"),
    ("#009E73", "--"),
    ("#0072B2", "-"),
)
MARKERS = ("o", "s")
HIGHEST_ERROR = 30.0
"""Where panels end, in percent: whoever accepts more errors than this need not abstain."""

TITLE = (
    "Error rate by coverage, most confident predictions first: mean over seeds, up to "
    f"{HIGHEST_ERROR:.0f} %\nband: worst to best seed in the last session; "
    "grey lines: the most that circles (upper) and squares may have"
)
X_LABEL = "coverage in %"
Y_LABEL = "error rate in %"

# In inches: a panel with its axes, and titles and legend around all of them.
WIDTH, HEIGHT, MARGIN = 2.1, 2.1, 1.0


@dataclass(frozen=True)
class Acceptance:
    """Coverage and precision of predictions of at least some confidence."""

    coverage: Sequence[float]
    """Share of nodes whose prediction is accepted, for each seed."""

    precision: Sequence[float]
    """Share of correct ones among the accepted predictions, for each seed; NaN without any."""

    @property
    def point(self) -> tuple[float, float]:
        """Coverage and error rate in percent; a seed that accepts nothing has no precision."""
        return _percent(self.coverage), 100.0 - _percent(self.precision)


@dataclass(frozen=True)
class ErrorCurve:
    """Error rate by coverage."""

    errors: Sequence[Sequence[float]]
    """Error rates of each seed (rows) at coverages on an even grid up to 1."""

    levels: Mapping[float, Acceptance]
    """Least probability -> what is accepted at it."""

    @property
    def percent(self) -> NDArray[np.float64]:
        """The rows in percent."""
        return 100.0 * np.asarray(self.errors, dtype=np.float64)


@dataclass(frozen=True)
class AbstainingCurves:
    """The curves of one graph."""

    graph: str
    """Its name."""

    curves: Mapping[str, Mapping[str, ErrorCurve]]
    """Way of counting, such as every node alike -> session -> curve."""


def draw_abstaining(graphs: Sequence[AbstainingCurves]) -> Figure:
    """Draw a column for each graph, a row for each way of counting, and a line for each session.

    >>> curve = ErrorCurve([[0.0, 0.2]], {0.9: Acceptance([0.5], [1.0])})
    >>> sessions = {"session 0": curve, "last session": curve}
    >>> figure = draw_abstaining([AbstainingCurves("shop", {"every node alike": sessions})])
    >>> figure.axes[0].lines[0].get_xydata().round(1).tolist()
    [[50.0, 0.0], [100.0, 20.0]]

    Args:
        graphs: One for each column; all have the same ways of counting, two or three sessions
            and the same levels.
    """
    _check(graphs)
    ways = list(graphs[0].curves)
    figure = Figure(figsize=(WIDTH * len(graphs) + 0.5, HEIGHT * len(ways) + MARGIN))
    figure.set_layout_engine("constrained", w_pad=0.06, h_pad=0.06)
    grid = figure.subplots(len(ways), len(graphs), squeeze=False, sharex=True, sharey=True)
    for row, way in zip(grid, ways, strict=True):
        for axes, graph in zip(row, graphs, strict=True):
            axes.set_title(graph.graph, fontsize=8, fontweight="bold", loc="left", parse_math=False)
            _draw_panel(axes, graph.curves[way])
        row[0].set_ylabel(f"{Y_LABEL}\n{way}", fontsize=8, parse_math=False)
    for axes in grid[-1]:
        axes.set_xlabel(X_LABEL, fontsize=8)
    figure.suptitle(TITLE, fontsize=9)
    handles = _handles(graphs[0].curves[ways[0]])
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), fontsize=8)
    return figure


def describe_abstaining(graphs: Sequence[AbstainingCurves]) -> str:
    """Describe the figure in sentences: error rates of the first and the last session.

    >>> curve = ErrorCurve([[0.0, 0.2]], {0.9: Acceptance([0.5], [1.0])})
    >>> both = {"session 0": curve, "last": curve}
    >>> describe_abstaining([AbstainingCurves("shop", {"nodes alike": both})])
    'On shop, nodes alike, session 0: 20.0 % of all predictions are wrong, of the 50 % with \
confidence 0.90 or more 0.0 %; last: 20.0 % of all predictions are wrong, of the 50 % with \
confidence 0.90 or more 0.0 %.'

    Args:
        graphs: The same as for draw_abstaining().
    """
    _check(graphs)
    return " ".join(
        f"On {graph.graph}, {way}, {'; '.join(_ends(curves))}."
        for graph in graphs
        for way, curves in graph.curves.items()
    )


def _ends(curves: Mapping[str, ErrorCurve]) -> list[str]:
    first, *_, last = curves
    return [f"{session}: {_describe(curves[session])}" for session in (first, last)]


def _describe(curve: ErrorCurve) -> str:
    wrong = curve.percent.mean(axis=0)[-1]
    marks = [_describe_mark(level, *at.point) for level, at in curve.levels.items()]
    return ", ".join([f"{wrong:.1f} % of all predictions are wrong", *marks])


def _describe_mark(level: float, answered: float, wrong: float) -> str:
    if not answered:
        return f"none has confidence {level:.2f} or more"
    return f"of the {answered:.0f} % with confidence {level:.2f} or more {wrong:.1f} %"


def _check(graphs: Sequence[AbstainingCurves]) -> None:
    if not graphs:
        raise ParameterError("There is no graph whose curves could be drawn.")
    if any(_legend_of(graph) != _legend_of(graphs[0]) for graph in graphs):
        raise ParameterError("All graphs need the same sessions and levels, to share a legend.")
    for sessions in _legend_of(graphs[0]).values():
        if not 2 <= len(sessions) <= len(STYLES):
            raise ParameterError(f"There are lines for 2 to {len(STYLES)} sessions of a graph.")


def _legend_of(graph: AbstainingCurves) -> dict[str, list[tuple[str, list[float]]]]:
    return {
        way: [(session, list(curve.levels)) for session, curve in curves.items()]
        for way, curves in graph.curves.items()
    }


def _percent(seeds: Sequence[float]) -> float:
    values = np.asarray(seeds)[~np.isnan(seeds)]
    return 100.0 * float(values.mean()) if values.size else np.nan


def _draw_panel(axes: Axes, curves: Mapping[str, ErrorCurve]) -> None:
    for (colour, dashes), curve in zip(STYLES, curves.values(), strict=False):
        errors = curve.percent
        answered = 100.0 * np.arange(1, errors.shape[1] + 1) / errors.shape[1]
        axes.plot(answered, errors.mean(axis=0), dashes, color=colour, linewidth=1.4)
        for marker, (level, at) in zip(MARKERS, curve.levels.items(), strict=False):
            axes.axhline(100.0 * (1.0 - level), color="#BBBBBB", linewidth=0.6, zorder=0)
            axes.plot(*at.point, marker, color=colour, markeredgecolor="black", markersize=5)
    axes.fill_between(answered, errors.min(0), errors.max(0), color=colour, alpha=0.15, linewidth=0)
    axes.set_xlim(0.0, 103.0)
    axes.set_ylim(0.0, HIGHEST_ERROR)
    axes.set_xticks([0, 50, 100])
    axes.tick_params(labelsize=7)
    axes.spines[["top", "right"]].set_visible(False)


def _handles(curves: Mapping[str, ErrorCurve]) -> list[Line2D]:
    lines = [
        Line2D([], [], color=colour, linestyle=dashes, label=session)
        for (colour, dashes), session in zip(STYLES, curves, strict=False)
    ]
    levels = next(iter(curves.values())).levels
    white: dict[str, Any] = {"color": "white", "markeredgecolor": "black", "linestyle": ""}
    marks = [
        Line2D([], [], marker=marker, label=f"at least {level:.2f}", **white)
        for marker, level in zip(MARKERS, levels, strict=False)
    ]
    return lines + marks
