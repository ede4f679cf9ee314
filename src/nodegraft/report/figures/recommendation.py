"""The small figure beside the verdict: every method's last session on every dataset."""

from nodegraft.report.figures.canvas.drawing import BLUE, GREEN, GREY, VERMILION, house_style, panel
from nodegraft.report.figures.canvas.picture import Picture
from nodegraft.report.figures.canvas.styles import PAPERS_METHOD
from nodegraft.report.groups import by_method, datasets, mean
from nodegraft.report.recommendation import Recommendation

LINE, MARGIN = 0.42, 1.05


@house_style
def draw_recommendation(verdict: Recommendation) -> Picture:
    """A row for each dataset: the winner, the paper's method and the runner-up, others grey."""
    graphs = datasets(verdict.groups)
    size = (4.6, LINE * len(graphs) + MARGIN)
    figure, axes = panel("After the last session", "macro accuracy, %", size=size)
    shown = list(dict.fromkeys((verdict.winner, *verdict.names[1:2])))
    if PAPERS_METHOD in verdict.names and PAPERS_METHOD not in shown:
        shown.append(PAPERS_METHOD)
    looks = dict(zip(shown, (("o", BLUE, 8), ("s", GREEN, 6), ("^", VERMILION, 6.5)), strict=False))
    for row, dataset in enumerate(graphs):
        scores = {n: 100 * mean(runs) for n, runs in by_method(verdict.groups, dataset).items()}
        rest = [scores[name] for name in scores if name not in looks]
        axes.plot(rest, [row] * len(rest), "|", color=GREY, markersize=7)
        for name, (marker, colour, size_) in reversed(looks.items()):
            axes.plot(scores[name], row, marker, color=colour, markersize=size_)
    axes.set_yticks(range(len(graphs)), graphs)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_ylim(len(graphs) - 0.4, -0.6)
    axes.set_xlim(0.0, 100.0)
    handles = [
        axes.plot([], [], marker, color=colour, markersize=size_, label=name)[0]
        for name, (marker, colour, size_) in looks.items()
    ]
    handles += axes.plot([], [], "|", color=GREY, markersize=7, label="other methods")
    figure.legend(
        handles=handles, loc="outside lower center", ncols=4, handletextpad=0.2, columnspacing=1.0
    )
    return Picture("verdict", _words(verdict, shown), figure)


def _words(verdict: Recommendation, shown: list[str]) -> str:
    parts = []
    for dataset in datasets(verdict.groups):
        runs = by_method(verdict.groups, dataset)
        told = ", ".join(f"{name} {100 * mean(runs[name]):.1f} %" for name in shown)
        parts.append(f"{dataset}: {told}")
    return f"Macro accuracy after the last session on {'; '.join(parts)}."
