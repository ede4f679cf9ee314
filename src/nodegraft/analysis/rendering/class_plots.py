"""Plots of predicted classes: confusion matrix, and map of nodes."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nodegraft.analysis.rendering import drawing
from nodegraft.evaluation.confusion import ConfusionMatrix

MOST_CONFUSED = 16
"""Maximum number of classes with a separate row and column."""

ABSTAINED = "(abstained)"


def confusion_size(matrix: ConfusionMatrix, most: int = MOST_CONFUSED) -> tuple[float, float]:
    """Return width and height in inches of a confusion matrix, with room for names and counts."""
    rows = min(len(matrix.classes), most + 1)
    return 2.4 + 0.36 * rows, 2.2 + 0.32 * rows


def draw_confusion(axes: drawing.Axes, matrix: ConfusionMatrix, most: int = MOST_CONFUSED) -> None:
    """Draw a confusion matrix with a row per true class; the least confused classes share a row.

    Args:
        matrix: Number of nodes by true and predicted class.
        most: Maximum number of classes with a separate row.
    """
    names, counts = _shown(matrix, most)
    columns = [*names]
    if matrix.abstained.any():
        columns.append(ABSTAINED)
    else:
        counts = counts[:, : len(names)]
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    axes.pcolormesh(
        _colours(shares, grouped=len(names) < len(matrix.classes)),
        edgecolors="#D5D9DD",
        linewidth=0.5,
    )
    for row, column in zip(*np.nonzero(counts), strict=True):
        label = axes.text(
            column + 0.5,
            row + 0.5,
            f"{counts[row, column]:,}",
            ha="center",
            va="center",
            fontsize=7 if counts.max() < 1000 else 6,
        )
        if _shade(float(shares[row, column])) > 0.55:
            # Use white text on dark cells only, because it is illegible on light cells.
            label.set_color(drawing.PAPER)
    limit = 26
    axes.set_yticks(
        np.arange(len(names)) + 0.5, [drawing.shorten(n, limit) for n in names], parse_math=False
    )
    axes.set_xticks(
        np.arange(len(columns)) + 0.5,
        [drawing.shorten(n, limit) for n in columns],
        rotation=90 if len(columns) > 10 else 45,
        ha="center" if len(columns) > 10 else "right",
        rotation_mode="anchor" if len(columns) <= 10 else "default",
        parse_math=False,
    )
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_ylim(len(names), 0)
    axes.set_xlabel("predicted class")
    axes.set_ylabel("true class")
    right, total = int(np.trace(matrix.counts)), int(matrix.counts.sum() + matrix.abstained.sum())
    axes.set_title(f"Confusion matrix: {right:,} of {total:,} correct")


def _shown(matrix: ConfusionMatrix, most: int) -> tuple[list[str], NDArray[np.int64]]:
    """Return row names and counts; the last column counts withheld predictions."""
    counts, names = matrix.counts, list(matrix.classes)
    extended = np.column_stack([counts, matrix.abstained])
    if len(names) <= most + 1:
        return names, extended
    wrong = counts - np.diag(np.diag(counts))
    confused = wrong.sum(axis=0) + wrong.sum(axis=1)
    first = np.sort(np.argsort(-confused, kind="stable")[:most])
    others = np.setdiff1d(np.arange(len(names)), first)
    grouped = np.zeros((most + 1, most + 2), dtype=np.int64)
    row_of = np.full(len(names), most)
    row_of[first] = np.arange(most)
    np.add.at(grouped[:, : most + 1], (row_of[:, None], row_of[None, :]), counts)
    np.add.at(grouped[:, most + 1], row_of, matrix.abstained)
    return [*(names[place] for place in first), f"{others.size} others"], grouped


def _shade(share: float) -> float:
    # Use the square root, so that rare mistakes are visible beside correct predictions.
    return float(np.sqrt(share))


def _colours(shares: NDArray[np.float64], *, grouped: bool) -> NDArray[np.float64]:
    colours = np.empty((*shares.shape, 4))
    for row, column in np.ndindex(*shares.shape):
        colour = drawing.BLUE if row == column else drawing.VERMILION
        if grouped and row == column == len(shares) - 1:
            # This cell of the grouped classes is grey, because it contains correct and wrong
            # predictions.
            colour = drawing.GREY
        channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        colours[row, column] = [*channels, _shade(float(shares[row, column]))]
    return colours


MAP_SIZE = (5.6, 5.0)
"""Width and height of the map in inches."""

# The map uses two more colours than other figures, which must be distinguishable in greyscale.
COLOURS = (*drawing.PALETTE, "#7F3C8D", "#6B4F3A")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p")


def draw_map(
    axes: drawing.Axes,
    places: NDArray[np.float64],
    classes: NDArray[np.object_],
    first: Sequence[str],
) -> None:
    """Draw a point for each node; classes beyond the number of colours are grey.

    Args:
        places: Position of each node: nodes x 2.
        classes: Class of each node.
        first: Classes in the order in which colours are assigned.
    """
    coloured = list(first[: len(COLOURS)])
    rest = ~np.isin(classes, coloured)
    if rest.any():
        count = len({*classes[rest]})
        others = f"{count} other{'s' * (count > 1)}"
        x, y = places[rest].T
        grey = axes.scatter(x, y, s=5, color=drawing.GREY, alpha=0.5, lw=0)
    # Pass names to the legend directly: matplotlib omits artists whose label starts with "_".
    handles, names = [], list[str]()
    for name, colour, marker in zip(coloured, COLOURS, MARKERS, strict=False):
        x, y = places[classes == name].T
        handles.append(axes.scatter(x, y, s=12, color=colour, marker=marker, alpha=0.8, lw=0))
        names.append(name)
    if rest.any():
        handles.append(grey)
        names.append(others)
    legend = axes.legend(
        handles,
        [drawing.shorten(name, 24) for name in names],
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        fontsize=8,
        markerscale=1.6,
        frameon=False,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)
    axes.set_aspect("equal")
    axes.set_title(f"Map of {len(places):,} nodes by predicted class")
