"""Visible part of a graph: the only graph object given to a method."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.base.errors import (
    GraphTooLargeError,
    HiddenNodeError,
    ParameterError,
    UnknownNodeError,
)
from nodegraft.base.measure import available_bytes
from nodegraft.base.memo import Memo
from nodegraft.graph.cache import ViewCache
from nodegraft.graph.disk.blocks.operator_folder import OperatorFolder
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.matrix import FloatArray, IntArray, Matrix, Rows, row_numbers
from nodegraft.graph.edges.operator import Neighbourhood, Operator
from nodegraft.graph.growth.growing import Growth
from nodegraft.graph.growth.stacked import holds_sparse, num_stored, some_rows
from nodegraft.graph.keys import Key, KeyArray, key_hashes
from nodegraft.graph.propagation.set_mass import DiffusionTable
from nodegraft.graph.stores import ArrayCache, GraphStore, Recipe


class GraphView:
    """The visible part of a graph. Degrees and normalisation count visible nodes only.

    Rows are those of the graph, so a node keeps its number from view to view; asking for a
    hidden one is an error. What is expensive is computed once, however many threads ask for it.

    Args:
        store: Where the whole graph lies.
        visible: The rows that may be seen; None for all.
        full_degrees: Whether normalisation counts hidden neighbours, too. That is a leak, for the
            published protocol only.
        weights: What each kind of edges is worth, in the order of its relations; None merges
            all kinds into one.
    """

    def __init__(
        self,
        store: GraphStore,
        visible: IntArray | None = None,
        full_degrees: bool = False,
        weights: tuple[float, ...] | None = None,
    ) -> None:
        self._store = store
        self._full_degrees = full_degrees
        self._weights = weights
        self._rows = None if visible is None else np.unique(row_numbers(visible))
        if self._rows is not None and self._rows.size:
            outside = self._rows[[0, -1]]
            outside = outside[(outside < 0) | (outside >= len(store.keys))]
            if outside.size:
                raise UnknownNodeError(outside.tolist(), self._rows.size)
        self._cache = ViewCache(store, self._rows, full_degrees, weights)
        self._weighed = Memo[GraphView](most=4)

    @property
    def _adjacency(self) -> Adjacency:
        return self._cache.adjacency

    def with_full_degrees(self) -> "GraphView":
        """Return the same nodes, normalised by degrees in the whole graph: a leak, and marked as
        one."""
        return GraphView(self._store, self._rows, full_degrees=True, weights=self._weights)

    @property
    def relations(self) -> tuple[str, ...]:
        """The names of the kinds of edges."""
        return self._store.relations

    def weighing(self, weights: Mapping[str, float]) -> "GraphView":
        r"""Return the same nodes joined by :math:`\sum_r w_r A_r`, with a weight for each edge
        type.

        Every other question to a view is about all kinds merged into one.

        Args:
            weights: What each kind is worth, by its name, at least 0.
        """
        chosen = tuple(float(weights[name]) for name in self.relations)
        if chosen == self._weights or (self._weights is None and chosen == (1.0,)):
            return self
        return self._weighed.get(
            chosen, lambda: GraphView(self._store, self._rows, self._full_degrees, chosen)
        )

    def is_directed(self, relation: str) -> bool:
        """Return whether edges of a type have a direction.

        Args:
            relation: One of :attr:`relations`.
        """
        return self._store.adjacency(relation).is_directed

    @property
    def has_directions(self) -> bool:
        """Whether edges of any kind have a direction."""
        return any(map(self.is_directed, self.relations))

    def directed(self, rows: IntArray, direction: np.uint8) -> Neighbourhood:
        """Return where directed edges of each row lead, or where they come from.

        One hop, in which every neighbour counts 1 and a node itself does not.

        Args:
            rows: Row numbers, each once and ascending.
            direction: ``OUT`` or ``IN`` of ``graph.edges.entries``, seen from the rows.
        """
        nodes = self.positions(rows)
        return self._one_hop(self._cache.directed_edges.along(direction, nodes), nodes)

    def linked(
        self, rows: IntArray, relation: str, direction: np.uint8 | None = None
    ) -> Neighbourhood:
        """Return the neighbours by edges of one type, one hop away.

        Every neighbour counts as much as its edge weighs, 1 without weights; a node itself does
        not count.

        Args:
            rows: Row numbers, each once and ascending.
            relation: One of :attr:`relations`.
            direction: ``OUT`` for nodes that edges lead to from the rows, ``IN`` for nodes that
                they come from (``graph.edges.entries``): none where the type has no directions.
                None for both.
        """
        nodes = self.positions(rows)
        owner, found, weights, directions = self._store.adjacency(relation).entries_of(rows)
        chosen = np.full(owner.size, direction is None)
        if direction is not None and directions is not None:
            chosen = (directions & direction) > 0
        if self._rows is not None:
            chosen &= np.isin(found, self._rows)
        ends = np.concatenate(([0], np.cumsum(np.bincount(owner[chosen], minlength=nodes.size))))
        values = np.ones(owner.size, dtype=np.float32) if weights is None else weights
        entries = values[chosen], self.positions(found[chosen]), ends
        return self._one_hop(csr_array(entries, shape=(nodes.size, self.num_nodes)), nodes)

    def _one_hop(self, matrix: "csr_array[Any]", nodes: IntArray) -> Neighbourhood:
        """Return what rows of an adjacency need; rows and columns are :meth:`positions`."""
        met, columns = np.unique(matrix.indices, return_inverse=True)
        step = csr_array((matrix.data, columns, matrix.indptr), shape=(nodes.size, met.size))
        return Neighbourhood(
            Operator(self.features(self._at(met))), (Operator(step),), (met, nodes)
        )

    def edges_of(self, relation: str) -> tuple[IntArray, IntArray, NDArray[np.float32] | None]:
        """Return the visible edges of one type, each once: two arrays of rows, and their weights if
        any.

        The lower row comes first, whichever way an edge leads: :meth:`linked` knows directions.

        Args:
            relation: One of :attr:`relations`.
        """
        edges = self._cache.among_visible(self._store.adjacency(relation))
        rows, columns, weights, _ = edges.entries()
        once = rows < columns
        ends = self._at(rows[once]), self._at(columns[once])
        return *ends, None if weights is None else weights[once]

    @property
    def identity(self) -> object:
        """Object that is the same for all views of one graph: their rows mean the same nodes."""
        return self._store

    @property
    def array_cache(self) -> ArrayCache:
        """Cache of arrays that outlives the process; a part of a graph has none."""
        return self._cache.array_cache

    @property
    def recipe(self) -> Recipe | None:
        """Recipe that made the features from tables, if there is one."""
        return self._store.recipe

    @property
    def num_nodes(self) -> int:
        """How many nodes are visible."""
        return len(self._store.keys) if self._rows is None else self._rows.size

    @property
    def num_edges(self) -> int:
        """How many undirected edges join visible nodes."""
        return self._adjacency.num_edges

    @property
    def num_features(self) -> int:
        """How many columns a feature row has."""
        return int(self._store.feature_matrix.shape[1])

    @property
    def has_sparse_features(self) -> bool:
        """Whether feature rows are sparse."""
        return holds_sparse(self._store.feature_matrix)

    @property
    def has_text_keys(self) -> bool:
        """Whether nodes are known by text rather than by integers."""
        return self._store.keys.is_text

    @property
    def rows(self) -> NDArray[np.int64]:
        """The visible rows, ascending."""
        return np.arange(self.num_nodes) if self._rows is None else self._rows

    def rows_of(self, keys: Iterable[Key]) -> NDArray[np.int64]:
        """Return the row numbers of keys; unknown ones are named in the error, hidden ones are
        refused.

        Args:
            keys: Keys of nodes, in any order.
        """
        rows = self._store.keys.rows(keys)
        self.positions(rows)
        return rows

    def rows_among(self, keys: KeyArray) -> NDArray[np.int64]:
        """Return the row numbers of the keys that are visible; others are left out.

        Args:
            keys: Keys of nodes, in any order.
        """
        rows = self._store.keys.find(keys)
        there = rows >= 0 if self._rows is None else np.isin(rows, self._rows)
        return rows[there]

    def keys_of(self, rows: Rows) -> list[Key]:
        """Return the user's keys of visible rows.

        Args:
            rows: Row numbers.
        """
        keys: list[Key] = self.key_array_of(rows).tolist()
        return keys

    def key_array_of(self, rows: Rows) -> KeyArray:
        """Return the user's keys of visible rows as an array.

        Args:
            rows: Row numbers.
        """
        self.positions(rows)
        return self._store.keys.array_at(rows)

    def positions(self, rows: Rows) -> NDArray[np.int64]:
        """Return the places of rows among the visible ones; hidden and unknown rows are refused.

        Args:
            rows: Row numbers.
        """
        asked = row_numbers(rows)
        if self._rows is None:
            outside = asked[(asked < 0) | (asked >= self.num_nodes)]
            if outside.size:
                raise UnknownNodeError(outside.tolist(), asked.size)
            return asked
        place = np.searchsorted(self._rows, asked)
        inside = place < self._rows.size
        hidden = ~inside
        hidden[inside] = self._rows[place[inside]] != asked[inside]
        if hidden.any():
            raise HiddenNodeError(int(hidden.sum()), asked.size)
        return place

    def _at(self, positions: IntArray) -> IntArray:
        return positions if self._rows is None else self._rows[positions]

    def degrees(self, rows: Rows) -> IntArray | FloatArray:
        """Return how many visible neighbours each row has; with full degrees hidden ones count,
        too.

        Args:
            rows: Row numbers.
        """
        places, counted = self.positions(rows), self._adjacency.counted
        return self._adjacency.degrees(places) if counted is None else counted[places]

    def degree_roots(self, rows: Rows) -> FloatArray:
        """Return the root of each row's degree as normalisation counts it.

        Edges count as much as they weigh, and the node itself counts 1.

        Args:
            rows: Row numbers.
        """
        return 1.0 / self._adjacency.inverse_roots(self.positions(rows)).astype(np.float64)

    def neighbours(self, rows: Rows, relation: str | None = None) -> tuple[IntArray, IntArray]:
        """Return how many visible neighbours each row has, and the neighbours, row after row.

        Args:
            rows: Row numbers.
            relation: By edges of this kind; None for all kinds.
        """
        places = self.positions(rows)
        if relation is None:
            counts, positions = self._adjacency.neighbours(places)
            return counts, self._at(positions)
        asked = row_numbers(rows)
        counts, found = self._store.adjacency(relation).neighbours(asked)
        if self._rows is not None:
            visible = np.isin(found, self._rows)
            owner = np.repeat(np.arange(asked.size), counts)[visible]
            counts, found = np.bincount(owner, minlength=asked.size), found[visible]
        return counts, found

    def weighted_neighbours(
        self, rows: Rows
    ) -> tuple[IntArray, IntArray, NDArray[np.float32] | None]:
        """Return counts and neighbours as :meth:`neighbours` does, and the weights of the edges.

        Args:
            rows: Row numbers.

        Returns:
            Weights are None where all edges count 1.
        """
        counts, positions, weights = self._adjacency.weighted_neighbours(self.positions(rows))
        return counts, self._at(positions), weights

    def features(self, rows: Rows) -> Matrix:
        """Feature rows in float32, sparse if the graph stores them so.

        Args:
            rows: Row numbers.
        """
        self.positions(rows)
        return some_rows(self._store.feature_matrix, np.asarray(rows, dtype=np.int64))

    def full_batch(self, hops: int) -> Neighbourhood:
        """Return the neighbourhood of every visible node, in the order of :attr:`rows`.

        Args:
            hops: How many steps along edges, one for each layer of a network.
        """
        whole = self._cache.full_batch.get("all", self._full_batch)
        return Neighbourhood(whole.features, whole.hops * hops, whole.rings * (hops + 1))

    def _full_batch(self) -> Neighbourhood:
        self._require_memory()
        symmetric = Operator(self._adjacency.normalised, symmetric=True)
        everyone = np.arange(self.num_nodes)
        return Neighbourhood(Operator(self.features(self.rows)), (symmetric,), (everyone,))

    def _require_memory(self) -> None:
        """Require memory for the whole graph: its features in float32, and S, which is made by way
        of A."""
        available = available_bytes()
        entries = self._adjacency.indices
        numbers = num_stored(self._store.feature_matrix) * (1 + self.has_sparse_features)
        visible = int(numbers * self.num_nodes / max(len(self._store.keys), 1))
        needed = 4 * visible + 2 * (4 + entries.itemsize) * (entries.size + self.num_nodes)
        if available is not None and needed > available:
            raise GraphTooLargeError(needed, available)

    def neighbourhood(self, rows: IntArray, hops: int) -> Neighbourhood:
        """Return the part of the graph that these rows need, and nothing beyond it.

        Args:
            rows: Row numbers, each once and ascending.
            hops: How many steps along edges, one for each layer of a network.
        """
        nodes: IntArray = self.positions(rows)
        slices: list[Operator] = []
        rings = [nodes]
        for _ in range(hops):
            matrix, nodes = self._cache.spreading.hop(nodes)
            slices.append(Operator(matrix))
            rings.append(nodes)
        features = Operator(self._features_at(nodes))
        return Neighbourhood(features, tuple(reversed(slices)), tuple(reversed(rings)))

    def _features_at(self, positions: IntArray) -> Matrix:
        return self.features(self._at(positions))

    def around(self, rows: IntArray, hops: int) -> tuple[Neighbourhood, NDArray[np.int64]]:
        """Return the neighbourhood of rows in any order, repeats included, and each row's place in
        it.

        Args:
            rows: Row numbers.
            hops: How many steps along edges, one for each layer of a network.
        """
        unique, places = np.unique(rows, return_inverse=True)
        return self.neighbourhood(unique, hops), places

    def propagated(self, rows: IntArray, hops: int) -> list[Matrix]:
        """Return the rows of X, SX, S²X …; the products are computed once per view.

        Args:
            rows: Row numbers.
            hops: The largest power of S, at least 0.
        """
        if hops < 0:
            raise ParameterError(f"hops must not be negative, and is {hops}.")
        return self._cache.propagated(hops).rows(self.positions(rows))

    def kept_layers(self, folder: Path | None = None) -> OperatorFolder | None:
        """Return where whole products are stored on disk; None for a part of a graph, or no folder.

        Args:
            folder: Where; None for the folder of a graph on disk.
        """
        return self._cache.kept_layers(folder)

    def diffused(
        self, starts: Sequence[IntArray], rows: IntArray, times: Sequence[float]
    ) -> NDArray[np.float64]:
        """Return how much heat from each set is at each row, against the mean of all rows.

        Heat is divided by the root of each row's degree before. Of shape times x rows x sets: 1
        where the row has as much as all rows on average; 0 where none comes.

        Args:
            starts: Sets of rows that heat starts from, evenly.
            rows: Row numbers to look at.
            times: Diffusion times, above 0; shorter ones stay closer to the starts.
        """
        return self.diffusion(starts, times).shares(self.positions(rows))

    def diffusion(
        self, starts: Sequence[IntArray], times: Sequence[float], lasting: bool = False
    ) -> DiffusionTable:
        """Return the heat from sets of rows at all nodes, by their :meth:`positions`.

        It is divided by the root of each node's degree.

        Args:
            starts: Sets of rows that heat starts from, evenly.
            times: Diffusion times, above 0.
            lasting: Whether to store them in :attr:`array_cache`, for the next process.
        """
        return self._cache.heat(times).table([self.positions(start) for start in starts], lasting)

    def nearest(
        self, starts: Sequence[IntArray], count: int, times: Sequence[float]
    ) -> list[IntArray]:
        """Return the rows with most heat from each set, without the set itself; ascending.

        Heat is divided by the root of each row's degree before. Of rows with the same heat those
        with the smallest hash of their key are taken.

        Args:
            starts: Sets of rows that heat starts from, evenly.
            count: How many rows of each.
            times: Diffusion times, above 0; the first one counts.
        """
        near = []
        sets = [self.positions(start) for start in starts]
        for start, mass in zip(sets, self._cache.heat(times).mass(sets), strict=True):
            places, logs = mass.nearest(start, count)
            rows = self._at(places)
            order = np.lexsort((key_hashes(self.key_array_of(rows)), -logs))[:count]
            near.append(np.sort(rows[order]))
        return near

    def sampled(self, count: int, without: IntArray) -> IntArray:
        """Return a fair sample: the visible rows with the smallest hashes of their keys, ascending.

        Args:
            count: How many rows.
            without: Rows that are left out.
        """
        some = self._cache.smallest_hashes(count + without.size)
        return np.sort(some[~np.isin(some, without)][:count])

    def growth_since(self, earlier: "GraphView") -> Growth | None:
        """Return what changed since this graph was another one; None if it did not grow from it.

        Args:
            earlier: A view of a graph.
        """
        return self._cache.lineage.since(earlier._cache)

    def refresh(self, most: int) -> int:
        """Recompute rows that growth made stale before they are needed; return their number.

        Predictions do not depend on it: a stale row is recomputed when it is needed.

        Args:
            most: Largest number of rows.
        """
        made = self._cache.refresh(most)
        for view in self._weighed.values():
            made += view.refresh(most - made)
        return made

    def take_over(self, same: "GraphView", touched: IntArray | None = None) -> None:
        """Reuse the caches of an equal graph in another store, or of a smaller graph.

        Args:
            same: A view of that graph; its rows are the same nodes.
            touched: Rows whose edges of any type have changed, new rows among them; None where
                keys, features and edges are equal.
        """
        self._cache.take_over(same._cache, touched)
        for view in same._weighed.values():
            child = GraphView(self._store, weights=view._weights)
            child.take_over(view, touched)
            self._weighed.put(view._weights, child)

    def __repr__(self) -> str:
        everyone = len(self._store.keys)
        seen = "all" if self._rows is None else f"{self.num_nodes:,}"
        return f"GraphView({seen} of {everyone:,} nodes, {self.num_features:,} features)"
