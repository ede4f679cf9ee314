"""Placement of labels in a figure, without overlaps."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import cos, pi, sin
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from nodegraft.analysis.rendering.drawing import FONT_SIZE, GREY, Axes, Bbox

SMALL_FONT = FONT_SIZE - 1.0
DIRECTIONS = 16
# Distances between a point and its label that are tried, in points.
DISTANCES = (5, 9, 14, 20, 28, 38, 50, 65, 80)


def spread_apart(places: Sequence[float], gap: float) -> NDArray[np.float64]:
    """Move positions as little as possible, so that neighbours are at least ``gap`` apart.

    >>> spread_apart([1.0, 1.0, 5.0], gap=1.0).tolist()
    [0.5, 1.5, 5.0]

    Args:
        places: Positions on a line, whose order is kept.
        gap: Least distance between two positions, in the same unit.
    """
    order = np.argsort(places, kind="stable")
    steps = gap * np.arange(len(places))
    regression = isotonic_regression(np.asarray(places, dtype=np.float64)[order] - steps)
    spaced = np.empty(len(places))
    spaced[order] = regression.x + steps
    return spaced


def label_line_ends(axes: Axes, ends: Mapping[str, tuple[float, float, str]]) -> None:
    """Write names beside the right ends of lines.

    >>> from nodegraft.analysis.rendering.drawing import panel
    >>> _, axes = panel("", "")
    >>> label_line_ends(axes, {"one": (1.0, 0.5, "black"), "other": (1.0, 0.5, "black")})
    >>> len({text.xyann[1] for text in axes.texts})
    2

    Args:
        ends: Name -> x and y in data coordinates, and the colour of the name.
    """
    _lay_out(axes)
    to_points = 72 / axes.figure.dpi
    heights = [axes.transData.transform((x, y))[1] * to_points for x, y, _ in ends.values()]
    shifts = spread_apart(heights, gap=FONT_SIZE * 1.25) - heights
    for (name, (x, y, colour)), up in zip(ends.items(), shifts, strict=True):
        _write(axes, name, (x, y), (9.0, float(up)), colour, ha="left", leader=abs(up) > 3)


def label_points(
    axes: Axes,
    points: Mapping[str, tuple[float, float, str]],
    avoid_path: Sequence[tuple[float, float]] = (),
    avoid_points: Sequence[tuple[float, float]] = (),
) -> None:
    """Write names beside points; the first names are placed nearest to their points.

    >>> from nodegraft.analysis.rendering.drawing import panel
    >>> _, axes = panel("", "")
    >>> label_points(axes, {"one": (0.5, 0.5, "black"), "other": (0.5, 0.5, "black")})
    >>> [text.get_text() for text in axes.texts]
    ['one', 'other']

    Args:
        points: Name -> x and y in data coordinates, and the colour of the name.
        avoid_path: Corners of a line that labels should not cover, in data coordinates.
        avoid_points: Points that labels should not cover, in data coordinates.
    """
    _lay_out(axes)
    marks = [axes.transData.transform((x, y)) for x, y, _ in points.values()]
    boxes = [_box(mark, (8, 8), axes) for mark in marks]
    boxes += [_box(place, (2, 2), axes) for place in _along(axes, avoid_path)]
    boxes += [_box(axes.transData.transform(place), (3, 3), axes) for place in avoid_points]
    for (name, (x, y, colour)), mark in zip(points.items(), marks, strict=True):
        size = (0.58 * SMALL_FONT * len(name), 1.2 * SMALL_FONT)
        for is_far, offset in _offsets(*size):
            box = _box(mark + np.array(offset) * axes.figure.dpi / 72, size, axes)
            leader = is_far
            if _is_inside(box, axes.bbox) and not box.count_overlaps(boxes):
                break
        boxes.append(box)
        _write(axes, name, (x, y), offset, colour, size=SMALL_FONT, leader=leader)


def _lay_out(axes: Axes) -> None:
    figure = axes.get_figure(root=True)
    if figure is not None:
        figure.draw_without_rendering()


def _write(
    axes: Axes,
    name: str,
    point: tuple[float, float],
    offset: tuple[float, float],
    colour: str,
    *,
    leader: bool,
    ha: Literal["left", "center"] = "center",
    size: float = FONT_SIZE,
) -> None:
    line = {"arrowstyle": "-", "color": GREY, "linewidth": 0.4, "shrinkB": 2, "shrinkA": 0}
    axes.annotate(
        name,
        point,
        xytext=offset,
        textcoords="offset points",
        color=colour,
        fontsize=size,
        ha=ha,
        va="center",
        arrowprops=line if leader else None,
    )


def _box(middle: NDArray[np.float64], size: tuple[float, float], axes: Axes) -> Bbox:
    """Return a box in pixels from its centre in pixels and its size in points."""
    width, height = np.array(size) * axes.figure.dpi / 72
    return Bbox.from_bounds(middle[0] - width / 2, middle[1] - height / 2, width, height)


def _is_inside(box: Bbox, frame: Bbox) -> bool:
    across = frame.x0 <= box.x0 and box.x1 <= frame.x1
    return bool(across and frame.y0 <= box.y0 and box.y1 <= frame.y1)


def _offsets(width: float, height: float) -> Iterator[tuple[bool, tuple[float, float]]]:
    """Yield offsets from a point to the centre of its label; near and right positions are first.

    Each offset has a flag that tells whether the label is so far away that it needs a leader line.
    """
    for distance in DISTANCES:
        for step in range(DIRECTIONS):
            turn = (step + 1) // 2 * (-1) ** step * 2 * pi / DIRECTIONS
            across, up = cos(turn), sin(turn)
            far = distance > DISTANCES[1]
            yield far, (across * (distance + width / 2), up * (distance + height / 2))


def _along(axes: Axes, path: Sequence[tuple[float, float]]) -> Iterator[NDArray[np.float64]]:
    corners = [axes.transData.transform(corner) for corner in path]
    for start, end in pairwise(corners):
        yield from np.linspace(start, end, num=60)
