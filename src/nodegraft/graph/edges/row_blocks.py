"""Products in blocks of rows, whose memory does not depend on the size of the graph."""

from bisect import bisect_right

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.matrix import Matrix, check_matrix, is_sparse, nbytes
from nodegraft.graph.edges.operator import multiply

BLOCK_BYTES = 1 << 26
"""Approximate memory of a block in bytes; a single row is never divided."""

ENTRY_BYTES = 48
"""Memory in bytes for each entry of the adjacency while its block is computed."""


def block_bounds(
    adjacency: Adjacency, features: Matrix, block_bytes: int | None = None
) -> list[int]:
    """Return the first row of each block, followed by the number of nodes.

    Blocks with hubs have few rows. Results do not depend on the bounds of blocks.

    >>> star = Adjacency.from_edges(np.zeros(9, dtype=int), np.arange(1, 10), 10)
    >>> block_bounds(star, np.zeros((10, 2)), 320)
    [0, 1, 4, 7, 10]

    Args:
        adjacency: Edges of the graph.
        features: Matrix that is multiplied, with one row per node.
        block_bytes: Maximum memory of a block in bytes; None for :data:`BLOCK_BYTES`.
    """
    adjacency.check_offsets()
    ends, most = adjacency.indptr, block_bytes or BLOCK_BYTES
    row, entry = _costs(features)
    nodes = adjacency.num_nodes

    def cost(node: int) -> int:
        return (row + entry) * node + entry * int(ends[node])

    bounds = [0]
    while bounds[-1] < nodes:
        start = bounds[-1]
        fits = bisect_right(range(start + 1, nodes + 1), cost(start) + most, key=cost)
        bounds.append(start + max(1, fits))
    return bounds


def _costs(features: Matrix) -> tuple[int, int]:
    """Return the memory in bytes for each output row, and for each entry of the adjacency."""
    if is_sparse(features):
        # An output row may have all non-zero entries of its neighbours.
        return 0, ENTRY_BYTES + nbytes(features) // max(1, features.shape[0])
    return 4 * int(features.shape[1]), ENTRY_BYTES


def spread_rows(
    adjacency: Adjacency, roots: NDArray[np.float32], layer: Matrix, start: int, stop: int
) -> Matrix:
    """Return consecutive rows of ``S @ layer``; no bit of a row depends on the other rows.

    Args:
        adjacency: Edges of the graph.
        roots: :math:`D^{-1/2}` of all nodes.
        layer: Matrix with one row per node, from :func:`widened`; it may be mapped from disk.
        start: First row.
        stop: Row after the last one.
    """
    return multiply(adjacency.rows_between(start, stop, roots), layer)


def widened(layer: Matrix) -> Matrix:
    """Convert a dense matrix to float32 once, because each block would convert its neighbours
    again; a sparse matrix is returned unchanged. Numbers of a mapped matrix are checked.
    """
    check_matrix(layer)
    return layer if is_sparse(layer) else np.asarray(layer, dtype=np.float32)
