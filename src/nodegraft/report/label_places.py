"""Where names go in a figure so that none lies on another."""

from collections.abc import Iterator, Mapping, Sequence
from math import cos, pi, sin

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from nodegraft.report.drawing import GREY, LETTERS, Axes, Bbox

SMALL = LETTERS - 1.0
DIRECTIONS = 16
# In points: how far from its point a name may stand.
DISTANCES = (7, 13, 20, 28, 38, 50, 65, 80)


def spread(places: Sequence[float], gap: float) -> NDArray[np.float64]:
    """Places at least ``gap`` apart, in the same order, as near as can be to those given.

    >>> spread([1.0, 1.0, 5.0], gap=1.0).tolist()
    [0.5, 1.5, 5.0]
    """
    order = np.argsort(places, kind="stable")
    steps = gap * np.arange(len(places))
    fitted = isotonic_regression(np.asarray(places, dtype=np.float64)[order] - steps)
    spaced = np.empty(len(places))
    spaced[order] = fitted.x + steps
    return spaced


def label_ends(axes: Axes, ends: Mapping[str, tuple[float, float, str]]) -> None:
    """Names beside the right ends of lines: name -> x, y and colour.

    >>> from nodegraft.report.drawing import panel
    >>> _, axes = panel("", "")
    >>> label_ends(axes, {"one": (1.0, 0.5, "black"), "other": (1.0, 0.5, "black")})
    >>> len({text.xyann[1] for text in axes.texts})
    2
    """
    axes.figure.draw_without_rendering()
    to_points = 72 / axes.figure.dpi
    heights = [axes.transData.transform((x, y))[1] * to_points for x, y, _ in ends.values()]
    moved = spread(heights, gap=LETTERS * 1.25) - heights
    for (name, (x, y, colour)), up in zip(ends.items(), moved, strict=True):
        axes.annotate(
            name,
            (x, y),
            xytext=(9, float(up)),
            textcoords="offset points",
            color=colour,
            fontsize=LETTERS,
            va="center",
            arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.4, "shrinkB": 2},
        )


def label_points(axes: Axes, points: Mapping[str, tuple[float, float, str]]) -> None:
    """Names beside points, the first ones nearest; one that is moved far has a line to its point.

    >>> from nodegraft.report.drawing import panel
    >>> _, axes = panel("", "")
    >>> label_points(axes, {"one": (0.5, 0.5, "black"), "other": (0.5, 0.5, "black")})
    >>> [text.get_text() for text in axes.texts]
    ['one', 'other']
    """
    figure = axes.figure
    figure.draw_without_rendering()
    scale = figure.dpi / 72
    marks = [axes.transData.transform((x, y)) for x, y, _ in points.values()]
    taken = [Bbox.from_bounds(x - 4 * scale, y - 4 * scale, 8 * scale, 8 * scale) for x, y in marks]
    inside = axes.bbox
    for (name, (x, y, colour)), mark in zip(points.items(), marks, strict=True):
        label = axes.annotate(
            name,
            (x, y),
            xytext=(0, 0),
            textcoords="offset points",
            color=colour,
            fontsize=SMALL,
            ha="center",
            va="center",
            arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.4, "shrinkB": 2},
        )
        size = label.get_window_extent()
        for right, up in _offsets(size.width / scale, size.height / scale):
            left, low = mark + scale * np.array((right, up)) - np.array(size.size) / 2
            box = Bbox.from_bounds(left, low, size.width, size.height)
            free = inside.x0 <= box.x0 and box.x1 <= inside.x1 + 30 and inside.y0 <= box.y0
            if free and not box.count_overlaps(taken):
                label.xyann = (right, up)
                taken.append(box)
                break


def _offsets(width: float, height: float) -> Iterator[tuple[float, float]]:
    """From a point to the middle of its name, in points: near ones first, right ones first."""
    for distance in DISTANCES:
        for step in range(DIRECTIONS):
            turn = (step + 1) // 2 * (-1) ** step * 2 * pi / DIRECTIONS
            along, up = cos(turn), sin(turn)
            yield along * (distance + width / 2), up * (distance + height / 2)
