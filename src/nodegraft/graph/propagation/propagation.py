"""Propagated features X, SX, S²X …, with S the normalised adjacency and X the features."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from threading import RLock

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import vstack

from nodegraft.graph.disk.blocks.operator_folder import OperatorFolder
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

MOST_CACHED_NUMBERS = 2**26
"""Maximum size of the cache of single dense rows, for each power of S, in numbers (256 MiB)."""

WORTH_ALL = 2
"""A dense layer is computed as a whole once 1/WORTH_ALL of its rows were computed."""


STALE, NOT_COMPUTED = -1, -2
"""Markers for rows that are not in the cache: STALE if outdated, NOT_COMPUTED if never computed."""

MOST_ROWS = 2
"""Outdated rows are removed when a layer stores more than MOST_ROWS rows for each valid row."""


class CachedLayer:
    """Layer of propagated features; a row is computed and cached when it is first read.

    Args:
        rows: Cached rows.
        places: Position in `rows` of each node's row; :data:`STALE` or :data:`NOT_COMPUTED`
            for nodes without a cached row.
        most: Maximum number of cached rows; None for no limit.
    """

    def __init__(self, rows: Stored, places: IntArray, most: int | None = None) -> None:
        self._rows = rows if isinstance(rows, StackedRows) else StackedRows((rows,))
        self._places = places
        self._most = most

    @classmethod
    def of(cls, rows: Stored) -> "CachedLayer":
        """Create a layer whose rows are all cached."""
        return cls(rows, np.arange(rows.shape[0]))

    @classmethod
    def empty(cls, nodes: int, columns: int, most: int) -> "CachedLayer":
        """Create a dense layer without cached rows."""
        return cls(
            np.zeros((0, columns), dtype=np.float32),
            np.full(nodes, NOT_COMPUTED, dtype=index_type(nodes)),
            most,
        )

    def num_missing(self, nodes: IntArray) -> int:
        """Return the number of given nodes that have no valid cached row."""
        return int(np.count_nonzero(self._places[nodes] < 0))

    @property
    def stale(self) -> IntArray:
        """Nodes whose cached rows have changed and must be recomputed, ascending."""
        return np.flatnonzero(self._places == STALE)

    def grown(self, changed: NDArray[np.bool_]) -> "CachedLayer":
        """Return the layer after growth of the graph, in which changed rows are marked as stale.

        Args:
            changed: Whether the row of each node has changed, for all nodes after growth.
        """
        new = np.full(changed.size - self._places.size, STALE, dtype=self._places.dtype)
        places = np.concatenate((self._places, new))
        others = np.flatnonzero(changed)
        places[others[places[others] != NOT_COMPUTED]] = STALE
        if self._rows.shape[0] <= MOST_ROWS * np.count_nonzero(places >= 0):
            return CachedLayer(self._rows, places, self._most)
        known = np.flatnonzero(places >= 0)
        rows = self._rows.take(places[known])
        places[known] = np.arange(known.size)
        return CachedLayer(rows, places, self._most)

    def take(self, nodes: IntArray, make: Callable[[IntArray], Matrix]) -> Matrix:
        """Return the rows of the given nodes; compute missing rows.

        Computed rows are cached unless the cache is full.

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


