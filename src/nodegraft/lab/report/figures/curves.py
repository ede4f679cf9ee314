"""Figures of accuracy session by session, one for each dataset."""

from collections.abc import Mapping

from nodegraft.analysis.rendering.drawing import GREY, Axes, figure_style, panel
from nodegraft.analysis.rendering.label_places import label_line_ends
from nodegraft.analysis.rendering.picture import Picture
from nodegraft.lab.report.figures.styles import LineStyle, Styles
from nodegraft.lab.report.groups import (
    Groups,
    Record,
    accuracy_curve,
    by_method,
    comparable_groups,
    datasets,
    mean,
)


@figure_style
def draw_curves(groups: Groups, styles: Styles) -> list[Picture]:
    """Lines of means with bands of 95 %; methods that are not highlighted are thin and grey.
    The best of these is named where it ends above a highlighted one.

    Args:
        groups: The records, grouped; see group().
        styles: Name of a method -> how it is drawn in the whole report.
    """
    return [_picture(groups, dataset, styles) for dataset in datasets(comparable_groups(groups))]


def _picture(groups: Groups, dataset: str, styles: Styles) -> Picture:
    runs = by_method(groups, dataset)
    figure, axes = panel(dataset, "session (0: after training)", "macro accuracy, %")
    ends, others = {}, {}
    for name in runs:
        if name in styles:
            ends[name] = (*_draw(axes, runs[name], styles[name]), styles[name].colour)
        else:
            means, _ = accuracy_curve(runs[name])
            axes.plot(means, color=GREY, linewidth=0.6, alpha=0.6, zorder=1)
            others[name] = float(means.size - 1), float(means[-1]), GREY
    best = max(others, key=lambda name: others[name][1], default="")
    if best and any(others[best][1] > height for _, height, _ in ends.values()):
        ends[best] = others[best]
    axes.set_ylim(bottom=max(0.0, axes.get_ylim()[0]))
    label_line_ends(axes, ends)
    return Picture(dataset, _describe(dataset, runs), figure)


def _draw(axes: Axes, runs: list[Record], style: LineStyle) -> tuple[float, float]:
    means, half = accuracy_curve(runs)
    sessions = range(means.size)
    axes.plot(means, style.dashes, color=style.colour, marker=style.marker, markersize=3.5)
    axes.fill_between(sessions, means - half, means + half, color=style.colour, alpha=0.15, lw=0)
    axes.set_xticks(sessions)
    return float(sessions[-1]), float(means[-1])


def _describe(dataset: str, runs: Mapping[str, list[Record]]) -> str:
    ranked = sorted(runs, key=lambda name: -mean(runs[name]))
    parts = []
    for name in ranked:
        means, _ = accuracy_curve(runs[name])
        parts.append(f"{name} from {means[0]:.1f} to {means[-1]:.1f} %")
    return f"Macro accuracy on {dataset} from the first to the last session: {'; '.join(parts)}."
