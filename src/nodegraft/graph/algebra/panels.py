"""Products of dense matrices in which a column's bits do not depend on how many others there are.

The kernels behind ``@`` work on a few columns at a time, and take another way through what is left
over at the end: so every width here is a multiple of that few.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

PANEL = 8
"""Kernels of today's processors take 2, 4 or 8 columns at a time."""


def side_by_side(parts: Sequence[Floats], panel: int = PANEL) -> Floats:
    """Matrices beside each other, each filled up with columns of zeros.

    >>> side_by_side([np.ones((1, 1)), np.ones((1, 3))], 2).tolist()
    [[1.0, 0.0, 1.0, 1.0, 1.0, 0.0]]

    Args:
        parts: Matrices with as many rows each.
        panel: The width of each becomes a multiple of this.
    """
    widths = [panelled(part.shape[1], panel) for part in parts]
    wide = np.zeros((parts[0].shape[0], sum(widths)))
    for part, end, width in zip(parts, np.cumsum(widths), widths, strict=True):
        wide[:, end - width : end - width + part.shape[1]] = part
    return wide


def panelled(width: int, panel: int = PANEL) -> int:
    """The next multiple of a panel's width.

    Args:
        width: How many columns there are.
        panel: How many columns a panel has.
    """
    return -(-width // panel) * panel


def times_columns(left: NDArray[np.float64], right: Floats) -> Floats:
    """``left @ right``, each column as it would be alone.

    >>> times_columns(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]])).tolist()
    [[11.0]]

    Args:
        left: Rows.
        right: Columns.
    """
    width = right.shape[1]
    whole = right if width == panelled(width) else side_by_side([right])
    # Column by column in memory: what is done to each next is done to many numbers at once.
    products: Floats = (whole.T @ left.T).T
    return products[:, :width]
