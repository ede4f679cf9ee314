"""The figures a suite may ask for, and how each is read."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nodegraft.base.errors import ParameterError
from nodegraft.report.figures.canvas.picture import Picture
from nodegraft.report.figures.curves import curves
from nodegraft.report.figures.leak import leak
from nodegraft.report.figures.pareto import pareto
from nodegraft.report.figures.ranks import ranks
from nodegraft.report.figures.risk_coverage import risk_coverage
from nodegraft.report.figures.ways_shots import ways_shots
from nodegraft.report.groups import Groups


@dataclass(frozen=True)
class Kind:
    """A kind of figure: its title, how it is read, and what draws it."""

    title: str
    reading: str
    draw: Callable[[Groups], list[Picture]]


FIGURES = {
    "curves": Kind(
        "Accuracy, session by session",
        "Higher is better. Each line is the mean over seeds, its band the 95 % interval; the "
        "methods measured most and the best other one are named, the rest are thin grey lines "
        "(their numbers are in the tables). Accuracy falls for everybody: every session brings "
        "more classes to choose from. Scales differ between graphs.",
        curves,
    ),
    "pareto": Kind(
        "Accuracy against cost",
        "Up is more accurate, left is quicker. The grey steps join the methods that no other beats "
        "in both; those below and to the right of the steps are beaten.",
        pareto,
    ),
    "risk-coverage": Kind(
        "Errors when unsure answers are held back",
        "Lower is better. At 100 % every node gets an answer; further left only those that the "
        "method is surest of. A line that falls steeply to the left knows when it is wrong. Every "
        "node counts alike here (micro), so the right end is not one minus macro accuracy.",
        risk_coverage,
    ),
    "ranks": Kind(
        "Which differences are more than chance",
        "In each pair of graph and seed the methods are ranked by the last session; marks are mean "
        "ranks, the diamond is the best. A filled dot is behind it by more than chance (Wilcoxon's "
        "signed-rank test at the 5 % level, Holm's correction), a hollow one is not. Bars are for "
        "any two methods: where they do not overlap, Nemenyi's test tells the two apart; it asks "
        "about all pairs at once and is more cautious. The best one's bar is continued as a band. "
        "Seeds of one graph are not independent "
        "graphs, so this says more about these graphs than about graphs in general. Ceilings are "
        "left out.",
        ranks,
    ),
    "leak": Kind(
        "How much the leak inflates",
        "The same models, splits and seeds, judged twice. The line is what the leaks of the "
        "published protocol add; the number on the right is its length in points.",
        leak,
    ),
    "ways-shots": Kind(
        "More classes, more labels",
        "Higher is better; whiskers are 95 % intervals over seeds. Points without records yet are "
        "left out. Scales differ between graphs and do not start at zero.",
        ways_shots,
    ),
}


def draw_figures(names: Sequence[str], groups: Groups) -> dict[str, list[Picture]]:
    """Pictures by the name of their kind; a kind for which nothing was recorded has none.

    >>> draw_figures(["leak"], {})
    {'leak': []}
    """
    for name in names:
        if name not in FIGURES:
            raise ParameterError(f"There is no figure {name!r}; there are {', '.join(FIGURES)}.")
    return {name: FIGURES[name].draw(groups) for name in names}
