"""View of a graph with extra rows, which are not stored in the graph and do not affect its nodes.

Rows do not affect each other. If a row were a node of the graph, each of its neighbours would have
one more edge. So each row gets copies of its neighbours, called twins, which have this edge. For up
to two hops, S^h X of a row then has the same value as if the row were added to the graph, and all
caches of the graph stay valid. Data that the view computes is freed when the view is deleted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.base.memo import Memo
from nodegraft.graph.cache import ViewCache
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.entries import Entries, distinct, weights_of
from nodegraft.graph.edges.matrix import IntArray, Matrix
from nodegraft.graph.growth.growing import GrownKeys, with_feature_rows
from nodegraft.graph.growth.grown import joined_rows, rows_of, with_rows_apart
from nodegraft.graph.growth.stacked import below, some_rows
from nodegraft.graph.keys import Key, KeyArray, NodeKeys
from nodegraft.graph.propagation.propagation import PropagatedFeatures
from nodegraft.graph.stores import MemoryStore
from nodegraft.graph.view import GraphView

TWIN_DEGREE = 256
"""Maximum number of edges of a node that gets a twin; above it, a twin has hardly any effect."""


@dataclass(frozen=True)
class NewRows:
    """Extra rows that are not stored in a graph: names, features, and edges to its nodes."""

    names: list[Key]
    """Name of each extra row in results."""

    features: Matrix | None
    """Feature matrix with one row per extra row; None if the graph has no features."""

    edges: Mapping[str, Entries]
    """Edges by edge type. The row of an entry is the position of the extra row in :attr:`names`;
    its column is the row number of a node of the graph.
    """

    notes: tuple[str, ...] = ()
    """Sentences about missing or invalid values in the rows, for the user."""


class RowKeys(GrownKeys):
    """Keys of a graph followed by placeholder keys of extra rows.

    Placeholders cannot be looked up.
    """

    def find(self, keys: "list[Key] | KeyArray") -> NDArray[np.int64]:  # type: ignore[override]
        """Return the row numbers of keys; -1 for unknown keys."""
        return self.base.find(keys)


class RowsView(GraphView):
    """View of a graph with extra rows that are not stored in it.

    Args:
        base: Whole graph, possibly with weighted edge types.
        store: Store with the nodes of the graph followed by the extra rows.
        names: Name of each extra row in results.
        notes: Sentences about missing or invalid values in the rows, for the user.
    """

    def __init__(
        self, base: GraphView, store: MemoryStore, names: list[Key], notes: tuple[str, ...] = ()
    ) -> None:
        super().__init__(store, weights=base._weights)
        self.base = base
        """Graph without the extra rows."""
        self._own = store
        self._cache: _RowsCache = _RowsCache(base._cache, store, base._weights)
        self.names = names
        """Name of each extra row in results."""
        self.notes = notes
        """Sentences about missing or invalid values in the rows, for the user."""
        self.derived = Memo[Any]()
        """Cache of data that models compute for the extra rows; it is freed with the view."""

    @classmethod
    def of(cls, graph: GraphView, new: NewRows) -> "RowsView":
        """Create a view of a graph with extra rows.

        Args:
            graph: Whole graph, possibly with weighted edge types.
        """
        before, count = graph._store, len(new.names)
        # Placeholders have the type of the graph's keys, because methods may hash keys. They are
        # never looked up.
        own = [f"row {place}" for place in range(count)] if before.keys.is_text else range(count)
        keys = RowKeys(before.keys, NodeKeys(list(own)))
        features = before.feature_matrix
        if new.features is not None:
            features = with_feature_rows(features, new.features, count)
        rows = np.arange(graph.num_nodes, graph.num_nodes + count)
        nobody = Entries(rows[:0], rows[:0])
        edges = {
            name: _with_entries(before.adjacency(name), rows, new.edges.get(name, nobody))
            for name in before.relations
        }
        return cls(graph, MemoryStore(keys, features, edges, before.recipe), new.names, new.notes)

    @property
    def new_rows(self) -> NDArray[np.int64]:
        """Row numbers of the extra rows."""
        return np.arange(self.base.num_nodes, self.num_nodes)

    def weighing(self, weights: Mapping[str, float]) -> "RowsView":
        """Return a view of these extra rows and the graph, with the given weights of edge types."""
        base = self.base.weighing(weights)
        return self if base is self.base else RowsView(base, self._own, self.names, self.notes)

    def _features_at(self, positions: IntArray) -> Matrix:
        return self._cache.features_at(positions)

    def neighbour_means(self) -> tuple["csr_array[np.float32]", IntArray]:
        """Return weights for the mean over each extra row's neighbours, and these neighbours.

        A neighbour without edges in the stored graph gets no weight, because it could have values
        only from the extra row itself. The weights for an extra row add up to 1, or to 0 if no
        neighbour has a weight.
        """
        counts, neighbours, weights = self.weighted_neighbours(self.new_rows)
        has_edges = self._cache.has_edges(neighbours)
        owners = np.repeat(np.arange(counts.size), counts)[has_edges]
        nodes, places = np.unique(neighbours[has_edges], return_inverse=True)
        values = np.ones(places.size) if weights is None else weights[has_edges].astype(np.float64)
        values = values / np.bincount(owners, values, counts.size)[owners]
        shape = counts.size, nodes.size
        return csr_array((values.astype(np.float32), (owners, places)), shape=shape), nodes


class _RowsCache(ViewCache):
    """Cache of a graph with extra rows, based on the cache of the graph."""

    def __init__(
        self, base: ViewCache, store: MemoryStore, weights: tuple[float, ...] | None
    ) -> None:
        super().__init__(store, None, False, weights)
        self._base = base

    def _visible_edges(self) -> Adjacency:
        return self._beside(self._base.adjacency, self._store.relations, self._weights)

    def has_edges(self, nodes: IntArray) -> NDArray[np.bool_]:
        """Return whether nodes have any edge in the graph without the extra rows."""
        return self._base.adjacency.degrees(nodes) > 0

    @property
    def directed_edges(self) -> Adjacency:
        """Edges of all directed edge types, merged, including those of extra rows.

        If no edge type is directed, these are the edges of all types.
        """
        return self._beside(self._base.directed_edges, self._directed_types(), None)

    def _beside(
        self, before: Adjacency, names: Sequence[str], weights: tuple[float, ...] | None
    ) -> Adjacency:
        rows = np.arange(before.num_nodes, len(self._store.keys))
        entries = joined_rows(self._kinds(names), weights, rows)
        return with_rows_apart(before, rows, entries, len(self._store.keys))

    @cached_property
    def _twinned(self) -> tuple[Adjacency, IntArray]:
        """Adjacency of stored nodes, extra rows and twins, and the original node of each twin."""
        base, nodes = self._base.adjacency, len(self._store.keys)
        own = rows_of(self.adjacency, np.arange(base.num_nodes, nodes))
        slots = np.flatnonzero(base.degrees(own.columns) <= TWIN_DEGREE)
        owners, twins = own.rows[slots], np.arange(nodes, nodes + slots.size)
        pairs = owners * nodes + own.columns[slots]

        def replaced(rows: IntArray, columns: IntArray) -> IntArray:
            """Replace each column by the extra row's twin of that node, if there is one."""
            place = np.minimum(np.searchsorted(pairs, pair := rows * nodes + columns), last)
            return np.where(pairs[place] == pair, twins[place], columns)

        if not slots.size:
            return self.adjacency, own.columns[slots]
        last = slots.size - 1
        theirs = base.entries_of(own.columns[slots])
        weights = None
        if own.weights is not None:
            weights = own.weights, weights_of(theirs), own.weights[slots]
        entries = Entries(
            np.concatenate((own.rows, twins[theirs.rows], twins)),
            np.concatenate(
                (
                    replaced(own.rows, own.columns),
                    replaced(owners[theirs.rows], theirs.columns),
                    owners,
                )
            ),
            None if weights is None else np.concatenate(weights),
        )
        rows = np.arange(base.num_nodes, nodes + slots.size)
        edges = with_rows_apart(base, rows, distinct(entries), nodes + slots.size)
        return edges, own.columns[slots]

    @property
    def spreading(self) -> Adjacency:
        """Edges along which features are propagated, including those of twins."""
        return self._twinned[0]

    def features_at(self, nodes: IntArray) -> Matrix:
        """Return the features of stored nodes, extra rows and twins, given by their numbers."""
        stored, originals = len(self._store.keys), self._twinned[1]
        is_twin = nodes >= stored
        if is_twin.any():
            nodes = nodes.copy()
            nodes[is_twin] = originals[nodes[is_twin] - stored]
        return some_rows(self._store.feature_matrix, nodes)

    def _propagate(self, hops: int) -> PropagatedFeatures:
        return _RowPropagation(self, self._base.propagated(hops), hops)


class _RowPropagation(PropagatedFeatures):
    """Propagated features of extra rows, based on the graph's cache for stored nodes."""

    def __init__(self, cache: _RowsCache, base: PropagatedFeatures, hops: int) -> None:
        super().__init__(cache.spreading, cache._store.feature_matrix, hops)
        self._cache, self._base = cache, base

    def _power(self, power: int, nodes: IntArray) -> Matrix:
        if power == 0:
            return self._cache.features_at(nodes)
        old, new = np.split(nodes, [np.searchsorted(nodes, self._base._adjacency.num_nodes)])
        if not new.size:
            return self._base._power(power, old)
        rows = self._hop(power, new)
        return below(self._base._power(power, old), rows) if old.size else rows


def _with_entries(edges: Adjacency, rows: IntArray, new: Entries) -> Adjacency:
    entries = distinct(new._replace(rows=rows[new.rows]))
    return with_rows_apart(edges, rows, entries, edges.num_nodes + rows.size)
