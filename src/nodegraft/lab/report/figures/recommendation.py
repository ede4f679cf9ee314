"""The small figure beside the recommendation: every method's last session on every dataset."""

from typing import Any

from nodegraft.analysis.rendering.drawing import GREY, figure_style, panel
from nodegraft.analysis.rendering.picture import Picture
from nodegraft.lab.report.figures.styles import DEFAULT_STYLE, PAPERS_METHOD, Styles
from nodegraft.lab.report.groups import by_method, datasets, mean, unique
from nodegraft.lab.report.recommendation import Recommendation

# In inches: a row, and title, axis and legend around all of them.
LINE, MARGIN = 0.42, 1.05
LARGE, SMALL = 8.0, 6.0


@figure_style
def draw_recommendation(recommendation: Recommendation, styles: Styles) -> Picture:
    """A row for each dataset: the winner, the paper's method and the runner-up, others grey.

    Args:
        recommendation: Which method is best, and the records.
        styles: Name of a method -> how it is drawn in the whole report.
    """
    graphs = datasets(recommendation.groups)
    size = (4.6, LINE * len(graphs) + MARGIN)
    figure, axes = panel("After the last session", "macro accuracy, %", size=size)
    shown = unique([recommendation.winner, recommendation.runner_up])
    if PAPERS_METHOD in recommendation.names and PAPERS_METHOD not in shown:
        shown.append(PAPERS_METHOD)
    marks = {name: _mark(name, recommendation.winner, styles) for name in shown}
    for row, dataset in enumerate(graphs):
        runs_by_method = by_method(recommendation.groups, dataset)
        scores = {name: 100 * mean(runs) for name, runs in runs_by_method.items()}
        rest = [scores[name] for name in scores if name not in marks]
        axes.plot(rest, [row] * len(rest), "|", color=GREY, markersize=7)
        for name, mark in reversed(marks.items()):
            axes.plot(scores[name], row, linestyle="", **mark)
    axes.set_yticks(range(len(graphs)), graphs)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_ylim(len(graphs) - 0.4, -0.6)
    axes.set_xlim(0.0, 100.0)
    handles = [
        axes.plot([], [], linestyle="", label=name, **mark)[0] for name, mark in marks.items()
    ]
    handles += axes.plot([], [], "|", color=GREY, markersize=7, label="other methods")
    figure.legend(
        handles=handles, loc="outside lower center", ncols=4, handletextpad=0.2, columnspacing=1.0
    )
    return Picture("recommendation", _describe(recommendation, shown), figure)


def _mark(name: str, winner: str, styles: Styles) -> dict[str, Any]:
    style = styles.get(name, DEFAULT_STYLE)
    return {
        "marker": style.marker,
        "color": style.colour,
        "markersize": LARGE if name == winner else SMALL,
    }


def _describe(recommendation: Recommendation, shown: list[str]) -> str:
    parts = []
    for dataset in datasets(recommendation.groups):
        runs = by_method(recommendation.groups, dataset)
        shares = ", ".join(f"{name} {100 * mean(runs[name]):.1f} %" for name in shown)
        parts.append(f"{dataset}: {shares}")
    return f"Macro accuracy after the last session on {'; '.join(parts)}."
