"""Figures of accuracy against cost: which methods no other beats in both."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from nodegraft.analysis.rendering.drawing import GREY, INK, figure_style, panel
from nodegraft.analysis.rendering.label_places import label_points
from nodegraft.analysis.rendering.picture import Picture
from nodegraft.lab.report.figures.styles import DEFAULT_STYLE, Styles
from nodegraft.lab.report.groups import (
    Groups,
    by_method,
    comparable_groups,
    datasets,
    mean,
    median_seconds,
)

# Name -> seconds a session, last accuracy in percent
Points = Mapping[str, tuple[float, float]]


@figure_style
def draw_pareto(groups: Groups, styles: Styles) -> list[Picture]:
    """Accuracy over seconds a session, for each dataset; the frontier is joined.

    Args:
        groups: The records, grouped; see group().
        styles: Name of a method -> how it is drawn in the whole report.
    """
    return [_picture(groups, dataset, styles) for dataset in datasets(comparable_groups(groups))]


def frontier(points: Points) -> list[str]:
    """The methods than which no other is faster and at least as accurate, fastest first.

    >>> frontier({"slow": (2.0, 60.0), "fast": (1.0, 50.0), "bad": (2.0, 40.0)})
    ['fast', 'slow']

    Args:
        points: Method -> seconds a session, and last accuracy in percent.
    """
    best, front = float("-inf"), []
    for name in sorted(points, key=lambda name: (points[name][0], -points[name][1])):
        if points[name][1] > best:
            best = points[name][1]
            front.append(name)
    return front


def _picture(groups: Groups, dataset: str, styles: Styles) -> Picture:
    runs = by_method(groups, dataset)
    points = {name: (median_seconds(found)[1], 100 * mean(found)) for name, found in runs.items()}
    figure, axes = panel(
        dataset,
        "seconds to learn a session and answer (log scale)",
        "last session: macro accuracy, %",
    )
    front = frontier(points)
    corners = _corners([points[name] for name in front])
    axes.plot(*zip(*corners, strict=True), color=GREY, lw=1)
    for name, point in points.items():
        style, size = styles.get(name, DEFAULT_STYLE), 5 if name in styles else 3.5
        axes.plot(*point, style.marker, color=style.colour, markersize=size)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.margins(x=0.12, y=0.1)
    # The important ones choose their places first.
    order = sorted(points, key=lambda name: (name not in front, name not in styles))
    coloured = {name: styles[name].colour for name in styles if styles[name].is_coloured}
    labels = {name: (*points[name], coloured.get(name, INK)) for name in order}
    label_points(axes, labels, corners)
    listed = ", ".join(
        f"{name} ({points[name][0]:.3f} s, {points[name][1]:.1f} %)" for name in front
    )
    description = (
        f"On {dataset} no method is both faster in a session and as accurate after the last "
        f"one as these, from fastest to most accurate: {listed}. "
        f"{len(points) - len(front)} others are beaten in both."
    )
    return Picture(dataset, description, figure)


def _corners(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """A stair through points: level first, then up."""
    corners = list(points[:1])
    for (_, before), (x, y) in pairwise(points):
        corners += [(x, before), (x, y)]
    return corners
