"""Figures of accuracy session by session, one for each dataset."""

from collections.abc import Mapping

from nodegraft.report.figures.canvas.drawing import GREY, Axes, house_style, panel
from nodegraft.report.figures.canvas.label_places import label_ends
from nodegraft.report.figures.canvas.picture import Picture
from nodegraft.report.figures.canvas.styles import Look, highlighted_styles
from nodegraft.report.groups import Groups, Record, by_method, compared, curve, datasets, mean


@house_style
def curves(groups: Groups) -> list[Picture]:
    """Lines of means with bands of 95 %; methods that are not brought out are thin and grey."""
    looks = highlighted_styles(groups)
    return [_picture(groups, dataset, looks) for dataset in datasets(compared(groups))]


def _picture(groups: Groups, dataset: str, looks: Mapping[str, Look]) -> Picture:
    runs = by_method(groups, dataset)
    figure, axes = panel(dataset, "session (0: after training)", "macro accuracy, %")
    for name in [name for name in runs if name not in looks]:
        means, _ = curve(runs[name])
        axes.plot(means, color=GREY, linewidth=0.6, alpha=0.6, zorder=1)
    ends = {}
    for name, look in looks.items():
        if name in runs:
            ends[name] = (*_draw(axes, runs[name], look), look.colour)
    axes.set_ylim(bottom=max(0.0, axes.get_ylim()[0]))
    label_ends(axes, ends)
    return Picture(dataset, _words(dataset, runs), figure)


def _draw(axes: Axes, runs: list[Record], look: Look) -> tuple[float, float]:
    means, half = curve(runs)
    sessions = range(means.size)
    axes.plot(means, look.dashes, color=look.colour, marker=look.marker, markersize=3.5)
    axes.fill_between(sessions, means - half, means + half, color=look.colour, alpha=0.15, lw=0)
    axes.set_xticks(sessions)
    return float(sessions[-1]), float(means[-1])


def _words(dataset: str, runs: Mapping[str, list[Record]]) -> str:
    ranked = sorted(runs, key=lambda name: -mean(runs[name]))
    parts = []
    for name in ranked:
        means, _ = curve(runs[name])
        parts.append(f"{name} from {means[0]:.1f} to {means[-1]:.1f} %")
    return f"Macro accuracy on {dataset} from the first to the last session: {'; '.join(parts)}."
