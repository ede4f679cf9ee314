"""The graph: nodes with keys and features, and who is joined to whom. Never a label."""

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
from nodegraft.graph.edges.relation import Edges, Relation, relations_in, weighed
from nodegraft.graph.growth import growing
from nodegraft.graph.growth.grown import GrownAdjacency
from nodegraft.graph.growth.stacked import in_one_piece, num_stored
from nodegraft.graph.keys import Key, NodeKeys
from nodegraft.graph.view import GraphView

if TYPE_CHECKING:
    from torch_geometric.data import Data, HeteroData

    from nodegraft.graph.pyg import PyGFeatureStore, PyGGraphStore


class Graph(GraphView):
    """An immutable, undirected graph, seen as a whole; :meth:`Graph.grow` gives a larger one.

    Code above ``nodegraft.graph`` asks it for rows, neighbours and propagations and never sees
    the arrays behind them, so that another store can stand behind the same questions.

    >>> graph = Graph(["a", "b", "c"], np.eye(3), [("a", "b"), ("b", "c")])
    >>> graph, graph.keys_of(graph.neighbours([1])[1])
    (Graph(3 nodes, 2 undirected edges, 3 features), ['a', 'c'])

    Args:
        keys: The user's name of each node, all text or all integers, each once.
        features: One row of numbers per node, in the order of ``keys``; dense or SciPy sparse. They
            are kept without a copy where their type allows it: do not write into them later.
        edges: Pairs of keys, one pair per edge; loops and repeated edges are dropped. Edges of
            several kinds are a dict, name of the kind -> pairs; for weights or a direction see
            :class:`Relation`.
        recipe: How a table became the features, where they came from one; see
            :func:`nodegraft.read_graph`.
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
        """Return the graph of a store of arrays.

        Args:
            store: In memory or elsewhere.
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
        """From parts already built.

        Args:
            keys: The nodes, in row order.
            features: One row of numbers per node.
            edges: The edges, by rows instead of keys; of several kinds by the name of each.
            recipe: How a table became the features, where they came from one.
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
        """From PyG: ``x``, ``edge_index``, ``edge_type`` and ``edge_weight``; never ``y``.

        Numbers in ``edge_type`` become names of kinds as text. A ``HeteroData`` must have one type
        of nodes; its kinds are known by the middle of their three names.

        Args:
            data: The graph.
            keys: The name of each node; the row numbers if none are given.
            directed: Whether edges have a direction; or the kinds whose edges have one. The others
                are made undirected.
        """
        from nodegraft.graph.pyg import parts_of

        features, edges = parts_of(data, directed)
        node_keys = NodeKeys(np.arange(features.shape[0]) if keys is None else keys)
        return cls.from_parts(node_keys, features, edges)

    def to_pyg(self) -> "Data":
        """Return a PyG ``Data`` with dense ``x`` and, if there are some, types and weights of
        edges.

        Edges without a direction are there both ways. ``edge_type`` has the place of each kind in
        :attr:`relations`.
        """
        from nodegraft.graph.pyg import as_data

        return as_data(self.features(self.rows), self._kinds())

    def to_pyg_stores(self) -> "tuple[PyGFeatureStore, PyGGraphStore]":
        """Return PyG's interfaces of stores for this graph, which its loaders read, without a copy.

        Nodes are of the type ``"node"``, their features are called ``"x"``, and edges are of the
        types ``("node", relation, "node")``.
        """
        from nodegraft.graph.pyg import PyGFeatureStore, PyGGraphStore

        return PyGFeatureStore(self), PyGGraphStore(self._store)

    def view(self, rows: IntArray) -> GraphView:
        """Return a view of some nodes, in which all others are hidden.

        Args:
            rows: The rows that may be seen.
        """
        return GraphView(self._store, rows)

    def keeping_edges(self, keep: Callable[[IntArray, IntArray], NDArray[np.bool_]]) -> "Graph":
        """Return the same nodes with some of their edges.

        Args:
            keep: From the two ends of edges, as rows, to whether each edge stays. It is asked for
                every kind.
        """
        edges = {name: part.keeping(keep(*part.edges())) for name, part in self._kinds().items()}
        return self._with_edges(edges)

    @property
    def is_settled(self) -> bool:
        """Whether heat diffuses on all edges: none came since the graph was built or settled."""
        return not any(isinstance(part, GrownAdjacency) for part in self._kinds().values())

    def settled(self) -> "Graph":
        """Return an equal graph in which heat diffuses on all edges, new ones included.

        After :meth:`grow`, ``graft`` keeps the heat of old nodes, and gives new ones the mean of
        their neighbours, until one percent of the nodes or two percent of the edges are new. This
        ends it sooner.

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
        """Return an equal graph that stores derived arrays in a cache.

        Args:
            array_cache: The place.
        """
        copy = Graph.from_store(self._store.with_array_cache(array_cache))
        copy.take_over(self)
        return copy

    def with_features(self, features: Matrix, recipe: stores.Recipe | None = None) -> "Graph":
        """Return the same nodes and edges with other features.

        Args:
            features: One row of numbers per node.
            recipe: How a table becomes them; None if as before.
        """
        kinds, how = self._kinds(), recipe or self.recipe
        return Graph.from_parts(self._store.keys, features, kinds, how)

    def without(self, rows: IntArray) -> "Graph":
        """Return a smaller graph, without some nodes and their edges.

        >>> graph = Graph(["a", "b", "c"], np.eye(3), [("a", "b"), ("b", "c")])
        >>> graph.without(np.array([0]))
        Graph(2 nodes, 1 undirected edges, 3 features)

        Args:
            rows: The nodes that go.
        """
        left = np.setdiff1d(self.rows, rows)
        edges = {name: part.induced(left) for name, part in self._kinds().items()}
        keys = NodeKeys(self._store.keys.array_at(left))
        return Graph.from_parts(keys, self._features[left], edges, self.recipe)

    def with_edges_of(self, other: "Graph") -> "Graph":
        """Return this graph with the edges that another one has between nodes of both.

        >>> graph = Graph(["a", "b", "c"], np.eye(3), [("a", "b"), ("b", "c")])
        >>> Graph(["c", "b", "d"], np.eye(3)).with_edges_of(graph)
        Graph(3 nodes, 1 undirected edges, 3 features)

        Args:
            other: A graph with some of the same node keys; types, weights and directions of its
                edges are kept.
        """
        place = self.node_keys.find(other.key_array_of(other.rows))
        kinds = other._kinds().items()
        return self._with_edges(
            {name: part.renumbered(place, self.num_nodes) for name, part in kinds}
        )

    def merging_kinds(self) -> "Graph":
        """Return the same graph with edges of one type, without weight or direction."""
        joined = self._adjacency
        edges = Adjacency(joined.indptr, joined.indices, origin=joined.origin)
        return self._with_edges(edges)

    def weighing_kinds(self, weights: Mapping[str, float]) -> "Graph":
        """Return the same graph with edges of one type, weighted by the weight of their former
        type.

        Args:
            weights: What each kind is worth, by its name, at least 0.
        """
        kinds = self._kinds()
        edges = weighed(list(kinds.values()), [weights[name] for name in kinds])
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
        """Return the same graph in another row order, with the new row numbers as keys.

        Args:
            rows: Every row once: the new row ``i`` is ``rows[i]`` of this graph.
        """
        place = np.argsort(rows)
        edges = {
            name: part.renumbered(place, self.num_nodes) for name, part in self._kinds().items()
        }
        keys = NodeKeys(np.arange(self.num_nodes))
        return Graph.from_parts(keys, self.features(rows), edges, self.recipe)

    @property
    def node_keys(self) -> NodeKeys:
        """The nodes by their keys, in row order."""
        return self._store.keys

    @property
    def num_stored_features(self) -> int:
        """How many feature values are stored: the non-zero ones of sparse features, else all."""
        return num_stored(self._store.feature_matrix)

    def edges(self) -> tuple[IntArray, IntArray]:
        """Return every pair of joined nodes once, whatever the edge type, as two arrays of rows."""
        return self._adjacency.edges()

    def grow(
        self, keys: Sequence[Key] = (), features: Matrix | None = None, edges: Edges = ()
    ) -> "Graph":
        """Return a graph with more nodes and edges; old rows and keys stay as they are.

        For tables instead of arrays see :func:`nodegraft.grow_graph`.

        >>> small = Graph(["a"], np.ones((1, 2)))
        >>> small.grow(["b"], np.zeros((1, 2)), [("a", "b")]).num_edges
        1

        Args:
            keys: The new nodes.
            features: One row of numbers for each of them, as many columns as the graph has.
            edges: Pairs of keys, old and new ones; where the graph has several kinds of edges, by
                kind. A kind may be new; one that is known keeps its direction.
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
        """New edges by kind, with the direction that their kind has here."""
        known = self._kinds()
        if not isinstance(edges, Mapping) and len(known) > 1:
            if not isinstance(edges, Relation) and not len(edges := list(edges)):
                return {}
            raise DataError(
                f"This graph has the edge types {', '.join(known)}: give the type of the new "
                f'edges, as in {{"{next(iter(known))}": pairs}}.'
            )
        given = relations_in(edges, next(iter(known)))
        for name, new in given.items():
            if name in known and known[name].is_directed:
                given[name] = replace(new, directed=True)
            elif name in known and known[name].num_edges and new.directed:
                raise DataError(f"Edges of type {name!r} have no direction in this graph.")
        return given

    @cached_property
    def content_hash(self) -> str:
        """Depends on every key, feature and edge."""
        return stores.content_of(self._store)

    def __repr__(self) -> str:
        kinds = f" of {len(self.relations)} types" if len(self.relations) > 1 else ""
        return (
            f"Graph({self.num_nodes:,} nodes, {self.num_edges:,} undirected edges{kinds}, "
            f"{self.num_features:,} features)"
        )

    def _repr_html_(self) -> str:
        return summary_html("Graph", self.facts())

    def facts(self) -> list[tuple[str, str]]:
        """Return what a summary says: name and value of the numbers of nodes, edges and features.

        >>> Graph(["a", "b"], np.eye(2), {"like": [("a", "b")]}).facts()
        [('nodes', '2'), ('edges', '1'), ('edge types', 'like 1'), ('features', '2')]
        """
        kinds = self._kinds()
        counts = [f"{name} {edges.num_edges:,}" for name, edges in kinds.items()]
        types = [("edge types", listed(counts))] if list(kinds) != [stores.EDGES] else []
        return [
            ("nodes", f"{self.num_nodes:,}"),
            ("edges", f"{self.num_edges:,}"),
            *types,
            ("features", f"{self.num_features:,}"),
        ]
