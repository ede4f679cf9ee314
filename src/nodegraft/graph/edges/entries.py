"""Entries of an adjacency in CSR order: duplicates are merged, and self loops inserted."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from nodegraft.graph.edges.matrix import IntArray, index_type

OUT, IN = np.uint8(1), np.uint8(2)
"""The edge leads from the entry's row to its column; from the column to the row. Both may be."""

Weights = NDArray[np.float32]
Directions = NDArray[np.uint8]


class Entries(NamedTuple):
    """Edges as arrays with an item for each entry; every edge has an entry in the rows of both
    ends."""

    rows: IntArray
    """The node whose neighbour it is."""

    columns: IntArray
    """The neighbour."""

    weights: Weights | None = None
    """Weight of each entry; None if all are 1."""

    directions: Directions | None = None
    """Direction of each edge: :data:`OUT`, :data:`IN` or both; None for undirected edges."""


def weights_of(entries: Entries) -> Weights:
    """Return a weight for each entry, 1 if none was given.

    Args:
        entries: In any order.
    """
    if entries.weights is None:
        return np.ones(entries.rows.size, dtype=np.float32)
    return entries.weights


def narrowed(weights: NDArray[Any]) -> tuple[Weights, NDArray[np.bool_]]:
    """Weights as they are kept, and which of them can count: those positive and finite then.

    >>> narrowed(np.array([2.0, 0.0, 1e39]))[1].tolist()
    [True, False, False]
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        narrow = weights.astype(np.float32)
        return narrow, (narrow > 0) & np.isfinite(narrow)


def both_ways(
    source: IntArray,
    target: IntArray,
    weights: Weights | None = None,
    directions: Directions | None = None,
) -> Entries:
    """Return the entries of edges, each given once or more often; loops are dropped."""
    kept = source != target
    source, target = source[kept], target[kept]
    rows, columns = np.concatenate((source, target)), np.concatenate((target, source))
    weights = None if weights is None else np.tile(weights[kept].astype(np.float32), 2)
    if directions is not None:
        seen = directions[kept]
        directions = np.concatenate((seen, _turned(seen)))
    return Entries(rows, columns, weights, directions)


def _turned(directions: Directions) -> Directions:
    swapped = ((directions & OUT) << 1) | ((directions & IN) >> 1)
    return swapped.astype(np.uint8)


def compressed(
    entries: Entries, num_rows: int, num_columns: int | None = None, *, summed: bool = False
) -> tuple[IntArray, IntArray, Weights | None, Directions | None]:
    """Return row ends, columns, weights and directions in CSR order, every entry once.

    Of repeated entries the largest weight counts, so that an edge may be told twice, and the edge
    leads every way that one of them does.

    Args:
        entries: In any order.
        num_rows: How many rows there are; all nodes, unless columns are counted apart.
        num_columns: How many columns; None for as many as rows.
        summed: Whether weights of repeated entries are added up instead.
    """
    rows, columns, weights, directions = entries
    num_nodes = num_rows if num_columns is None else num_columns
    if weights is None and directions is None and not summed:
        present = np.ones(rows.size, dtype=bool)
        matrix = csr_array(coo_array((present, (rows, columns)), (num_rows, num_nodes)))
        matrix.sort_indices()
        kind = index_type(max(num_nodes, matrix.nnz))
        ends, joined = matrix.indptr.astype(kind, copy=False), matrix.indices
        return ends, joined.astype(kind, copy=False), None, None
    # Every node that is a column is a row, too.
    if rows.size and not 0 <= rows.min() <= rows.max() < num_rows:
        raise ValueError(f"edges name nodes that are not among {num_rows}")
    rows, columns, weights, directions = distinct(entries, summed=summed)
    ends = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=num_rows))))
    kind = index_type(max(num_nodes, rows.size))
    return ends.astype(kind), columns.astype(kind), weights, directions


def distinct(entries: Entries, *, summed: bool = False) -> Entries:
    """Return every entry once, row by row, columns ascending.

    Args:
        entries: In any order.
    """
    rows, columns, weights, directions = entries
    order = np.lexsort((columns, rows))
    rows, columns = rows[order], columns[order]
    new = np.ones(rows.size, dtype=bool)
    new[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
    first = np.flatnonzero(new)
    if weights is not None:
        joining = np.add if summed else np.maximum
        weights = joining.reduceat(weights[order], first) if first.size else weights
    if directions is not None:
        directions = np.bitwise_or.reduceat(directions[order], first) if first.size else directions
    return Entries(rows[first], columns[first], weights, directions)


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
