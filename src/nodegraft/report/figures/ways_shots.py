"""Figures of how accuracy moves with the classes and the labels that a session brings."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from nodegraft.evaluation.metrics import interval
from nodegraft.report.figures.canvas.drawing import Axes, house_style, panel
from nodegraft.report.figures.canvas.label_places import label_ends
from nodegraft.report.figures.canvas.picture import Picture
from nodegraft.report.figures.canvas.styles import Look, highlighted_styles
from nodegraft.report.groups import (
    Groups,
    Record,
    by_method,
    compared,
    datasets,
    summaries,
    unique,
)

SETTING = re.compile(r"( \d+-(way|shot))+$")
# Label of the axis, what varies, what stays.
STUDIES = (
    ("labels of a new class (K)", "shots", "ways"),
    ("new classes a session (N)", "ways", "shots"),
)


@house_style
def ways_shots(groups: Groups) -> list[Picture]:
    """For each dataset: the last session over K at the usual N, and over N at the usual K."""
    plain: Groups = {}
    for (dataset, name, protocol), runs in groups.items():
        plain.setdefault((dataset, SETTING.sub("", name), protocol), []).extend(runs)
    looks = highlighted_styles(plain)
    pictures = (
        _picture(plain, dataset, looks, *study)
        for dataset in datasets(compared(plain))
        for study in STUDIES
    )
    return [picture for picture in pictures if picture is not None]


def study(runs: list[Record], varies: str, fixed: tuple[str, int]) -> dict[int, list[float]]:
    """Size -> last accuracies of the runs that had it, with the other size as fixed.

    >>> run = {"setting": {"ways": 3, "shots": 5}, "summary": {"last_accuracy": 0.5}}
    >>> study([run], "shots", ("ways", 3)), study([run], "shots", ("ways", 5))
    ({5: [0.5]}, {})
    """
    stays, size = fixed
    chosen = [run for run in runs if run["setting"][stays] == size]
    sizes = sorted({run["setting"][varies] for run in chosen})
    return {n: summaries([run for run in chosen if run["setting"][varies] == n]) for n in sizes}


def usual(runs: Sequence[Record], varies: str, stays: str) -> int:
    """The size of what stays that most sizes of the other were measured with.

    >>> runs = [{"setting": {"ways": w, "shots": s}} for w, s in ((3, 1), (3, 5), (5, 5))]
    >>> usual(runs, "shots", "ways")
    3
    """
    pairs = unique((run["setting"][stays], run["setting"][varies]) for run in runs)
    ((size, _),) = Counter(size for size, _ in pairs).most_common(1)
    return int(size)


def _picture(
    groups: Groups, dataset: str, looks: Mapping[str, Look], label: str, varies: str, stays: str
) -> Picture | None:
    methods = by_method(groups, dataset)
    size = usual([run for runs in methods.values() for run in runs], varies, stays)
    held = f"{size}-{stays.removesuffix('s')}"
    found = {
        name: study(runs, varies, (stays, size))
        for (d, name, _), runs in groups.items()
        if d == dataset
    }
    if not any(len(one) > 1 for one in found.values()):
        return None
    figure, axes = panel(f"{dataset}, {held}", label, "last session: macro accuracy, %")
    ends = {
        name: (*_draw(axes, found[name], look), look.colour)
        for name, look in looks.items()
        if found.get(name)
    }
    axes.set_xticks(sorted({n for one in found.values() for n in one}))
    label_ends(axes, ends)
    told = "; ".join(
        f"{name} " + ", ".join(f"{100 * np.mean(shares):.1f} % at {n}" for n, shares in one.items())
        for name, one in found.items()
    )
    words = f"Last session on {dataset} at {held}, by {label}: {told}."
    return Picture(f"{dataset}-{varies}", words, figure)


def _draw(axes: Axes, found: Mapping[int, list[float]], look: Look) -> tuple[float, float]:
    values = [100 * np.array(shares) for shares in found.values()]
    means, half = [one.mean() for one in values], [interval(one) for one in values]
    axes.errorbar(
        list(found),
        means,
        yerr=half,
        color=look.colour,
        linestyle=look.dashes,
        marker=look.marker,
        markersize=4,
        capsize=2,
    )
    return float(max(found)), float(means[-1])
