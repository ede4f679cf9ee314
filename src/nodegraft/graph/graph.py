"""Graph of nodes with keys and features, and of edges between them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.counting import listed
from nodegraft.base.errors import DataError
from nodegraft.base.tabular import summary_html
from nodegraft.graph import stores
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.matrix import IntArray, Matrix, check_matrix
from nodegraft.graph.edges.relation import Edges, Relation, merged_with_weights, relations_in
from nodegraft.graph.growth import growing
from nodegraft.graph.growth.grown import GrownAdjacency
from nodegraft.graph.growth.stacked import in_one_piece, num_stored
from nodegraft.graph.keys import Key, NodeKeys
from nodegraft.graph.node_types import anonymous_keys
from nodegraft.graph.view import GraphView

if TYPE_CHECKING:
    from torch_geometric.data import Data, HeteroData

    from nodegraft.graph.pyg import PyGFeatureStore, PyGGraphStore
    from nodegraft.graph.pyg_sampler import PyGNeighbourSampler


class Graph(GraphView):
    """Immutable, undirected graph, in which all nodes are visible.

    A graph is in memory or on disk, with the same methods. Labels are stored separately.

    >>> graph = Graph(["a", "b", "c"], np.eye(3), [("a", "b"), ("b", "c")])
    >>> graph, graph.keys_of(graph.neighbours([1])[1])
    (Graph(3 nodes, 2 undirected edges, 3 features), ['a', 'c'])

    Args:
        keys: Unique key of each node; all text or all integers.
        features: Feature matrix with one row per node, in the order of ``keys``; dense or SciPy
            sparse. If possible the matrix is not copied, so do not modify it later.
        edges: Pairs of keys, one pair per edge; self loops and duplicates are dropped. For several
            edge types give a dict from the name of each type to its pairs; for weights or
            directions see :class:`Relation`.
        recipe: Recipe that made the features from a table; see :func:`nodegraft.read_graph`. None
            for features without a recipe.
    """

    def __init__(
        self,
        keys: Sequence[Key] | NDArray[Any],
        features: Matrix,
        edges: Edges = (),
        *,
        recipe: stores.Recipe | None = None,
    ) -> None:
        node_keys = NodeKeys(keys)
        kinds = relations_in(edges, stores.EDGES)
        by_kind = {name: relation.adjacency(node_keys) for name, relation in kinds.items()}
        super().__init__(stores.MemoryStore.checked(node_keys, features, by_kind, recipe))

    @classmethod
    def from_store(cls, store: stores.GraphStore) -> "Graph":
        """Create a graph from a store with its arrays.

        Args:
            store: Store that has the arrays in memory or on disk.
        """
        graph = cls.__new__(cls)
        GraphView.__init__(graph, store)
        return graph

    @classmethod
    def from_parts(
        cls,
        keys: NodeKeys,
        features: Matrix,
        edges: Adjacency | Mapping[str, Adjacency],
        recipe: stores.Recipe | None = None,
    ) -> "Graph":
        """Create a graph from node keys, features and adjacencies.

        Args:
            keys: Keys of all nodes, in row order.
            features: Feature matrix with one row per node.
            edges: Adjacency by rows; for several edge types a mapping from type to adjacency.
            recipe: Recipe that made the features from a table; None for no recipe.
        """
        kinds = {stores.EDGES: edges} if isinstance(edges, Adjacency) else dict(edges)
        return cls.from_store(stores.MemoryStore.checked(keys, features, kinds, recipe))

    @classmethod
    def from_pyg(
        cls,
        data: "Data | HeteroData",
        keys: Sequence[Key] | None = None,
        *,
        directed: bool | Collection[str] = False,
    ) -> "Graph":
        """Create a graph from ``x`` and the edges of a PyG object.

        Edges may have ``edge_type`` and ``edge_weight``. Labels (``y``) are not read. Each number
        in ``edge_type`` becomes text, which is the name of an edge type. A ``HeteroData`` must have
        exactly one node type; the relation (the middle part of PyG's edge type) becomes the name of
        the edge type.

        Args:
            data: PyG object.
            keys: Key of each node; None for row numbers.
            directed: Whether edges have a direction, or the names of the directed edge types. Edges
                of all other types become undirected.
        """
        from nodegraft.graph.pyg import parts_of

        features, edges = parts_of(data, directed)
        node_keys = NodeKeys(np.arange(features.shape[0]) if keys is None else keys)
        return cls.from_parts(node_keys, features, edges)

    def to_pyg(self) -> "Data":
        """Convert the graph to a PyG ``Data`` with dense ``x``.

        Edge types and weights are included if the graph has any. Undirected edges are included in
        both directions. The number of an edge in ``edge_type`` is the position of its type in
        :attr:`relations`.
        """
        from nodegraft.graph.pyg import as_data

        return as_data(self.features(self.rows), self._kinds())

    def to_pyg_stores(self) -> "tuple[PyGFeatureStore, PyGGraphStore]":
        """Return a PyG ``FeatureStore`` and ``GraphStore`` for PyG's loaders, without a copy.

        The node type is ``"node"``, the features are named ``"x"``, and the edge types are
        ``("node", relation, "node")``.
        """
        from nodegraft.graph.pyg import PyGFeatureStore, PyGGraphStore

        return PyGFeatureStore(self), PyGGraphStore(self._store)

    def to_pyg_sampler(self, fan_outs: Sequence[int], seed: int = 0) -> "PyGNeighbourSampler":
        """Return a neighbour sampler for PyG's ``NodeLoader``, which does not need ``pyg-lib``.

        Pass it together with :meth:`to_pyg_stores`. Seed nodes are row numbers.

        Args:
            fan_outs: Maximum number of neighbours of a node for each hop; -1 for all.
            seed: Seed of all random draws.
        """
        from nodegraft.graph.pyg_sampler import PyGNeighbourSampler

        return PyGNeighbourSampler(self, fan_outs, seed)

    def view(self, rows: IntArray) -> GraphView:
        """Return a view of the graph in which only the given nodes are visible.

        Args:
            rows: Row numbers of the visible nodes.
        """
        return GraphView(self._store, rows)

    def keeping_edges(self, keep: Callable[[IntArray, IntArray], NDArray[np.bool_]]) -> "Graph":
        """Return a graph with the same nodes and only some of the edges.

        Args:
            keep: Function that takes the two rows of each edge as arrays, and returns a mask of the
                edges to keep. The function is called once for each edge type.
        """
        edges = {name: part.keeping(keep(*part.edges())) for name, part in self._kinds().items()}
        return self._with_edges(edges)

    @property
    def is_settled(self) -> bool:
        """Whether heat diffuses on all edges, including those that :meth:`grow` added."""
        return not any(isinstance(part, GrownAdjacency) for part in self._kinds().values())

    def settled(self) -> "Graph":
        """Return an equal graph in which heat diffuses on all edges.

        After :meth:`grow`, ``graft`` reuses the heat of old nodes, and new nodes get the mean heat
        of their neighbours, until one percent of the nodes or two percent of the edges are new.
        This method recomputes heat before these limits are reached.

        >>> Graph(["a"], np.ones((1, 2))).settled().is_settled
        True
        """
        if self.is_settled:
            return self
        kinds = {
            name: part.whole if isinstance(part, GrownAdjacency) else part
            for name, part in self._kinds().items()
        }
        store = self._store
        return Graph.from_store(
            stores.MemoryStore(store.keys, store.feature_matrix, kinds, store.recipe)
        )

    def with_array_cache(self, array_cache: stores.ArrayCache) -> "Graph":
        """Return an equal graph that stores derived arrays in the given persistent cache.

        Args:
            array_cache: Cache to use.
        """
        copy = Graph.from_store(self._store.with_array_cache(array_cache))
        copy.take_over(self)
        return copy

    def with_features(self, features: Matrix, recipe: stores.Recipe | None = None) -> "Graph":
        """Return a graph with the same nodes and edges, but with other features.

        Args:
            features: Feature matrix with one row per node.
            recipe: Recipe that makes these features from a table; None to keep the recipe of this
                graph.
        """
        kinds, how = self._kinds(), recipe or self.recipe
        return Graph.from_parts(self._store.keys, features, kinds, how)

    def without(self, rows: IntArray) -> "Graph":
        """Return a graph without the given nodes and their edges.

        >>> graph = Graph(["a", "b", "c"], np.eye(3), [("a", "b"), ("b", "c")])
        >>> graph.without(np.array([0]))
        Graph(2 nodes, 1 undirected edges, 3 features)

        Args:
            rows: Row numbers of the nodes to remove.
        """
        remaining = np.setdiff1d(self.rows, rows)
        edges = {name: part.induced(remaining) for name, part in self._kinds().items()}
        keys = NodeKeys(self._store.keys.array_at(remaining))
        return Graph.from_parts(keys, self._features[remaining], edges, self.recipe)

    def with_edges_of(self, other: "Graph") -> "Graph":
        """Return a graph with the nodes of this graph and the edges of another graph.

        >>> graph = Graph(["a", "b", "c"], np.eye(3), [("a", "b"), ("b", "c")])
        >>> Graph(["c", "b", "d"], np.eye(3)).with_edges_of(graph)
        Graph(3 nodes, 1 undirected edges, 3 features)

        Args:
            other: Graph that shares node keys with this graph; types, weights and directions of its
                edges are kept. Edges of nodes that this graph does not have are dropped.
        """
        place = self.node_keys.find(other.key_array_of(other.rows))
        kinds = other._kinds().items()
        return self._with_edges(
            {name: part.renumbered(place, self.num_nodes) for name, part in kinds}
        )

    def merging_kinds(self) -> "Graph":
        """Return a graph with all edge types merged into one, without weights and directions."""
        merged = self._adjacency
        edges = Adjacency(merged.indptr, merged.indices, origin=merged.origin)
        return self._with_edges(edges)

    def weighing_kinds(self, weights: Mapping[str, float]) -> "Graph":
        """Return a graph with all edge types merged; edge weights are multiplied by type weights.

        Args:
            weights: Weight of each edge type by name, at least 0.
        """
        kinds = self._kinds()
        edges = merged_with_weights(list(kinds.values()), [weights[name] for name in kinds])
        return self._with_edges(edges)

    def _with_edges(self, edges: Adjacency | Mapping[str, Adjacency]) -> "Graph":
        return Graph.from_parts(self._store.keys, self._features, edges, self.recipe)

    @property
    def _features(self) -> Matrix:
        features = in_one_piece(self._store.feature_matrix)
        check_matrix(features)
        return features

    def _kinds(self) -> dict[str, Adjacency]:
        return {name: self._store.adjacency(name) for name in self.relations}

    def reordered(self, rows: IntArray) -> "Graph":
        """Return the same graph in another row order; its new row numbers become its keys.

        If nodes have types, keys are text, and those of other types begin with the type.

        Args:
            rows: Permutation of all row numbers: row ``i`` of the new graph is row ``rows[i]`` of
                this graph.
        """
        place = np.argsort(rows)
        edges = {
            name: part.renumbered(place, self.num_nodes) for name, part in self._kinds().items()
        }
        keys = NodeKeys(anonymous_keys(self.key_array_of(rows), self.node_types))
        return Graph.from_parts(keys, self.features(rows), edges, self.recipe)

    @property
    def edge_counts(self) -> dict[str, int]:
        """Edge type -> number of its undirected edges; :attr:`num_edges` merges the types."""
        return {name: part.num_edges for name, part in self._kinds().items()}

    @property
    def num_edges_of_all_types(self) -> int:
        """Number of undirected edges; edges of several types between two nodes all count."""
        return sum(self.edge_counts.values())

    @property
    def node_keys(self) -> NodeKeys:
        """Keys of all nodes, in row order."""
        return self._store.keys

    @property
    def num_stored_features(self) -> int:
        """Number of stored feature values: only non-zero values if features are sparse."""
        return num_stored(self._store.feature_matrix)

    def edges(self) -> tuple[IntArray, IntArray]:
        """Return all edges, with edge types merged, as two arrays of row numbers."""
        return self._adjacency.edges()

    def grow(
        self, keys: Sequence[Key] = (), features: Matrix | None = None, edges: Edges = ()
    ) -> "Graph":
        """Return a graph with more nodes and edges; old nodes keep row numbers and keys.

        To add nodes and edges from tables, see :func:`nodegraft.grow_graph`.

        >>> small = Graph(["a"], np.ones((1, 2)))
        >>> small.grow(["b"], np.zeros((1, 2)), [("a", "b")]).num_edges
        1

        Args:
            keys: Keys of the new nodes.
            features: Feature rows of the new nodes, with the columns of this graph; None if there
                are no new nodes.
            edges: New edges as pairs of keys of old or new nodes; a dict by edge type if the graph
                has several types. New edge types may be added. Edges of an existing type are
                directed if the type is directed.
        """
        all_keys = growing.with_keys(self._store.keys, keys)
        if len(all_keys) > self.num_nodes and features is None:
            raise DataError(f"{len(keys)} new nodes need feature rows too.")
        all_features = self._store.feature_matrix
        if features is not None:
            added = len(all_keys) - self.num_nodes
            all_features = growing.with_feature_rows(all_features, features, added)
        new = {
            name: relation.entries(all_keys)
            for name, relation in self._new_relations(edges).items()
        }
        before = self._kinds()
        kinds = growing.with_new_edges(before, new, len(all_keys))
        grown = Graph.from_store(stores.MemoryStore(all_keys, all_features, kinds, self.recipe))
        touched = growing.touched_rows(new.values(), self.num_nodes, len(all_keys))
        few = growing.MOST_TOUCHED * touched.size <= grown.num_nodes
        if few and growing.is_more_of_the_same(before, kinds):
            grown.take_over(self, touched)
        return grown

    def _new_relations(self, edges: Edges) -> dict[str, Relation]:
        """Return new edges by edge type, with the direction that this graph's type has."""
        known = self._kinds()
        if not isinstance(edges, Mapping) and len(known) > 1:
            if not isinstance(edges, Relation) and not len(edges := list(edges)):
                return {}
            raise DataError(
                f"This graph has the edge types {', '.join(known)}: give the type of the new "
                f'edges, as in {{"{next(iter(known))}": pairs}}.'
            )
        by_type = relations_in(edges, next(iter(known)))
        for name, new in by_type.items():
            if name in known and known[name].is_directed:
                by_type[name] = replace(new, directed=True)
            elif name in known and known[name].num_edges and new.directed:
                raise DataError(f"Edges of type {name!r} have no direction in this graph.")
        return by_type

    @cached_property
    def content_hash(self) -> str:
        """Hash of all keys, features and edges."""
        return stores.content_of(self._store)

    def __repr__(self) -> str:
        kinds = f" of {len(self.relations)} types" if len(self.relations) > 1 else ""
        return (
            f"Graph({self.num_nodes:,} nodes, {self.num_edges_of_all_types:,} undirected "
            f"edges{kinds}, {self.num_features:,} features)"
        )

    def _repr_html_(self) -> str:
        return summary_html("Graph", self.facts())

    def facts(self) -> list[tuple[str, str]]:
        """Return names and values for a summary: numbers of nodes, edges and features.

        >>> Graph(["a", "b"], np.eye(2), {"like": [("a", "b")]}).facts()
        [('nodes', '2'), ('edges', '1'), ('edge types', 'like 1'), ('features', '2')]
        """
        kinds = self.edge_counts
        counts = [f"{name} {count:,}" for name, count in kinds.items()]
        types = [("edge types", listed(counts))] if list(kinds) != [stores.EDGES] else []
        return [
            ("nodes", f"{self.num_nodes:,}"),
            ("edges", f"{sum(kinds.values()):,}"),
            *types,
            ("features", f"{self.num_features:,}"),
        ]
