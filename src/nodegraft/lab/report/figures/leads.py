"""Figure of the first screen: leads of one method over others, graph by graph."""

from nodegraft.analysis.rendering.drawing import GREY, Picture, figure_style, name_rows, panel
from nodegraft.lab.report.against_others import AgainstOthers
from nodegraft.lab.report.figures.points import LARGE_MARGIN, LARGE_ROW, WIDTH
from nodegraft.lab.report.figures.styles import DEFAULT_STYLE, PAPERS_METHOD, Styles


@figure_style
def draw_against_others(comparison: AgainstOthers, styles: Styles) -> Picture:
    """Draw the lead over the best other method, and over the paper's, on each graph."""
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
            ends = opponent.points - opponent.half_width, opponent.points + opponent.half_width
            axes.hlines(row + shift, *ends, color=style.colour, lw=1.5)
            axes.plot(opponent.points, row + shift, style.marker, color=style.colour, markersize=5)
    name_rows(axes, [f"{one.dataset}{' *' * one.is_held_out}" for one in graphs])
    handles = [
        axes.plot([], [], linestyle="", marker=style.marker, color=style.colour, label=name)[0]
        for name, style, _ in kinds[: 1 + any(one.papers for one in graphs)]
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2, handletextpad=0.2)
    listed = "; ".join(
        f"{one.dataset} {one.best} against {one.best.name}"
        + (f", {one.papers} against {one.papers.name}" if one.papers else "")
        for one in graphs
    )
    marked = any(one.is_held_out for one in graphs)
    caption = (
        "* held out while the method was designed; exceptions are named below the table. " * marked
    )
    return Picture(
        "against-others",
        f"Points of {comparison.method} minus another method after the last session: {listed}.",
        figure,
        f"{caption}Right of zero: {comparison.method} is more accurate.",
    )
