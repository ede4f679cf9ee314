"""Confusion matrix as a picture: correct predictions in blue, mistakes in vermilion."""

import numpy as np
from numpy.typing import NDArray

from nodegraft.analysis.rendering.drawing import BLUE, GREY, PAPER, VERMILION, Axes, shorten
from nodegraft.evaluation.confusion import ConfusionMatrix

MOST = 16
"""Largest number of classes that have a row and a column of their own."""

ABSTAINED = "(abstained)"


def confusion_size(matrix: ConfusionMatrix, most: int = MOST) -> tuple[float, float]:
    """Return width and height in inches that leave room for all names and counts."""
    shown = min(len(matrix.classes), most + 1)
    return 2.4 + 0.36 * shown, 2.2 + 0.32 * shown


def draw_confusion(axes: Axes, matrix: ConfusionMatrix, most: int = MOST) -> None:
    """Draw a row for each true class; with many classes, the most confused ones and the others."""
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
            # White is read on the dark cells only.
            label.set_color(PAPER)
    limit = 26
    axes.set_yticks(
        np.arange(len(names)) + 0.5, [shorten(n, limit) for n in names], parse_math=False
    )
    axes.set_xticks(
        np.arange(len(columns)) + 0.5,
        [shorten(n, limit) for n in columns],
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
    right, asked = int(np.trace(matrix.counts)), int(matrix.counts.sum() + matrix.abstained.sum())
    axes.set_title(f"Confusion matrix: {right:,} of {asked:,} correct")


def _shown(matrix: ConfusionMatrix, most: int) -> tuple[list[str], NDArray[np.int64]]:
    """Return names, and counts with a last column of withheld predictions."""
    counts, names = matrix.counts, list(matrix.classes)
    joined = np.column_stack([counts, matrix.abstained])
    if len(names) <= most + 1:
        return names, joined
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
    # The square root keeps rare mistakes visible beside correct predictions.
    return float(np.sqrt(share))


def _colours(shares: NDArray[np.float64], *, grouped: bool) -> NDArray[np.float64]:
    colours = np.empty((*shares.shape, 4))
    for row, column in np.ndindex(*shares.shape):
        colour = BLUE if row == column else VERMILION
        if grouped and row == column == len(shares) - 1:
            # Predictions among the other classes are partly mistakes.
            colour = GREY
        channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        colours[row, column] = [*channels, _shade(float(shares[row, column]))]
    return colours
