"""Entries of adjacency matrices: sort them in CSR order, merge duplicates, insert self loops."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from nodegraft.graph.edges.matrix import IntArray, index_type

OUT, IN = np.uint8(1), np.uint8(2)
"""Direction flags, as bits: OUT if an edge leads from row to column, IN if from column to row."""

Weights = NDArray[np.float32]
Directions = NDArray[np.uint8]


class Entries(NamedTuple):
    """Entries of an adjacency matrix as arrays.

    Every edge has an entry in the rows of both its nodes.
    """

    rows: IntArray
    """Row (node number) of each entry."""

    columns: IntArray
    """Column (node number of the neighbour) of each entry."""

    weights: Weights | None = None
    """Weight of each entry; None if all weights are 1."""

    directions: Directions | None = None
    """Direction flags of each entry: :data:`OUT`, :data:`IN` or both; None for undirected edges."""

    def select(self, places: NDArray[Any]) -> "Entries":
        """Return some of the entries.

        Args:
            places: Boolean mask of the entries, or their positions.
        """
        return Entries(*(None if part is None else part[places] for part in self))  # type: ignore[arg-type]


def row_offsets(rows: IntArray, num_rows: int) -> NDArray[np.int64]:
    """Return CSR offsets: the position of each row's first entry, then the number of entries.

    >>> row_offsets(np.array([0, 2, 2]), 3).tolist()
    [0, 1, 1, 3]

    Args:
        rows: Row of each entry, ascending.
    """
    return np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=num_rows))))


def weights_of(entries: Entries) -> Weights:
    """Return the weight of each entry; 1 for all entries if they have no weights."""
    if entries.weights is None:
        return np.ones(entries.rows.size, dtype=np.float32)
    return entries.weights


def narrowed(weights: NDArray[Any]) -> tuple[Weights, NDArray[np.bool_]]:
    """Convert weights to float32; also return a mask of the positive and finite weights.

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
    """Return two entries for each edge, one for each of its nodes.

    Duplicates remain, self loops are dropped.
    """
    source, target, weights, directions = Entries(source, target, weights, directions).select(
        source != target
    )
    rows, columns = np.concatenate((source, target)), np.concatenate((target, source))
    weights = None if weights is None else np.tile(weights.astype(np.float32), 2)
    if directions is not None:
        swapped = ((directions & OUT) << 1) | ((directions & IN) >> 1)
        directions = np.concatenate((directions, swapped.astype(np.uint8)))
    return Entries(rows, columns, weights, directions)


def compressed(
    entries: Entries, num_rows: int, num_columns: int | None = None, *, summed: bool = False
) -> tuple[IntArray, IntArray, Weights | None, Directions | None]:
    """Sort entries in CSR order; return offsets, columns, weights and directions.

    Duplicate entries get the largest of their weights and all of their directions.

    Args:
        num_columns: Number of columns; None for ``num_rows``.
        summed: Whether duplicate entries get the sum of their weights instead.
    """
    rows, columns, weights, directions = entries
    num_nodes = num_rows if num_columns is None else num_columns
    if weights is None and directions is None and not summed:
        present = np.ones(rows.size, dtype=bool)
        matrix = csr_array(coo_array((present, (rows, columns)), (num_rows, num_nodes)))
        matrix.sort_indices()
        kind = index_type(max(num_nodes, matrix.nnz))
        ends, indices = matrix.indptr.astype(kind, copy=False), matrix.indices
        return ends, indices.astype(kind, copy=False), None, None
    # Check only rows, because every column also occurs as a row.
    if rows.size and not 0 <= rows.min() <= rows.max() < num_rows:
        raise ValueError(f"edges name nodes that are not among {num_rows}")
    rows, columns, weights, directions = distinct(entries, summed=summed)
    ends = row_offsets(rows, num_rows)
    kind = index_type(max(num_nodes, rows.size))
    return ends.astype(kind), columns.astype(kind), weights, directions


def distinct(entries: Entries, *, summed: bool = False) -> Entries:
    """Merge duplicate entries; return entries sorted by row and column.

    Args:
        summed: Whether weights of duplicate entries are summed; otherwise the largest is taken.
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
    """Rows of the matrix A + I in CSR format, with ascending columns in each row."""

    indptr: NDArray[np.int64]
    """Offset of the first entry of each row, followed by the number of entries."""

    columns: IntArray
    """Columns of the entries, row by row: the row's neighbours and the row's own node."""

    loops: NDArray[np.int64]
    """Position of each row's self loop in ``columns``."""

    is_edge: NDArray[np.bool_]
    """Whether each entry is an edge to a neighbour; False for self loops."""


def with_loops(targets: IntArray, counts: IntArray, neighbours: IntArray) -> LoopedRows:
    """Insert a self loop into every row.

    >>> rows = with_loops(np.array([1, 4]), np.array([2, 1]), np.array([0, 2, 1]))
    >>> rows.columns.tolist(), rows.indptr.tolist()
    ([0, 1, 2, 1, 4], [0, 3, 5])

    Args:
        neighbours: Neighbours of all rows, row by row and ascending within a row.
    """
    starts = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
    smaller = np.zeros(neighbours.size + 1, dtype=np.int64)
    own = targets.astype(neighbours.dtype, copy=False)
    np.cumsum(neighbours < np.repeat(own, counts), out=smaller[1:])
    indptr = starts + np.arange(starts.size)
    loops = indptr[:-1] + smaller[starts[1:]] - smaller[starts[:-1]]
    is_edge = np.ones(indptr[-1], dtype=bool)
    is_edge[loops] = False
    columns = np.empty(is_edge.size, dtype=neighbours.dtype)
    columns[loops] = own
    columns[is_edge] = neighbours
    return LoopedRows(indptr, columns, loops, is_edge)


def normalised_values(
    rows: LoopedRows, columns: IntArray, roots: NDArray[np.float32], weights: Weights | None
) -> NDArray[np.float32]:
    """Return the value of each entry of the normalised adjacency.

    Args:
        columns: Column of each entry, as a position in ``roots``.
        roots: :math:`D^{-1/2}`: inverse square root of the degree of each column's node.
    """
    # Use np.take, because it is twice as fast as indexing with an array.
    values: NDArray[np.float32] = np.take(roots, columns)
    values *= np.repeat(values[rows.loops], np.diff(rows.indptr))
    if weights is not None:
        values[rows.is_edge] *= weights
    return values
