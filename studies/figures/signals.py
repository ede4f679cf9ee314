"""Figure of the accuracy of single signals and of their mixture on several graphs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nodegraft.analysis.rendering.drawing import Axes, Figure, SubFigure
from nodegraft.base.errors import ParameterError

# From the palette of Okabe and Ito: blue and orange stay apart for colour-blind eyes and in grey.
MIXED, BEST, OTHER = "#0072B2", "#E69F00", "#BBBBBB"
MIXTURE = "all mixed"
ACCURACY = "macro accuracy in %"
SEEN = """How often each signal is right, over all seen classes
blue: all of them mixed; orange: the best one alone; line: from worst to best seed"""
NEW = "The same over the new classes only, which have few labels"
SHARE = "What each signal moves in the mixed score: weight × standard deviation"

# Name -> one number for each seed.
Bars = Mapping[str, Sequence[float]]

# In inches: a bar, a graph's column, the names on the left, titles and axis of a row of panels.
LINE, COLUMN, NAMES, MARGIN = 0.24, 1.65, 1.3, 0.95


@dataclass(frozen=True)
class Accuracies:
    """Accuracy of each signal alone, and of the mixture."""

    alone: Bars
    """Signal -> accuracy for each seed."""

    mixture: Sequence[float]
    """The same of the mixture."""

    @property
    def best(self) -> str:
        """Name of the signal with the highest accuracy alone."""
        return max(self.alone, key=lambda name: _percent(self.alone[name]))

    @property
    def bars(self) -> dict[str, Sequence[float]]:
        """The signals, then the mixture."""
        return {**self.alone, MIXTURE: self.mixture}

    @property
    def colours(self) -> list[str]:
        """One for each bar."""
        return [BEST if name == self.best else OTHER for name in self.alone] + [MIXED]


@dataclass(frozen=True)
class GraphSignals:
    """Accuracies and shares of the signals on a graph."""

    graph: str
    """Its name."""

    seen: Accuracies
    """On all classes seen so far."""

    new: Accuracies
    """On the new ones of them only."""

    score_share: Bars
    """Signal -> how much of the mixed score's variation is due to it, between 0 and 1, one number
    for each seed."""


def draw_signals(graphs: Sequence[GraphSignals]) -> Figure:
    """Draw a column for each graph: accuracies, and below them each signal's share of the score.

    >>> right = Accuracies({"text": [0.4, 0.5], "heat": [0.7, 0.7]}, mixture=[0.8, 0.8])
    >>> figure = draw_signals([GraphSignals("shop", right, right, {"text": [0.2], "heat": [0.8]})])
    >>> [round(bar.get_width()) for bar in figure.subfigs[0].axes[0].patches]
    [45, 70, 80]

    Args:
        graphs: One for each column; all have the same signals in the same order.
    """
    _check(graphs)
    panels: dict[tuple[str, str], list[Bars]] = {
        (SEEN, ACCURACY): [graph.seen.bars for graph in graphs],
        (NEW, ACCURACY): [graph.new.bars for graph in graphs],
        (SHARE, "share in %"): [graph.score_share for graph in graphs],
    }
    grey = [OTHER] * len(graphs[0].score_share)
    colours = [(graph.seen.colours, graph.new.colours, grey) for graph in graphs]
    heights = [LINE * len(columns[0]) + MARGIN for columns in panels.values()]
    figure = Figure(figsize=(NAMES + COLUMN * len(graphs), sum(heights)))
    figure.set_layout_engine("constrained", w_pad=0.06)
    rows = figure.subfigures(len(panels), 1, squeeze=False, height_ratios=heights)[:, 0]
    for row, ((title, unit), columns), shades in zip(
        rows, panels.items(), zip(*colours, strict=True), strict=True
    ):
        row.suptitle(title, fontsize=9)
        row.supxlabel(unit, fontsize=8)
        _draw_row(row, [graph.graph for graph in graphs], columns, shades)
    return figure


def describe_signals(graphs: Sequence[GraphSignals]) -> str:
    """Describe the figure in two sentences for each graph.

    >>> right = Accuracies({"text": [0.4, 0.5], "heat": [0.7, 0.7]}, mixture=[0.8, 0.8])
    >>> describe_signals([GraphSignals("shop", right, right, {"text": [0.2], "heat": [0.8]})])
    'On shop the accuracy of all signals together is 80.0 %, that of the best one alone (heat) \
70.0 %; on new classes 80.0 % and 70.0 % (heat). What moves the score most is heat (80 %).'

    Args:
        graphs: The same as for draw_signals().
    """
    _check(graphs)
    return " ".join(map(_describe, graphs))


def _describe(graph: GraphSignals) -> str:
    strongest = max(graph.score_share, key=lambda name: _percent(graph.score_share[name]))
    seen, new = (
        [_percent(part.mixture), _percent(part.alone[part.best])]
        for part in (graph.seen, graph.new)
    )
    return (
        f"On {graph.graph} the accuracy of all signals together is {seen[0]:.1f} %, that of the "
        f"best one alone ({graph.seen.best}) {seen[1]:.1f} %; on new classes {new[0]:.1f} % and "
        f"{new[1]:.1f} % ({graph.new.best}). What moves the score most is {strongest} "
        f"({_percent(graph.score_share[strongest]):.0f} %)."
    )


def _check(graphs: Sequence[GraphSignals]) -> None:
    if not graphs:
        raise ParameterError("There is no graph whose signals could be drawn.")
    rows = {
        tuple(map(tuple, (graph.seen.alone, graph.new.alone, graph.score_share)))
        for graph in graphs
    }
    if len(rows) > 1:
        raise ParameterError("All graphs need the same signals in the same order, to share rows.")


def _percent(seeds: Sequence[float]) -> float:
    return 100.0 * float(np.mean(seeds))


def _draw_row(
    panel: SubFigure,
    names: Sequence[str],
    columns: Sequence[Bars],
    colours: Sequence[Sequence[str]],
) -> None:
    grid = panel.subplots(1, len(columns), squeeze=False, sharey=True)[0]
    for axes, name, bars, shades in zip(grid, names, columns, colours, strict=True):
        axes.set_title(name, fontsize=8, fontweight="bold", loc="left", parse_math=False)
        _draw_bars(axes, bars, shades)


def _draw_bars(axes: Axes, bars: Bars, colours: Sequence[str]) -> None:
    places = range(len(bars))
    means = [_percent(seeds) for seeds in bars.values()]
    axes.barh(places, means, height=0.7, color=colours)
    low, high = ([100.0 * end(seeds) for seeds in bars.values()] for end in (min, max))
    axes.hlines(places, low, high, color="black", linewidth=1.0)
    # In a column of their own: at the ends of the bars the lines would run through them.
    right = axes.get_yaxis_transform()
    for place, mean in zip(places, means, strict=True):
        axes.text(1.0, place, f"{mean:.0f}", ha="right", va="center", fontsize=8, transform=right)
    axes.set_yticks(places, list(bars), fontsize=8, parse_math=False)
    axes.set_ylim(len(bars) - 0.4, -0.6)
    # Room to the right for the numbers; the same scale everywhere, so that columns compare.
    axes.set_xlim(0.0, 122.0)
    axes.set_xticks([0, 50, 100])
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=7)
