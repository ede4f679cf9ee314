"""All rows in blocks: what one takes while it is computed does not depend on the graph's size."""

from bisect import bisect_right

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.matrix import Matrix, check_matrix, is_sparse, nbytes
from nodegraft.graph.edges.operator import multiply

BLOCK_BYTES = 1 << 26
"""About so much memory a block takes; a single row is never divided."""

ENTRY_BYTES = 48
"""What an entry of the adjacency takes while its block is computed."""


def block_bounds(
    adjacency: Adjacency, features: Matrix, block_bytes: int | None = None
) -> list[int]:
    """Return the first row of each block, followed by the number of nodes.

    Hubs make blocks of few rows. Nothing but time depends on where rows are divided.

    >>> star = Adjacency.from_edges(np.zeros(9, dtype=int), np.arange(1, 10), 10)
    >>> block_bounds(star, np.zeros((10, 2)), 320)
    [0, 1, 4, 7, 10]

    Args:
        block_bytes: How much memory a block may take; None for :data:`BLOCK_BYTES`.
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
    """Bytes for each row that comes out, and for each entry that goes into it."""
    if is_sparse(features):
        # A row that comes out may have whatever its neighbours have.
        return 0, ENTRY_BYTES + nbytes(features) // max(1, features.shape[0])
    return 4 * int(features.shape[1]), ENTRY_BYTES


def spread_rows(
    adjacency: Adjacency, roots: NDArray[np.float32], layer: Matrix, start: int, stop: int
) -> Matrix:
    """Consecutive rows of ``S @ layer``; a row has the same bits in whatever company.

    Args:
        layer: One row per node, as :func:`widened` gives it; it may be mapped from disk.
    """
    return multiply(adjacency.rows_between(start, stop, roots), layer)


def widened(layer: Matrix) -> Matrix:
    """Return all rows in single precision; conversion block by block would repeat work for each
    neighbour.
    """
    check_matrix(layer)
    return layer if is_sparse(layer) else np.asarray(layer, dtype=np.float32)
