"""X, SX, S²X … : features spread over the graph, with nothing to train."""

import numpy as np
from scipy.sparse import vstack

from nodegraft.graph.algebra.adjacency import Adjacency
from nodegraft.graph.algebra.matrix import IntArray, Matrix, is_sparse, take_rows
from nodegraft.graph.algebra.operator import multiply

BLOCK_ROWS = 65_536


class PropagatedFeatures:
    r"""Answers for rows of :math:`X, SX, \dots, S^h X` with :math:`S` the normalised adjacency.

    All but the last product are computed once, block by block. The last is the largest (with
    sparse features each hop makes rows fuller) and is only formed for the rows that are asked
    for, from those of their neighbours.

    >>> pair = Adjacency.from_edges(np.array([0]), np.array([1]), 2)
    >>> propagated = PropagatedFeatures(pair, np.array([[2.0], [4.0]]), hops=1)
    >>> propagated.rows(np.array([0, 1]))[1].round(3).tolist()
    [[3.0], [3.0]]

    Args:
        adjacency: The edges.
        features: One row per node (:math:`X`).
        hops: The largest power of :math:`S`.
    """

    def __init__(self, adjacency: Adjacency, features: Matrix, hops: int) -> None:
        self._adjacency = adjacency
        self._layers = [features]
        for _ in range(hops - 1):
            self._layers.append(self._spread(self._layers[-1]))
        self._hops = hops

    def _spread(self, layer: Matrix) -> Matrix:
        count = self._adjacency.num_nodes
        blocks = [
            self._next(layer, np.arange(start, min(start + BLOCK_ROWS, count)))
            for start in range(0, count, BLOCK_ROWS)
        ]
        if is_sparse(layer):
            return vstack(blocks, format="csr")
        return np.concatenate(blocks)

    def _next(self, layer: Matrix, targets: IntArray) -> Matrix:
        matrix, sources = self._adjacency.hop(targets)
        return multiply(matrix, take_rows(layer, sources))

    def rows(self, nodes: IntArray) -> list[Matrix]:
        """One matrix per power of S, rows in the order asked.

        Args:
            nodes: Node numbers.
        """
        taken = [take_rows(layer, nodes) for layer in self._layers]
        if self._hops:
            targets, place = np.unique(nodes, return_inverse=True)
            taken.append(take_rows(self._next(self._layers[-1], targets), place))
        return taken
