"""Rows of A + I in CSR: each row's self loop stands where the order of its columns wants it."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.edges.entries import Weights
from nodegraft.graph.edges.matrix import IntArray


class LoopedRows(NamedTuple):
    """Some rows of A + I, columns ascending in each."""

    indptr: NDArray[np.int64]
    """Where each row begins; one more than there are rows."""

    columns: IntArray
    """The neighbours of every row and the row itself."""

    loops: NDArray[np.int64]
    """Where the self loop of each row is."""

    joined: NDArray[np.bool_]
    """Whether an entry is a neighbour, no self loop."""


def with_loops(targets: IntArray, counts: IntArray, neighbours: IntArray) -> LoopedRows:
    """Make room in every row for its self loop.

    >>> rows = with_loops(np.array([1, 4]), np.array([2, 1]), np.array([0, 2, 1]))
    >>> rows.columns.tolist(), rows.indptr.tolist()
    ([0, 1, 2, 1, 4], [0, 3, 5])

    Args:
        neighbours: They, one row after the other, ascending in each.
    """
    starts = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
    smaller = np.zeros(neighbours.size + 1, dtype=np.int64)
    own = targets.astype(neighbours.dtype, copy=False)
    np.cumsum(neighbours < np.repeat(own, counts), out=smaller[1:])
    indptr = starts + np.arange(starts.size)
    loops = indptr[:-1] + smaller[starts[1:]] - smaller[starts[:-1]]
    joined = np.ones(indptr[-1], dtype=bool)
    joined[loops] = False
    columns = np.empty(joined.size, dtype=neighbours.dtype)
    columns[loops] = own
    columns[joined] = neighbours
    return LoopedRows(indptr, columns, loops, joined)


def normalised_values(
    rows: LoopedRows, columns: IntArray, roots: NDArray[np.float32], weights: Weights | None
) -> NDArray[np.float32]:
    """Return the value of each entry in :math:`D^{-1/2} (A + I) D^{-1/2}`.

    Args:
        columns: Where the root of each entry's column is among ``roots``.
        roots: :math:`D^{-1/2}`.
        weights: How much each neighbour counts; None where all count 1.
    """
    # Not by fancy indexing, which takes twice as long.
    values: NDArray[np.float32] = np.take(roots, columns)
    values *= np.repeat(values[rows.loops], np.diff(rows.indptr))
    if weights is not None:
        values[rows.joined] *= weights
    return values
