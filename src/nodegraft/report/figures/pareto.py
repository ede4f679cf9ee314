"""Figures of accuracy against cost: who is beaten by nobody in both."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from nodegraft.report.figures.canvas.drawing import GREY, INK, house_style, panel
from nodegraft.report.figures.canvas.label_places import label_points
from nodegraft.report.figures.canvas.picture import Picture
from nodegraft.report.figures.canvas.styles import PLAIN, highlighted_styles
from nodegraft.report.groups import Groups, by_method, compared, datasets, mean, seconds

# Name -> seconds a session, last accuracy in percent
Points = Mapping[str, tuple[float, float]]


@house_style
def pareto(groups: Groups) -> list[Picture]:
    """The last session over seconds to learn one, for each dataset; the frontier is joined."""
    return [_picture(groups, dataset) for dataset in datasets(compared(groups))]


def frontier(points: Points) -> list[str]:
    """Those than which none is quicker and at least as accurate, quickest first.

    >>> frontier({"slow": (2.0, 60.0), "quick": (1.0, 50.0), "bad": (2.0, 40.0)})
    ['quick', 'slow']
    """
    best, front = float("-inf"), []
    for name in sorted(points, key=lambda name: (points[name][0], -points[name][1])):
        if points[name][1] > best:
            best = points[name][1]
            front.append(name)
    return front


def _picture(groups: Groups, dataset: str) -> Picture:
    runs = by_method(groups, dataset)
    points = {name: (seconds(found)[1], 100 * mean(found)) for name, found in runs.items()}
    looks = highlighted_styles(groups)
    figure, axes = panel(
        dataset, "seconds to learn one session (log scale)", "last session: macro accuracy, %"
    )
    front = frontier(points)
    corners = _corners([points[name] for name in front])
    axes.plot(*zip(*corners, strict=True), color=GREY, lw=1)
    for name, point in points.items():
        look = looks.get(name, PLAIN)
        axes.plot(*point, look.marker, color=look.colour, markersize=5 if name in looks else 3.5)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.margins(x=0.12, y=0.1)
    # The important ones choose their places first.
    order = sorted(points, key=lambda name: (name not in front, name not in looks))
    shades = {name: looks[name].colour if name in looks else INK for name in order}
    label_points(axes, {name: (*points[name], shades[name]) for name in order}, corners)
    told = ", ".join(f"{name} ({points[name][0]:.3f} s, {points[name][1]:.1f} %)" for name in front)
    words = (
        f"On {dataset} no method is both quicker to learn a session and as accurate after the last "
        f"one as these, from quickest to most accurate: {told}. "
        f"{len(points) - len(front)} others are beaten in both."
    )
    return Picture(dataset, words, figure)


def _corners(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """A stair through points: level first, then up."""
    corners = list(points[:1])
    for (_, before), (x, y) in pairwise(points):
        corners += [(x, before), (x, y)]
    return corners
