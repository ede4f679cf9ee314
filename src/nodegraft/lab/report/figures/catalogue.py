"""The figures a suite may ask for, and how each is read."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nodegraft.analysis.rendering.picture import Picture
from nodegraft.base.errors import ParameterError
from nodegraft.lab.report.figures.curves import draw_curves
from nodegraft.lab.report.figures.effects import draw_effects
from nodegraft.lab.report.figures.pareto import draw_pareto
from nodegraft.lab.report.figures.risk_coverage import draw_risk_coverage
from nodegraft.lab.report.figures.styles import Styles
from nodegraft.lab.report.figures.ways_shots import draw_ways_shots
from nodegraft.lab.report.groups import Groups


@dataclass(frozen=True)
class FigureKind:
    """A kind of figure that suites may ask for."""

    title: str
    """The heading above its figures."""

    how_to_read: str
    """Sentences below the heading: what better looks like, and what marks and lines mean."""

    draw: Callable[[Groups, Styles], list[Picture]]
    """Makes its figures from grouped records and the styles of methods."""


FIGURES = {
    "curves": FigureKind(
        "Accuracy, session by session",
        "Higher is better. Each line is the mean over seeds, its band the 95 % interval. Methods "
        "that this report highlights have a name and, in all its figures, the same colour and "
        "marker; the rest are thin grey lines (their numbers are in the tables). Accuracy falls "
        "for every method: each session brings more classes to choose from. Scales differ between "
        "graphs.",
        draw_curves,
    ),
    "pareto": FigureKind(
        "Accuracy against cost",
        "Up is more accurate, left is faster. The grey steps join the methods that no other beats "
        "in both; those below and to the right of the steps are beaten.",
        draw_pareto,
    ),
    "risk-coverage": FigureKind(
        "Errors when a method may abstain",
        "Lower is better. At 100 % every node gets an answer; further left only those that the "
        "method is surest of. A line that falls steeply to the left knows when it is wrong. Every "
        "node counts alike here (micro), so the right end is not one minus macro accuracy.",
        draw_risk_coverage,
    ),
    "effects": FigureKind(
        "How far methods are apart, graph by graph",
        "Each mark is the last session's accuracy minus that of the best method on this graph, "
        "paired by seed; its line is the 95 % interval over seeds. That says how sure a difference "
        "is on this graph. Seeds of one graph share its nodes and classes, so no p-value is taken "
        "over graphs and seeds together, and a claim about graphs in general needs more graphs "
        "than are here. Methods that are taught most labels are left out.",
        draw_effects,
    ),
    "ways-shots": FigureKind(
        "More classes, more labels",
        "Higher is better; whiskers are 95 % intervals over seeds. Points without records yet are "
        "left out. Scales differ between graphs and do not start at zero.",
        draw_ways_shots,
    ),
}


def draw_figures(names: Sequence[str], groups: Groups, styles: Styles) -> dict[str, list[Picture]]:
    """Pictures by the name of their kind; a kind for which nothing was recorded has none.

    >>> draw_figures(["curves"], {}, {})
    {'curves': []}

    Args:
        names: Names of kinds, as suites write them.
        groups: The records, grouped; see group().
        styles: Name of a method -> how it is drawn; the others are thin and grey.
    """
    for name in names:
        if name not in FIGURES:
            raise ParameterError(f"There is no figure {name!r}; there are {', '.join(FIGURES)}.")
    return {name: FIGURES[name].draw(groups, styles) for name in names}
