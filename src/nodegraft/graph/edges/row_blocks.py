"""Compute products in blocks of rows, so that memory does not depend on the size of the graph."""

from bisect import bisect_right

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.matrix import Matrix, check_matrix, is_sparse, nbytes
from nodegraft.graph.edges.operator import multiply

BLOCK_BYTES = 1 << 26
"""Default memory limit of a block in bytes. It is approximate, because a row is never split."""

ENTRY_BYTES = 48
"""Memory in bytes for each adjacency entry of a block while the block is computed."""


def block_bounds(
    adjacency: Adjacency, features: Matrix, block_bytes: int | None = None
) -> list[int]:
    """Divide rows into blocks of limited memory; return the bounds of the blocks.

    The bounds are the first row of each block, then the number of nodes.

    >>> star = Adjacency.from_edges(np.zeros(9, dtype=int), np.arange(1, 10), 10)
    >>> block_bounds(star, np.zeros((10, 2)), 320)
    [0, 1, 4, 7, 10]

    Args:
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
    """Return the memory in bytes for each output row, and for each adjacency entry."""
    if is_sparse(features):
        # Assume the worst case: an output row has all non-zero entries of its neighbours.
        return 0, ENTRY_BYTES + nbytes(features) // max(1, features.shape[0])
    return 4 * int(features.shape[1]), ENTRY_BYTES


def spread_rows(
    adjacency: Adjacency, roots: NDArray[np.float32], layer: Matrix, start: int, stop: int
) -> Matrix:
    """Return consecutive rows of ``S @ layer``; block bounds do not change their values.

    Args:
        layer: Matrix with one row per node, from :func:`widened`; it may be mapped from disk.
    """
    return multiply(adjacency.rows_between(start, stop, roots), layer)


def widened(layer: Matrix) -> Matrix:
    """Convert a dense matrix to float32 once, instead of in every block.

    A sparse matrix is returned unchanged; if it is mapped from a file, its numbers are checked.
    """
    check_matrix(layer)
    return layer if is_sparse(layer) else np.asarray(layer, dtype=np.float32)
