"""Figures of how accuracy moves with the classes and the labels that a session brings."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from nodegraft.analysis.rendering.drawing import GREY, Axes, figure_style, panel
from nodegraft.analysis.rendering.label_places import label_line_ends
from nodegraft.analysis.rendering.picture import Picture
from nodegraft.evaluation.metrics import interval
from nodegraft.lab.report.figures.styles import LineStyle, Styles
from nodegraft.lab.report.groups import (
    Groups,
    Record,
    by_method,
    comparable_groups,
    datasets,
    merge_settings,
    summary_values,
    unique,
)

# Label of the axis, what varies, what is fixed.
STUDIES = (
    ("labels of a new class (K)", "shots", "ways"),
    ("new classes a session (N)", "ways", "shots"),
)


@figure_style
def draw_ways_shots(groups: Groups, styles: Styles) -> list[Picture]:
    """For each dataset: the last session over K at the usual N, and over N at the usual K.

    Args:
        groups: The records, grouped; see group().
        styles: Name of a method -> how it is drawn in the whole report.
    """
    merged = merge_settings(groups)
    pictures = (
        _picture(by_method(merged, dataset), dataset, styles, *study)
        for dataset in datasets(comparable_groups(merged))
        for study in STUDIES
    )
    return [picture for picture in pictures if picture is not None]


def accuracies_by_size(
    runs: Sequence[Record], varied: str, fixed: str, fixed_size: int
) -> dict[int, list[float]]:
    """Size -> last accuracies of the runs that had it, where the other size is fixed.

    >>> run = {"setting": {"ways": 3, "shots": 5}, "summary": {"last_accuracy": 0.5}}
    >>> accuracies_by_size([run], "shots", "ways", 3), accuracies_by_size([run], "shots", "ways", 5)
    ({5: [0.5]}, {})

    Args:
        runs: Records of runs of one method.
        varied: Which size differs between runs: "ways" or "shots".
        fixed: The other one of them.
        fixed_size: Its size; runs with another one are left out.
    """
    chosen = [run for run in runs if run["setting"][fixed] == fixed_size]
    sizes = sorted({run["setting"][varied] for run in chosen})
    return {
        size: summary_values([run for run in chosen if run["setting"][varied] == size])
        for size in sizes
    }


def usual_size(runs: Sequence[Record], varied: str, fixed: str) -> int:
    """The size to fix: the one that most sizes of the other were measured with.

    >>> runs = [{"setting": {"ways": w, "shots": s}} for w, s in ((3, 1), (3, 5), (5, 5))]
    >>> usual_size(runs, "shots", "ways")
    3

    Args:
        runs: Records of runs, at least one.
        varied: Which size differs between runs: "ways" or "shots".
        fixed: The other one of them.
    """
    pairs = unique((run["setting"][fixed], run["setting"][varied]) for run in runs)
    ((size, _),) = Counter(size for size, _ in pairs).most_common(1)
    return int(size)


def _picture(
    methods: Mapping[str, list[Record]],
    dataset: str,
    styles: Styles,
    label: str,
    varied: str,
    fixed: str,
) -> Picture | None:
    size = usual_size([run for runs in methods.values() for run in runs], varied, fixed)
    setting = f"{size}-{fixed.removesuffix('s')}"
    accuracies = {
        name: found
        for name, runs in methods.items()
        if (found := accuracies_by_size(runs, varied, fixed, size))
    }
    if not any(len(found) > 1 for found in accuracies.values()):
        return None
    figure, axes = panel(f"{dataset}, {setting}", label, "last session: macro accuracy, %")
    ends = {}
    for name, found in accuracies.items():
        if name in styles:
            ends[name] = (*_draw(axes, found, styles[name]), styles[name].colour)
        else:
            means = [100 * np.mean(shares) for shares in found.values()]
            axes.plot(list(found), means, color=GREY, linewidth=0.6, alpha=0.6, zorder=1)
    axes.set_xticks(sorted({size for found in accuracies.values() for size in found}))
    label_line_ends(axes, ends)
    description = f"Last session on {dataset} at {setting}, by {label}: {_describe(accuracies)}."
    return Picture(f"{dataset}-{varied}", description, figure)


def _draw(axes: Axes, found: Mapping[int, list[float]], style: LineStyle) -> tuple[float, float]:
    values = [100 * np.array(shares) for shares in found.values()]
    means, half = [one.mean() for one in values], [interval(one) for one in values]
    axes.errorbar(
        list(found),
        means,
        yerr=half,
        color=style.colour,
        linestyle=style.dashes,
        marker=style.marker,
        markersize=4,
        capsize=2,
    )
    return float(max(found)), float(means[-1])


def _describe(accuracies: Mapping[str, Mapping[int, list[float]]]) -> str:
    return "; ".join(
        f"{name} "
        + ", ".join(f"{100 * np.mean(shares):.1f} % at {size}" for size, shares in found.items())
        for name, found in accuracies.items()
    )
