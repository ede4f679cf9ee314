"""Visible part of a graph, which is the only graph object that methods get."""

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
from nodegraft.base.hashing import content_hash
from nodegraft.base.measure import available_bytes
from nodegraft.base.memo import Memo
from nodegraft.graph.cache import ViewCache
from nodegraft.graph.disk.blocks.operator_folder import OperatorFolder
from nodegraft.graph.disk.mapped import MappedStore
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.matrix import (
    FloatArray,
    IntArray,
    Matrix,
    Rows,
    index_type,
    row_numbers,
)
from nodegraft.graph.edges.operator import Neighbourhood, Operator
from nodegraft.graph.growth.growing import Growth
from nodegraft.graph.growth.stacked import holds_sparse, num_stored, some_rows
from nodegraft.graph.keys import Key, KeyArray, key_hashes
from nodegraft.graph.node_types import refuse_other_types
from nodegraft.graph.propagation.set_mass import DiffusionTable
from nodegraft.graph.stores import ArrayCache, GraphStore, Recipe


class GraphView:
    """Visible part of a graph; degrees and normalisation count visible nodes only.

    A node has the same row number in the graph and in all its views. Access to a hidden node raises
    HiddenNodeError. Expensive results are cached, and computed only once also with several threads.

    Args:
        store: Store of the whole graph.
        visible: Rows of the visible nodes; None for all.
        full_degrees: Whether normalisation counts hidden neighbours, too. This leaks information,
            and is for the published protocol only.
        weights: Weight of each edge type, in the order of :attr:`relations`; None to merge all
            types.
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
        self._weighted_views = Memo[GraphView](most=4)

    @property
    def _adjacency(self) -> Adjacency:
        return self._cache.adjacency

    def with_full_degrees(self) -> "GraphView":
        """Return a view with the same nodes, normalised by the degrees of the whole graph.

        This leaks information about hidden nodes.
        """
        return GraphView(self._store, self._rows, full_degrees=True, weights=self._weights)

    @property
    def relations(self) -> tuple[str, ...]:
        """Names of the edge types."""
        return self._store.relations

    def weighing(self, weights: Mapping[str, float]) -> "GraphView":
        r"""Return a view with the weighted adjacency :math:`\sum_r w_r A_r` of all edge types.

        Other views merge all edge types instead.

        Args:
            weights: Weight of each edge type by name, at least 0.
        """
        in_order = tuple(float(weights[name]) for name in self.relations)
        if in_order == self._weights or (self._weights is None and in_order == (1.0,)):
            return self
        return self._weighted_views.get(
            in_order, lambda: GraphView(self._store, self._rows, self._full_degrees, in_order)
        )

    def is_directed(self, relation: str) -> bool:
        """Return whether edges of a type have a direction.

        Args:
            relation: Edge type, one of :attr:`relations`.
        """
        return self._store.adjacency(relation).is_directed

    @property
    def has_directions(self) -> bool:
        """Whether any edge type has a direction."""
        return any(map(self.is_directed, self.relations))

    def directed(self, rows: IntArray, direction: np.uint8) -> Neighbourhood:
        """Return the one-hop neighbourhood of rows along directed edges.

        Every neighbour has weight 1; there are no self loops.

        Args:
            rows: Row numbers, unique and ascending.
            direction: ``OUT`` for nodes that edges lead to from the rows, ``IN`` for nodes that
                they come from; see ``graph.edges.entries``.
        """
        nodes = self.positions(rows)
        return self._one_hop(self._cache.directed_edges.along(direction, nodes), nodes)

    def linked(
        self, rows: IntArray, relation: str, direction: np.uint8 | None = None
    ) -> Neighbourhood:
        """Return the one-hop neighbourhood of rows along edges of one type.

        Every neighbour has the weight of its edge, 1 without weights; there are no self loops.

        Args:
            rows: Row numbers, unique and ascending.
            relation: Edge type, one of :attr:`relations`.
            direction: ``OUT`` for nodes that edges lead to from the rows, ``IN`` for nodes that
                they come from (``graph.edges.entries``); an undirected type then has no neighbours.
                None for all neighbours.
        """
        nodes = self.positions(rows)
        matrix = self._store.adjacency(relation).along(direction, rows, weighted=True)
        if self._rows is not None:
            matrix = csr_array(matrix[:, self._rows])
        return self._one_hop(matrix, nodes)

    def _one_hop(self, matrix: "csr_array[Any]", nodes: IntArray) -> Neighbourhood:
        """Return the neighbourhood for rows of an adjacency of visible nodes.

        Rows and columns are positions, see :meth:`positions`.
        """
        outer, columns = np.unique(matrix.indices, return_inverse=True)
        step = csr_array((matrix.data, columns, matrix.indptr), shape=(nodes.size, outer.size))
        return Neighbourhood(
            Operator(self.features(self._at(outer))), (Operator(step),), (outer, nodes)
        )

    def edges_of(self, relation: str) -> tuple[IntArray, IntArray, NDArray[np.float32] | None]:
        """Return the visible edges of one type, each once, as two arrays of rows and the weights.

        The first row of an edge is always the lower one; for directions see :meth:`linked`. Weights
        are None if the type has none.

        Args:
            relation: Edge type, one of :attr:`relations`.
        """
        edges = self._cache.among_visible(self._store.adjacency(relation))
        rows, columns, weights, _ = edges.entries()
        once = rows < columns
        ends = self._at(rows[once]), self._at(columns[once])
        return *ends, None if weights is None else weights[once]

    @property
    def identity(self) -> object:
        """Object that is the same for all views of a graph, because they have equal row numbers."""
        return self._store

    @property
    def fingerprint(self) -> str:
        """Hash of keys, features and edges of the graph, and of which of its nodes are visible."""
        visible = np.zeros(0) if self._rows is None else self._rows
        options: list[Any] = [self._full_degrees, self._weights and list(self._weights)]
        return content_hash(self._store.fingerprint, visible, options)

    @property
    def is_on_disk(self) -> bool:
        """Whether arrays of the graph are mapped from files, so that it may exceed memory."""
        return isinstance(self._store, MappedStore)

    @property
    def array_cache(self) -> ArrayCache:
        """Persistent cache of arrays; empty if the view is a part of the graph."""
        return self._cache.array_cache

    @property
    def recipe(self) -> Recipe | None:
        """Recipe that made the features from tables; None if there is none."""
        return self._store.recipe

    @property
    def num_nodes(self) -> int:
        """Number of visible nodes."""
        return len(self._store.keys) if self._rows is None else self._rows.size

    @property
    def num_edges(self) -> int:
        """Number of visible node pairs with an edge; edges of several types count once."""
        return self._adjacency.num_edges

    @property
    def num_features(self) -> int:
        """Number of feature columns."""
        return int(self._store.feature_matrix.shape[1])

    @property
    def has_sparse_features(self) -> bool:
        """Whether feature rows are sparse."""
        return holds_sparse(self._store.feature_matrix)

    @property
    def has_text_keys(self) -> bool:
        """Whether node keys are text instead of integers."""
        return self._store.keys.is_text

    @property
    def rows(self) -> NDArray[np.int64]:
        """Row numbers of the visible nodes, ascending."""
        return np.arange(self.num_nodes) if self._rows is None else self._rows

    @property
    def node_types(self) -> tuple[str, ...]:
        """Names of the node types, the classified one first; empty if there is only one."""
        return self._cache.node_types

    @property
    def has_several_types(self) -> bool:
        """Whether there are node types besides the classified one."""
        return self._cache.has_several_types

    @property
    def targets(self) -> IntArray:
        """Row numbers of the visible nodes that are classified: all, unless nodes have types."""
        return self._cache.targets

    def targets_of(self, keys: Iterable[Key]) -> NDArray[np.int64]:
        """Return the row numbers of keys like :meth:`rows_of`; refuse nodes without a class.

        Args:
            keys: Keys of nodes of the classified type, in any order.
        """
        rows = self.rows_of(keys)
        if self.has_several_types:
            refuse_other_types(self._store.keys.array_at(rows), self.node_types)
        return rows

    def rows_of(self, keys: Iterable[Key]) -> NDArray[np.int64]:
        """Return the row numbers of keys; raise an error for unknown keys and hidden nodes.

        Args:
            keys: Keys of nodes, in any order.
        """
        rows = self._store.keys.rows(keys)
        self.positions(rows)
        return rows

    def rows_among(self, keys: KeyArray) -> NDArray[np.int64]:
        """Return the row numbers of visible nodes; unknown keys and hidden nodes are left out.

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
        """Return the positions of rows in :attr:`rows`; raise an error for hidden or unknown rows.

        Args:
            rows: Row numbers.
        """
        numbers = row_numbers(rows)
        if self._rows is None:
            outside = numbers[(numbers < 0) | (numbers >= self.num_nodes)]
            if outside.size:
                raise UnknownNodeError(outside.tolist(), numbers.size)
            return numbers
        place = np.searchsorted(self._rows, numbers)
        inside = place < self._rows.size
        hidden = ~inside
        hidden[inside] = self._rows[place[inside]] != numbers[inside]
        if hidden.any():
            raise HiddenNodeError(int(hidden.sum()), numbers.size)
        return place

    def _at(self, positions: IntArray) -> IntArray:
        return positions if self._rows is None else self._rows[positions]

    def degrees(self, rows: Rows) -> IntArray | FloatArray:
        """Return the number of visible neighbours of each row.

        With full degrees, return the degrees that normalisation uses in the whole graph.

        Args:
            rows: Row numbers.
        """
        places, counted = self.positions(rows), self._adjacency.counted
        return self._adjacency.degrees(places) if counted is None else counted[places]

    def degree_roots(self, rows: Rows) -> FloatArray:
        """Return the square root of the degree of each row that normalisation uses.

        This degree is the sum of the edge weights, plus 1 for the node itself.

        Args:
            rows: Row numbers.
        """
        return 1.0 / self._adjacency.inverse_roots(self.positions(rows)).astype(np.float64)

    def neighbours(self, rows: Rows, relation: str | None = None) -> tuple[IntArray, IntArray]:
        """Return the number of visible neighbours of each row, and the neighbours, row by row.

        Args:
            rows: Row numbers.
            relation: Edge type; None for all types.
        """
        places = self.positions(rows)
        if relation is None:
            counts, positions = self._adjacency.neighbours(places)
            return counts, self._at(positions)
        numbers = row_numbers(rows)
        counts, neighbours = self._store.adjacency(relation).neighbours(numbers)
        if self._rows is not None:
            visible = np.isin(neighbours, self._rows)
            owner = np.repeat(np.arange(numbers.size), counts)[visible]
            counts, neighbours = np.bincount(owner, minlength=numbers.size), neighbours[visible]
        return counts, neighbours

    def weighted_neighbours(
        self, rows: Rows
    ) -> tuple[IntArray, IntArray, NDArray[np.float32] | None]:
        """Return counts and neighbours like :meth:`neighbours`, and the weights of the edges.

        Args:
            rows: Row numbers.

        Returns:
            Counts, neighbours and weights; weights are None if all are 1.
        """
        counts, positions, weights = self._adjacency.weighted_neighbours(self.positions(rows))
        return counts, self._at(positions), weights

    def features(self, rows: Rows) -> Matrix:
        """Return feature rows in float32, sparse if the graph has sparse features.

        Args:
            rows: Row numbers.
        """
        self.positions(rows)
        return some_rows(self._store.feature_matrix, np.asarray(rows, dtype=np.int64))

    def full_batch(self, hops: int) -> Neighbourhood:
        """Return the neighbourhood of every visible node, in the order of :attr:`rows`.

        Args:
            hops: Number of hops, one for each layer of a network.
        """
        whole = self._cache.full_batch.get("all", self._full_batch)
        return Neighbourhood(whole.features, whole.hops * hops, whole.rings * (hops + 1))

    def _full_batch(self) -> Neighbourhood:
        self._require_memory()
        symmetric = Operator(self._adjacency.normalised, symmetric=True)
        everyone = np.arange(self.num_nodes)
        return Neighbourhood(Operator(self.features(self.rows)), (symmetric,), (everyone,))

    def _require_memory(self) -> None:
        """Raise GraphTooLargeError if the whole graph's features, A and S do not fit in memory."""
        needed, available = self._full_batch_bytes(), available_bytes()
        if available is not None and needed > available:
            raise GraphTooLargeError(needed, available)

    @property
    def fits_in_memory(self) -> bool:
        """Whether :meth:`full_batch` needs no more memory than is available, or was computed."""
        if self._cache.full_batch.peek("all") is not None:
            return True
        available = available_bytes()
        return available is None or self._full_batch_bytes() <= available

    def _full_batch_bytes(self) -> int:
        entries = 2 * self._adjacency.num_edges
        numbers = num_stored(self._store.feature_matrix) * (1 + self.has_sparse_features)
        visible = int(numbers * self.num_nodes / max(len(self._store.keys), 1))
        number = np.dtype(index_type(max(entries, self.num_nodes))).itemsize
        return 4 * visible + 2 * (4 + number) * (entries + self.num_nodes)

    def neighbourhood(self, rows: IntArray, hops: int) -> Neighbourhood:
        """Return the neighbourhood that a network needs to embed these rows.

        Args:
            rows: Row numbers, unique and ascending.
            hops: Number of hops, one for each layer of a network.
        """
        nodes: IntArray = self.positions(rows)
        slices: list[Operator] = []
        rings = [nodes]
        for number in range(hops):
            matrix, nodes = self._hop(nodes, number, hops)
            slices.append(Operator(matrix))
            rings.append(nodes)
        features = Operator(self._features_at(nodes))
        return Neighbourhood(features, tuple(reversed(slices)), tuple(reversed(rings)))

    def _hop(self, nodes: IntArray, number: int, hops: int) -> tuple["csr_array[Any]", IntArray]:
        """Return rows of S and the nodes of their columns; hop 0 is that of the given rows."""
        return self._cache.spreading.hop(nodes)

    def _features_at(self, positions: IntArray) -> Matrix:
        return self.features(self._at(positions))

    def around(self, rows: IntArray, hops: int) -> tuple[Neighbourhood, NDArray[np.int64]]:
        """Return the neighbourhood of rows, and the position of each row among its nodes.

        Args:
            rows: Row numbers in any order, which may have duplicates.
            hops: Number of hops, one for each layer of a network.
        """
        unique, places = np.unique(rows, return_inverse=True)
        return self.neighbourhood(unique, hops), places

    def propagated(self, rows: IntArray, hops: int) -> list[Matrix]:
        """Return rows of the propagated features X, SX, S²X …, which are cached for each view.

        Args:
            rows: Row numbers.
            hops: Largest power of S, at least 0.
        """
        if hops < 0:
            raise ParameterError(f"hops must not be negative, and is {hops}.")
        return self._cache.propagated(hops).rows(self.positions(rows))

    def layer_folder(self, folder: Path | None = None) -> OperatorFolder | None:
        """Return the folder on disk that stores propagated features.

        Args:
            folder: Folder to use; None for the folder of the graph.

        Returns:
            None if there is no folder, or if the view is a part of the graph.
        """
        return self._cache.layer_folder(folder)

    def diffused(
        self, starts: Sequence[IntArray], rows: IntArray, times: Sequence[float]
    ) -> NDArray[np.float64]:
        """Return the heat that diffuses from sets of rows to some rows, relative to the mean row.

        Heat is first divided by the square root of each row's degree. The result is 1 for a row
        with the mean heat of all rows, and 0 for a row without heat.

        Args:
            starts: Sets of start rows; heat is distributed evenly over a set.
            rows: Row numbers for which heat is returned.
            times: Diffusion times, above 0; with shorter times heat stays closer to the start rows.

        Returns:
            Array of shape times x rows x sets.
        """
        return self.diffusion(starts, times).shares(self.positions(rows))

    def diffusion(
        self, starts: Sequence[IntArray], times: Sequence[float], lasting: bool = False
    ) -> DiffusionTable:
        """Return the heat that diffuses from sets of rows to all nodes, by :meth:`positions`.

        Heat is divided by the square root of each node's degree.

        Args:
            starts: Sets of start rows; heat is distributed evenly over a set.
            times: Diffusion times, above 0.
            lasting: Whether to store the result in the persistent :attr:`array_cache`.
        """
        return self._cache.heat(times).table([self.positions(start) for start in starts], lasting)

    def nearest(
        self, starts: Sequence[IntArray], count: int, times: Sequence[float]
    ) -> list[IntArray]:
        """Return the classified nodes with most heat from each set of start rows, without the set.

        Heat is first divided by the square root of each row's degree. Ties are broken by the hashes
        of keys, smallest first. The returned rows are ascending.

        Args:
            starts: Sets of start rows; heat is distributed evenly over a set.
            count: Maximum number of rows for each set.
            times: Diffusion times, above 0; only the first is used.
        """
        near, others = [], self._cache.other_places
        sets = [self.positions(start) for start in starts]
        for start, mass in zip(sets, self._cache.heat(times).mass(sets), strict=True):
            places, logs = mass.nearest(start, count, others)
            rows = self._at(places)
            order = np.lexsort((key_hashes(self.key_array_of(rows)), -logs))[:count]
            near.append(np.sort(rows[order]))
        return near

    def sampled(self, count: int, without: IntArray) -> IntArray:
        """Return a random sample of classified nodes: those whose keys have the smallest hashes.

        The returned rows are ascending.

        Args:
            count: Number of rows.
            without: Rows that are left out.
        """
        some = self._cache.smallest_hashes(count + without.size)
        return np.sort(some[~np.isin(some, without)][:count])

    def growth_since(self, earlier: "GraphView") -> Growth | None:
        """Return the changes since an earlier graph; None if this graph did not grow from it.

        Args:
            earlier: View of the earlier graph.
        """
        return self._cache.lineage.since(earlier._cache)

    def refresh(self, most: int) -> int:
        """Recompute cached rows that became stale when the graph grew; return their number.

        Predictions do not change, because stale rows are otherwise recomputed on access.

        Args:
            most: Maximum number of rows to recompute.
        """
        count = self._cache.refresh(most)
        for view in self._weighted_views.values():
            count += view.refresh(most - count)
        return count

    def take_over(self, same: "GraphView", touched: IntArray | None = None) -> None:
        """Reuse the caches of an equal graph in another store, or of the graph before it grew.

        Args:
            same: View of the other graph; its rows are the same nodes.
            touched: Rows with changed edges of any type, including new rows; None if keys, features
                and edges are equal.
        """
        self._cache.take_over(same._cache, touched)
        for view in same._weighted_views.values():
            child = GraphView(self._store, weights=view._weights)
            child.take_over(view, touched)
            self._weighted_views.put(view._weights, child)

    def __repr__(self) -> str:
        everyone = len(self._store.keys)
        nodes = "all" if self._rows is None else f"{self.num_nodes:,}"
        return f"GraphView({nodes} of {everyone:,} nodes, {self.num_features:,} features)"
