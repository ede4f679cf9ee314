"""Compare one method with all others on each graph, in pairs of runs with the same seed."""

from collections.abc import Sequence
from dataclasses import dataclass

from nodegraft.analysis.own_labels.comparison import Estimate
from nodegraft.analysis.rendering.drawing import GREY, Picture, figure_style, name_rows, panel
from nodegraft.lab.report.figures.points import LARGE_MARGIN, LARGE_ROW, WIDTH, draw_interval
from nodegraft.lab.report.figures.styles import DEFAULT_STYLE, PAPERS_METHOD, Styles
from nodegraft.lab.report.groups import Record, by_method, datasets, mean, points_ahead
from nodegraft.lab.report.recommendation import recommend
from nodegraft.lab.report.section import HELD_OUT, Section, main_section


@dataclass(frozen=True)
class Opponent:
    """Other method on one graph, and the lead of the compared method over it."""

    name: str
    """Name of the other method."""

    accuracy: float
    """Macro accuracy after the last session in percent, on the seeds of both methods."""

    lead: Estimate
    """Lead of the compared method in points, over the seeds of both methods."""

    @property
    def verdict(self) -> str:
        """Whether the compared method is ahead or behind; unclear if zero is in the interval."""
        if not self.lead.beyond_noise:
            return "unclear"
        return "ahead" if self.lead.mean > 0 else "behind"

    def __str__(self) -> str:
        spread = f" ± {self.lead.half_width:.1f}" if self.lead.seeds > 1 else " (1 seed)"
        return f"{self.lead.mean:+.1f}{spread}".replace("-", "\N{MINUS SIGN}")


@dataclass(frozen=True)
class GraphComparison:
    """Comparison of one method with all others on one graph."""

    dataset: str
    """Name of the graph."""

    is_held_out: bool
    """Whether the graph was held out while the method was designed."""

    accuracy: float
    """Macro accuracy of the compared method after the last session in percent, over all seeds."""

    best: Opponent
    """Other method with the smallest lead, among other methods with several seeds.

    If no other method has several seeds, it is chosen among all other methods.
    """

    papers: Opponent | None
    """Comparison with the paper's method; None if it was not measured on this graph."""

    others: int
    """Number of other methods that were measured on this graph with several seeds."""


@dataclass(frozen=True)
class AgainstOthers:
    """Comparison of one method with all others that are not variants of it, on several graphs."""

    method: str
    """Name of the compared method."""

    graphs: tuple[GraphComparison, ...]
    """One comparison for each graph, at least two."""

    def with_verdict(self, verdict: str) -> list[GraphComparison]:
        """Return the graphs with a given verdict on the best other method."""
        return [graph for graph in self.graphs if graph.best.verdict == verdict]


def against_others(sections: Sequence[Section]) -> AgainstOthers | None:
    """Compare the best method of the main suite with all others, on main and held-out graphs.

    Variants of the compared method are left out. Return None if fewer than two graphs remain.
    """
    main = main_section(sections)
    best = recommend(main.groups)
    if best is None:
        return None
    results = [
        main,
        *(section for section in sections if section.name == HELD_OUT and section is not main),
    ]
    graphs = [
        graph
        for section in results
        for dataset in datasets(section.groups)
        if (graph := _graph(section, dataset, best.winner))
    ]
    return AgainstOthers(best.winner, tuple(graphs)) if len(graphs) > 1 else None


def _graph(section: Section, dataset: str, method: str) -> GraphComparison | None:
    runs = by_method(section.groups, dataset)
    method_of = {entry.name: entry.job.method for entry in section.recorded}
    own = runs.pop(method, [])
    opponents = [
        opponent
        for name, others in runs.items()
        if method_of[name] != method_of.get(method) and (opponent := _opponent(name, others, own))
    ]
    if not opponents:
        return None
    several = [opponent for opponent in opponents if opponent.lead.seeds > 1]
    papers = next((opponent for opponent in opponents if opponent.name == PAPERS_METHOD), None)
    nearest = min(several or opponents, key=lambda other: other.lead.mean)
    held_out = section.name == HELD_OUT
    return GraphComparison(dataset, held_out, 100 * mean(own), nearest, papers, len(several))


def _opponent(name: str, runs: Sequence[Record], own: Sequence[Record]) -> Opponent | None:
    lead, seeds = points_ahead(own, runs), {run["seed"] for run in own}
    if lead is None:
        return None
    return Opponent(name, 100 * mean([run for run in runs if run["seed"] in seeds]), lead)


@figure_style
def draw_against_others(comparison: AgainstOthers, styles: Styles) -> Picture:
    """Draw the lead over the best other method, and over the paper's method, on each graph."""
    graphs = comparison.graphs
    size = (WIDTH, LARGE_ROW * len(graphs) + LARGE_MARGIN)
    title = f"{comparison.method} minus another method"
    figure, axes = panel(title, "points of macro accuracy, with 95 % interval", size=size)
    axes.axvline(0.0, color=GREY, lw=1)
    own = styles.get(comparison.method, DEFAULT_STYLE)
    papers = styles.get(PAPERS_METHOD, DEFAULT_STYLE)
    kinds = (("best other method", own, -0.12), (PAPERS_METHOD, papers, 0.16))
    for row, graph in enumerate(graphs):
        for opponent, (_, style, shift) in zip((graph.best, graph.papers), kinds, strict=True):
            if opponent is None or (shift > 0 and opponent.name == graph.best.name):
                continue
            draw_interval(axes, row + shift, opponent.lead, style)
    name_rows(axes, [f"{graph.dataset}{' *' * graph.is_held_out}" for graph in graphs])
    handles = [
        axes.plot([], [], linestyle="", marker=style.marker, color=style.colour, label=name)[0]
        for name, style, _ in kinds[: 1 + any(graph.papers for graph in graphs)]
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2, handletextpad=0.2)
    listed = "; ".join(
        f"{graph.dataset} {graph.best} against {graph.best.name}"
        + (f", {graph.papers} against {graph.papers.name}" if graph.papers else "")
        for graph in graphs
    )
    marked = any(graph.is_held_out for graph in graphs)
    caption = (
        "* held out while the method was designed; exceptions are named below the table. " * marked
    )
    return Picture(
        "against-others",
        f"Points of {comparison.method} minus another method after the last session: {listed}.",
        figure,
        f"{caption}Right of zero: {comparison.method} is more accurate.",
    )
