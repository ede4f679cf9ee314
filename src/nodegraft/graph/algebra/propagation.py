"""X, SX, S²X … : features spread over the graph, with nothing to train."""

from collections.abc import Callable
from itertools import pairwise
from threading import RLock
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import vstack

from nodegraft.graph.algebra.adjacency import Adjacency
from nodegraft.graph.algebra.kept_layer import KeptLayer
from nodegraft.graph.algebra.matrix import IntArray, Matrix, is_sparse, take_rows
from nodegraft.graph.algebra.operator import multiply
from nodegraft.graph.algebra.row_blocks import block_bounds, spread_rows, widened
from nodegraft.graph.algebra.stacked import Stored, in_one_piece, some_rows


class LayersOnDisk(Protocol):
    """Whole products with powers of S, each there or not."""

    def layer(self, power: int) -> Matrix | None:
        """The product with one power, None as long as it is not complete.

        Args:
            power: At least 1.
        """


class PropagatedFeatures:
    r"""Answers for rows of :math:`X, SX, \dots, S^h X` with :math:`S` the normalised adjacency.

    A row is made from those of its neighbours; which others are made with it changes no bit. As
    long as few rows are asked for, only they are made. Once more have been made than there are
    nodes, the whole product is computed, block by block, and kept. The last is the largest (with
    sparse features each hop makes rows fuller) and is never kept in memory.

    >>> pair = Adjacency.from_edges(np.array([0]), np.array([1]), 2)
    >>> propagated = PropagatedFeatures(pair, np.array([[2.0], [4.0]]), hops=1)
    >>> propagated.rows(np.array([0, 1]))[1].round(3).tolist()
    [[3.0], [3.0]]

    Args:
        adjacency: The edges.
        features: One row per node (:math:`X`).
        hops: The largest power of :math:`S`.
        on_disk: Where whole products may lie already, the last one too; None for nowhere.
    """

    def __init__(
        self,
        adjacency: Adjacency,
        features: Stored,
        hops: int,
        on_disk: LayersOnDisk | None = None,
    ) -> None:
        self._adjacency = adjacency
        self._hops = hops
        self._on_disk = on_disk
        self._kept: dict[int, Stored] = {0: features}
        self._grown: dict[int, KeptLayer] = {}
        self._made = [0] * hops
        self._lock = RLock()

    def rows(self, nodes: IntArray) -> list[Matrix]:
        """One matrix per power of S, rows in the order asked.

        Args:
            nodes: Node numbers.
        """
        targets, place = np.unique(nodes, return_inverse=True)
        first = some_rows(self._kept[0], nodes)
        powers = range(1, self._hops + 1)
        return [first, *(take_rows(self._power(power, targets), place) for power in powers)]

    def _power(self, power: int, nodes: IntArray) -> Matrix:
        """Rows of one power, for nodes that come once each and ascending."""
        if power in self._grown:
            with self._lock:
                return self._grown[power].take(nodes, lambda some: self._hop(power, some))
        if self._is_kept(power) or self._is_worth_keeping(power, nodes.size):
            return some_rows(self._whole(power), nodes)
        return self._hop(power, nodes)

    def _hop(self, power: int, nodes: IntArray) -> Matrix:
        matrix, sources = self._adjacency.hop(nodes)
        return multiply(matrix, self._power(power - 1, sources))

    def _is_kept(self, power: int) -> bool:
        if power not in self._kept and self._on_disk is not None:
            layer = self._on_disk.layer(power)
            if layer is not None:
                self._kept[power] = layer
        return power in self._kept

    def grown(
        self,
        adjacency: Adjacency,
        features: Stored,
        changed: Callable[[int], NDArray[np.bool_]],
    ) -> "PropagatedFeatures":
        """The same of a graph that has grown: of kept layers only what changed is made anew.

        Args:
            adjacency: The edges now.
            features: One row per node.
            changed: From a power to whether each node's row of it is another.
        """
        child = PropagatedFeatures(adjacency, features, self._hops)
        with self._lock:
            child._made = list(self._made)
            whole = {power: KeptLayer.of(one) for power, one in self._kept.items() if power}
            layers = {**whole, **self._grown}
            child._grown = {power: one.grown(changed(power)) for power, one in layers.items()}
        return child

    def refresh(self, most: int) -> int:
        """Make stale rows of kept layers, the nearer layers first; how many.

        Args:
            most: At most so many.
        """
        made = 0
        for power in sorted(self._grown):
            with self._lock:
                some = self._grown[power].stale[: most - made]
            made += some.size
            if some.size:
                self._power(power, some)
        return made

    def _is_worth_keeping(self, power: int, rows: int) -> bool:
        # Whoever has made as many rows as there are could have had all of them for that.
        if power < self._hops:
            self._made[power] += rows
        return power < self._hops and self._made[power] >= self._adjacency.num_nodes

    def _whole(self, power: int) -> Stored:
        with self._lock:
            if power in self._grown:
                return self._power(power, np.arange(self._adjacency.num_nodes))
            if not self._is_kept(power):
                self._kept[power] = self._spread(in_one_piece(self._whole(power - 1)))
            return self._kept[power]

    def _spread(self, layer: Matrix) -> Matrix:
        roots, wide = self._adjacency.inverse_roots(), widened(layer)
        bounds = pairwise(block_bounds(self._adjacency, layer))
        blocks = (spread_rows(self._adjacency, roots, wide, *block) for block in bounds)
        if is_sparse(layer):
            return vstack(list(blocks), format="csr")
        whole, start = np.empty(layer.shape, dtype=np.float32), 0
        for block in blocks:
            whole[start : start + len(block)] = block
            start += len(block)
        return whole
