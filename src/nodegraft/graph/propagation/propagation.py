"""X, SX, S²X … : features spread over the graph, with nothing to train."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from threading import RLock
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import vstack

from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.matrix import IntArray, Matrix, index_type, is_sparse, take_rows
from nodegraft.graph.edges.operator import multiply
from nodegraft.graph.edges.row_blocks import block_bounds, spread_rows, widened
from nodegraft.graph.growth.stacked import (
    StackedRows,
    Stored,
    holds_sparse,
    in_one_piece,
    rows_to_read,
)

KEPT_NUMBERS = 2**26
"""Of dense rows of one power so many numbers are kept: a quarter of a gigabyte."""

WORTH_ALL = 2
"""Once this part of a layer's rows was made, all are made: together they take less time."""


STALE, UNMADE = -1, -2
"""Instead of a place: the row was made, and is another now; it was never made."""

MOST_ROWS = 2
"""Rows that were replaced are dropped once so many are held for each that is in use."""


class KeptLayer:
    """A layer whose rows are made when somebody asks for them, and kept.

    Args:
        rows: What was worked out.
        places: Where in it each node's row is, or :data:`STALE`, or :data:`UNMADE`.
        most: No more rows are kept than so many; None for all.
    """

    def __init__(self, rows: Stored, places: IntArray, most: int | None = None) -> None:
        self._rows = rows if isinstance(rows, StackedRows) else StackedRows((rows,))
        self._places = places
        self._most = most

    @classmethod
    def of(cls, rows: Stored) -> "KeptLayer":
        """Return a complete layer."""
        return cls(rows, np.arange(rows.shape[0]))

    @classmethod
    def empty(cls, nodes: int, columns: int, most: int) -> "KeptLayer":
        """Return a layer of dense rows none of which is computed."""
        return cls(
            np.zeros((0, columns), dtype=np.float32),
            np.full(nodes, UNMADE, dtype=index_type(nodes)),
            most,
        )

    def num_missing(self, nodes: IntArray) -> int:
        """Return how many rows must be computed.

        Args:
            nodes: Node numbers, each once.
        """
        return int(np.count_nonzero(self._places[nodes] < 0))

    @property
    def stale(self) -> IntArray:
        """The nodes whose rows must be made anew."""
        return np.flatnonzero(self._places == STALE)

    def grown(self, changed: NDArray[np.bool_]) -> "KeptLayer":
        """Return the layer of a graph that has grown.

        Args:
            changed: Of every node it has now, whether its row is another.
        """
        new = np.full(changed.size - self._places.size, STALE, dtype=self._places.dtype)
        places = np.concatenate((self._places, new))
        others = np.flatnonzero(changed)
        places[others[places[others] != UNMADE]] = STALE
        if self._rows.shape[0] <= MOST_ROWS * np.count_nonzero(places >= 0):
            return KeptLayer(self._rows, places, self._most)
        held = np.flatnonzero(places >= 0)
        rows = self._rows.take(places[held])
        places[held] = np.arange(held.size)
        return KeptLayer(rows, places, self._most)

    def take(self, nodes: IntArray, make: Callable[[IntArray], Matrix]) -> Matrix:
        """Return the rows of some nodes.

        Args:
            nodes: Node numbers, each once and ascending.
        """
        missing = nodes[self._places[nodes] < 0]
        if missing.size:
            first = self._rows.shape[0]
            last = first + missing.size
            if self._most is not None and last > self._most:
                return make(nodes)
            self._rows = self._rows.with_rows(make(missing))
            self._places[missing] = np.arange(first, last)
        return rows_to_read(self._rows, self._places[nodes])


class LayersOnDisk(Protocol):
    """Whole products with powers of S, each there or not."""

    def layer(self, power: int) -> Matrix | None:
        """Return the product with one power; None until it is complete.

        Args:
            power: At least 1.
        """


class PropagatedFeatures:
    r"""Answers for rows of :math:`X, SX, \dots, S^h X` with :math:`S` the normalised adjacency.

    A row is made from those of its neighbours; which others are made with it changes no bit. As
    long as few rows are asked for, only they are made; dense ones are kept. Once many have been,
    the whole product is computed, block by block, and kept. But the last one never is: of dense
    features the rows that were made are kept; with sparse ones each hop makes rows fuller.

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
        self._some: dict[int, KeptLayer] = {}
        self._grown: frozenset[int] = frozenset()
        """Powers that were kept as a whole when the graph grew, of which most still holds."""
        self._made = [0] * (hops + 1)
        self._lock = RLock()

    def rows(self, nodes: IntArray) -> list[Matrix]:
        """Return a matrix for each power of S, rows in the order asked."""
        powers = range(self._hops + 1)
        if nodes.size < 2 or (np.diff(nodes) > 0).all():
            return [self._power(power, nodes) for power in powers]
        targets, place = np.unique(nodes, return_inverse=True)
        return [take_rows(self._power(power, targets), place) for power in powers]

    def _power(self, power: int, nodes: IntArray) -> Matrix:
        """Return rows of one power, for distinct ascending nodes."""
        if self._is_kept(power):
            return rows_to_read(self._kept[power], nodes)
        with self._lock:
            layer = self._some_of(power)
            missing = nodes.size if layer is None else layer.num_missing(nodes)
            self._made[power] += missing
            if missing and self._is_worth_keeping(power):
                return rows_to_read(self._whole(power), nodes)
            if layer is not None:
                return layer.take(nodes, lambda some: self._hop(power, some))
        return self._hop(power, nodes)

    def _some_of(self, power: int) -> KeptLayer | None:
        """Return the cached part of a layer that is incomplete; None for sparse rows, which are too
        large."""
        first = self._kept[0]
        if power not in self._some and not holds_sparse(first):
            nodes, columns = first.shape
            most = KEPT_NUMBERS // max(columns, 1)
            self._some[power] = KeptLayer.empty(nodes, columns, most)
        return self._some.get(power)

    def _is_worth_keeping(self, power: int) -> bool:
        if power == self._hops or power in self._grown:
            return False
        # Who makes rows again and again could have had all of them for that.
        share = 1 if holds_sparse(self._kept[0]) else WORTH_ALL
        return share * self._made[power] >= self._adjacency.num_nodes

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
        """Return the features of a graph that has grown; of cached layers only changed rows are
        recomputed.

        Args:
            changed: From a power to whether each node's row of it is another.
        """
        child = PropagatedFeatures(adjacency, features, self._hops)
        with self._lock:
            child._made = list(self._made)
            whole = {power: KeptLayer.of(layer) for power, layer in self._kept.items() if power}
            layers = {**self._some, **whole}
            child._some = {power: layer.grown(changed(power)) for power, layer in layers.items()}
            child._grown = self._grown | whole.keys()
        return child

    def refresh(self, most: int) -> int:
        """Recompute stale rows of cached layers, the lowest power first; return their number."""
        made = 0
        for power in sorted(self._some):
            with self._lock:
                layer = self._some.get(power)
                if layer is None:
                    # Another thread has computed the whole layer meanwhile.
                    continue
                some = layer.stale[: most - made]
                if some.size:
                    # Unlike a read, a refresh is no reason to compute the whole layer.
                    layer.take(some, partial(self._hop, power))
                    # One that is full keeps no more of them.
                    made += some.size - layer.num_missing(some)
        return made

    def _whole(self, power: int) -> Stored:
        with self._lock:
            if power in self._grown:
                return self._power(power, np.arange(self._adjacency.num_nodes))
            if not self._is_kept(power):
                self._kept[power] = self._spread(in_one_piece(self._whole(power - 1)))
                self._some.pop(power, None)
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