class PropagatedFeatures:
    r"""Rows of :math:`X, SX, \dots, S^h X` with :math:`S` the normalised adjacency, with a cache.

    A row is computed from the rows of its neighbours. The result is the same to the last bit for
    every batch. As long as only a few rows are read, only these are computed; dense rows are
    cached. When many rows of a layer were computed, the whole layer is computed in blocks and
    cached. The last layer is never computed as a whole: its dense rows are cached one by one, its
    sparse rows are not cached because each hop adds non-zero entries.

    >>> pair = Adjacency.from_edges(np.array([0]), np.array([1]), 2)
    >>> propagated = PropagatedFeatures(pair, np.array([[2.0], [4.0]]), hops=1)
    >>> propagated.rows(np.array([0, 1]))[1].round(3).tolist()
    [[3.0], [3.0]]

    Args:
        adjacency: Edges along which features are propagated.
        features: Feature matrix :math:`X` with one row per node.
        hops: Largest power of :math:`S`.
        on_disk: Layers on disk, which are used if they are complete; None if there are none.
    """

    def __init__(
        self,
        adjacency: Adjacency,
        features: Stored,
        hops: int,
        on_disk: OperatorFolder | None = None,
    ) -> None:
        self._adjacency = adjacency
        self._hops = hops
        self._on_disk = on_disk
        self._layers: dict[int, Stored] = {0: features}
        self._row_caches: dict[int, CachedLayer] = {}
        self._grown_powers: frozenset[int] = frozenset()
        """Powers of S whose whole layer was cached when the graph grew."""
        self._num_computed = [0] * (hops + 1)
        self._lock = RLock()

    def rows(self, nodes: IntArray) -> list[Matrix]:
        """Return the rows of nodes in the given order, a matrix for each power of S."""
        powers = range(self._hops + 1)
        if nodes.size < 2 or (np.diff(nodes) > 0).all():
            return [self._power(power, nodes) for power in powers]
        targets, place = np.unique(nodes, return_inverse=True)
        return [take_rows(self._power(power, targets), place) for power in powers]

    def _power(self, power: int, nodes: IntArray) -> Matrix:
        """Return rows for one power of S; nodes must be distinct and ascending."""
        if self._is_cached(power):
            return rows_to_read(self._layers[power], nodes)
        with self._lock:
            layer = self._row_cache_of(power)
            missing = nodes.size if layer is None else layer.num_missing(nodes)
            self._num_computed[power] += missing
            if missing and self._is_worth_caching(power):
                return rows_to_read(self._whole(power), nodes)
            if layer is not None:
                return layer.take(nodes, lambda some: self._hop(power, some))
        return self._hop(power, nodes)

    def _row_cache_of(self, power: int) -> CachedLayer | None:
        """Return the cache of single rows for one power of S; None if rows are sparse."""
        first = self._layers[0]
        if power not in self._row_caches and not holds_sparse(first):
            nodes, columns = first.shape
            most = MOST_CACHED_NUMBERS // max(columns, 1)
            self._row_caches[power] = CachedLayer.empty(nodes, columns, most)
        return self._row_caches.get(power)

    def _is_worth_caching(self, power: int) -> bool:
        if power == self._hops or power in self._grown_powers:
            return False
        # Single sparse rows are not cached. So compute the whole layer when the number of computed
        # rows reaches the number of nodes.
        share = 1 if holds_sparse(self._layers[0]) else WORTH_ALL
        return share * self._num_computed[power] >= self._adjacency.num_nodes

    def _hop(self, power: int, nodes: IntArray) -> Matrix:
        matrix, sources = self._adjacency.hop(nodes)
        return multiply(matrix, self._power(power - 1, sources))

    def _is_cached(self, power: int) -> bool:
        if power not in self._layers and self._on_disk is not None:
            layer = self._on_disk.layer(power)
            if layer is not None:
                self._layers[power] = layer
        return power in self._layers

    def grown(
        self,
        adjacency: Adjacency,
        features: Stored,
        changed: Callable[[int], NDArray[np.bool_]],
    ) -> "PropagatedFeatures":
        """Return the propagated features after growth; unchanged rows stay cached.

        Args:
            changed: Function that takes a power of S and returns for each node whether its row has
                changed.
        """
        child = PropagatedFeatures(adjacency, features, self._hops)
        with self._lock:
            child._num_computed = list(self._num_computed)
            whole = {power: CachedLayer.of(layer) for power, layer in self._layers.items() if power}
            layers = {**self._row_caches, **whole}
            child._row_caches = {
                power: layer.grown(changed(power)) for power, layer in layers.items()
            }
            child._grown_powers = self._grown_powers | whole.keys()
        return child

    def refresh(self, most: int) -> int:
        """Recompute at most `most` rows that growth made stale; return their number."""
        count = 0
        for power in sorted(self._row_caches):
            with self._lock:
                layer = self._row_caches.get(power)
                if layer is None:
                    # Skip this power, because another thread has computed its whole layer in the
                    # meantime.
                    continue
                some = layer.stale[: most - count]
                if some.size:
                    # Do not compute the whole layer here, as a read would after many rows.
                    layer.take(some, partial(self._hop, power))
                    # Do not count rows that are still missing because the cache is full.
                    count += some.size - layer.num_missing(some)
        return count

    def _whole(self, power: int) -> Stored:
        with self._lock:
            if power in self._grown_powers:
                return self._power(power, np.arange(self._adjacency.num_nodes))
            if not self._is_cached(power):
                self._layers[power] = self._spread(in_one_piece(self._whole(power - 1)))
                self._row_caches.pop(power, None)
            return self._layers[power]

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
