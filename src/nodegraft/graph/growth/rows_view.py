"""View of a graph with rows that are not stored in it: no stored node sees them, nor each other.

A row has its own features and edges to nodes of the graph. A neighbour would have one more edge if
the graph had grown by the row alone: so each row has copies of its neighbours (twins), with this
edge. Up to two hops, S^h X of a row is then what it would be after growth, while nothing that was
derived from the graph changes. All that the view makes is dropped with it.
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
"""Neighbours with more edges have no twin: one edge more hardly changes what they spread."""


@dataclass(frozen=True)
class NewRows:
    """Rows to look at beside a graph: features, and edges to nodes of the graph."""

    names: list[Key]
    """What each row is called in results."""

    features: Matrix | None
    """One row of numbers for each; None where the graph has no features."""

    edges: Mapping[str, Entries]
    """Edge type -> for each edge the place of the row, and the graph's row that it leads to."""

    notes: tuple[str, ...] = ()
    """Sentences about values that are treated as missing."""


class RowKeys(GrownKeys):
    """Keys of a graph, and rows behind them that cannot be looked up."""

    def find(self, keys: "list[Key] | KeyArray") -> NDArray[np.int64]:  # type: ignore[override]
        """Return row numbers of keys, -1 for unknown keys."""
        return self.base.find(keys)


class RowsView(GraphView):
    """A graph with rows that are not stored in it.

    Args:
        base: The whole graph, perhaps with weighted edge types.
        store: The graph with the rows behind its nodes.
        names: What each row is called in results.
        notes: Sentences about values that are treated as missing.
    """

    def __init__(
        self, base: GraphView, store: MemoryStore, names: list[Key], notes: tuple[str, ...] = ()
    ) -> None:
        super().__init__(store, weights=base._weights)
        self.base = base
        """The graph without the rows."""
        self._own = store
        self._cache: _RowsCache = _RowsCache(base._cache, store, base._weights)
        self.names = names
        """What each row is called in results."""
        self.notes = notes
        """Sentences about values that are treated as missing."""
        self.derived = Memo[Any]()
        """What models derive for these rows; it is dropped with them."""

    @classmethod
    def of(cls, graph: GraphView, new: NewRows) -> "RowsView":
        """Return the view of a graph with some rows."""
        before, count = graph._store, len(new.names)
        # Placeholders of the graph's key type: methods may hash them, and nobody looks them up.
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
        """Row numbers of the rows."""
        return np.arange(self.base.num_nodes, self.num_nodes)

    def weighing(self, weights: Mapping[str, float]) -> "RowsView":
        """Return the same rows beside the graph with weighted edge types."""
        base = self.base.weighing(weights)
        return self if base is self.base else RowsView(base, self._own, self.names, self.notes)

    def _features_at(self, positions: IntArray) -> Matrix:
        return self._cache.features_at(positions)

    def neighbour_means(self) -> tuple["csr_array[np.float32]", IntArray]:
        """Return how much each neighbour counts in the mean of a row's neighbours, and these.

        Neighbours that have no edges without the row do not count: what they would have comes from
        the row. Rows of the matrix add up to 1; of a row without other neighbours, to 0.
        """
        counts, found, weights = self.weighted_neighbours(self.new_rows)
        has_edges = self._cache.has_edges(found)
        owners = np.repeat(np.arange(counts.size), counts)[has_edges]
        nodes, places = np.unique(found[has_edges], return_inverse=True)
        values = np.ones(places.size) if weights is None else weights[has_edges].astype(np.float64)
        values = values / np.bincount(owners, values, counts.size)[owners]
        shape = counts.size, nodes.size
        return csr_array((values.astype(np.float32), (owners, places)), shape=shape), nodes


class _RowsCache(ViewCache):
    """Edges and propagated features with the rows; all of the graph's own comes from its cache."""

    def __init__(
        self, base: ViewCache, store: MemoryStore, weights: tuple[float, ...] | None
    ) -> None:
        super().__init__(store, None, False, weights)
        self._base = base

    def _visible_edges(self) -> Adjacency:
        return self._beside(self._base.adjacency, self._store.relations, self._weights)

    def has_edges(self, nodes: IntArray) -> NDArray[np.bool_]:
        """Return whether nodes of the graph have edges without the rows."""
        return self._base.adjacency.degrees(nodes) > 0

    @property
    def directed_edges(self) -> Adjacency:
        """Edges of types with a direction; of all types where none has one."""
        return self._beside(self._base.directed_edges, self._directed_types(), None)

    def _beside(
        self, before: Adjacency, names: Sequence[str], weights: tuple[float, ...] | None
    ) -> Adjacency:
        rows = np.arange(before.num_nodes, len(self._store.keys))
        entries = joined_rows(self._kinds(names), weights, rows)
        return with_rows_apart(before, rows, entries, len(self._store.keys))

    @cached_property
    def _twinned(self) -> tuple[Adjacency, IntArray]:
        """Edges with the twins behind the rows, and the node that each of these is a copy of."""
        base, nodes = self._base.adjacency, len(self._store.keys)
        own = rows_of(self.adjacency, np.arange(base.num_nodes, nodes))
        chosen = np.flatnonzero(base.degrees(own.columns) <= TWIN_DEGREE)
        owners, twins = own.rows[chosen], np.arange(nodes, nodes + chosen.size)
        pairs = owners * nodes + own.columns[chosen]

        def replaced(rows: IntArray, columns: IntArray) -> IntArray:
            """Return the columns, as twins where the row has one of them."""
            place = np.minimum(np.searchsorted(pairs, wanted := rows * nodes + columns), last)
            return np.where(pairs[place] == wanted, twins[place], columns)

        if not chosen.size:
            return self.adjacency, own.columns[chosen]
        last = chosen.size - 1
        theirs = base.entries_of(own.columns[chosen])
        weights = None
        if own.weights is not None:
            weights = own.weights, weights_of(theirs), own.weights[chosen]
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
        rows = np.arange(base.num_nodes, nodes + chosen.size)
        edges = with_rows_apart(base, rows, distinct(entries), nodes + chosen.size)
        return edges, own.columns[chosen]

    @property
    def spreading(self) -> Adjacency:
        """Edges that features are propagated along."""
        return self._twinned[0]

    def features_at(self, nodes: IntArray) -> Matrix:
        """Return feature rows of nodes, rows and twins."""
        stored, originals = len(self._store.keys), self._twinned[1]
        is_twin = nodes >= stored
        if is_twin.any():
            nodes = nodes.copy()
            nodes[is_twin] = originals[nodes[is_twin] - stored]
        return some_rows(self._store.feature_matrix, nodes)

    def _propagate(self, hops: int) -> PropagatedFeatures:
        return _RowPropagation(self, self._base.propagated(hops), hops)


class _RowPropagation(PropagatedFeatures):
    """Rows of X, SX, S²X … with new rows; those of stored nodes come from the graph's own."""

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
