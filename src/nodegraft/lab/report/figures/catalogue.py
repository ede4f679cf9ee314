"""Kinds of figures that a suite may list, with an explanation of each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from nodegraft.analysis.rendering.drawing import Picture, figure_style
from nodegraft.base.errors import ParameterError
from nodegraft.lab.report.figures.lines import draw_curves, draw_risk_coverage, draw_ways_shots
from nodegraft.lab.report.figures.points import draw_effects, draw_pareto
from nodegraft.lab.report.figures.styles import Styles
from nodegraft.lab.report.groups import Groups, Record, by_method, comparable_groups, datasets


@dataclass(frozen=True)
class FigureKind:
    """Kind of figure that a suite may list."""

    title: str
    """Heading above the figures."""

    how_to_read: str
    """Explanation below the heading: which direction is better, what marks and lines mean."""

    draw: Callable[[str, Mapping[str, Sequence[Record]], Styles], list[Picture]]
    """Function that draws a figure from dataset name, records by method, and styles."""


FIGURES = {
    "curves": FigureKind(
        "Accuracy, session by session",
        "Higher is better. Each line is the mean over seeds, its band the 95 % interval. Methods "
        "that this report highlights have a name and, in all its figures, the same colour and "
        "marker; the rest are thin grey lines (their numbers are in the tables). Accuracy drops "
        "for every method, since each session adds classes. Scales differ between graphs.",
        draw_curves,
    ),
    "pareto": FigureKind(
        "Accuracy against cost",
        "Up is more accurate, left is faster. The grey steps connect the methods that no other "
        "method beats in both; those below and to the right of the steps are worse in both.",
        draw_pareto,
    ),
    "risk-coverage": FigureKind(
        "Errors when a method may abstain",
        "Lower is better. At 100 % every node gets a prediction; further left only those with the "
        "highest confidence. A line that falls steeply to the left has a confidence that tells "
        "errors apart. Every node has the same weight here (micro), so the right end is not one "
        "minus macro accuracy.",
        draw_risk_coverage,
    ),
    "effects": FigureKind(
        "Differences between methods, graph by graph",
        "Each mark is the last session's accuracy minus that of the best method on this graph, "
        "paired by seed; its line is the 95 % interval over seeds, for this graph only. "
        "Seeds of one graph share its nodes and classes, so there is no p-value over graphs and "
        "seeds together, and a statement about graphs in general needs more graphs than these. "
        "Methods that get most labels (upper references) are left out.",
        draw_effects,
    ),
    "ways-shots": FigureKind(
        "More classes, more labels",
        "Higher is better; whiskers are 95 % intervals over seeds. Points without records are "
        "left out. Scales differ between graphs and do not start at zero.",
        draw_ways_shots,
    ),
}


@figure_style
def draw_figures(names: Sequence[str], groups: Groups, styles: Styles) -> dict[str, list[Picture]]:
    """Draw the figures of each kind for every dataset that has comparable records.

    >>> draw_figures(["curves"], {}, {})
    {'curves': []}
    """
    for name in names:
        if name not in FIGURES:
            raise ParameterError(f"There is no figure {name!r}; there are {', '.join(FIGURES)}.")
    runs = {name: by_method(groups, name) for name in datasets(comparable_groups(groups))}
    return {
        name: [
            picture
            for dataset, own in runs.items()
            for picture in FIGURES[name].draw(dataset, own, styles)
        ]
        for name in names
    }
