"""The graph: nodes with keys and features, and who is joined to whom. Never a label."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from nodegraft.base.errors import DataError
from nodegraft.base.hashing import content_hash
from nodegraft.graph.algebra.adjacency import Adjacency
from nodegraft.graph.algebra.matrix import IntArray, Matrix, index_type, is_sparse
from nodegraft.graph.keys import Key, NodeKeys
from nodegraft.graph.stores.memory import MemoryStore
from nodegraft.graph.stores.protocol import GraphStore, Recipe
from nodegraft.graph.view import GraphView

if TYPE_CHECKING:
    from torch_geometric.data import Data

Edges = Iterable[tuple[Key, Key]] | NDArray[Any]


class Graph(GraphView):
    """An immutable, undirected graph, seen as a whole; :meth:`grow` gives a larger one.

    Code above ``nodegraft.graph`` asks it for rows, neighbours and propagations and never sees
    the arrays behind them, so that another store can stand behind the same questions.

    >>> graph = Graph(["a", "b", "c"], np.eye(3), [("a", "b"), ("b", "c")])
    >>> graph, graph.keys_of(graph.neighbours([1])[1])
    (Graph(3 nodes, 2 undirected edges, 3 features), ['a', 'c'])

    Args:
        keys: The user's name of each node, all text or all integers, each once.
        features: One row of numbers per node, in the order of ``keys``; dense or SciPy sparse. They
            are kept without a copy where their type allows it: do not write into them later.
        edges: Pairs of keys, one pair per edge, in either direction; loops and repeated edges are
            dropped.
        recipe: How a table became the features, where they came from one; see
            :func:`nodegraft.read_graph`.
    """

    def __init__(
        self,
        keys: Sequence[Key] | NDArray[Any],
        features: Matrix,
        edges: Edges = (),
        *,
        recipe: Recipe | None = None,
    ) -> None:
        node_keys = NodeKeys(keys)
        adjacency = Adjacency.from_edges(*_edge_rows(node_keys, edges), len(node_keys))
        super().__init__(MemoryStore(node_keys, features, adjacency, recipe))

    @classmethod
    def from_store(cls, store: GraphStore) -> "Graph":
        """The graph that lies in a store.

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
        adjacency: Adjacency,
        recipe: Recipe | None = None,
    ) -> "Graph":
        """From parts already built.

        Args:
            keys: The nodes, in row order.
            features: One row of numbers per node.
            adjacency: The edges, by rows instead of keys.
            recipe: How a table became the features, where they came from one.
        """
        return cls.from_store(MemoryStore(keys, features, adjacency, recipe))

    @classmethod
    def from_pyg(cls, data: "Data", keys: Sequence[Key] | None = None) -> "Graph":
        """From a PyG ``Data``: its ``x`` and ``edge_index`` (made undirected); never its ``y``.

        Args:
            data: A homogeneous graph.
            keys: The name of each node; the row numbers if none are given.
        """
        if data.x is None or data.edge_index is None:
            raise DataError("The PyG Data needs both x and edge_index.")
        x = data.x.detach().cpu()
        features: Matrix = x.numpy() if x.layout == torch.strided else _from_sparse(x)
        ends = data.edge_index.cpu().numpy()
        count = int(data.num_nodes)
        if ends.size and not 0 <= ends.min() <= ends.max() < count:
            raise DataError(f"edge_index names nodes that are not among the {count} rows of x.")
        node_keys = NodeKeys(np.arange(count) if keys is None else keys)
        adjacency = Adjacency.from_edges(ends[0], ends[1], count)
        return cls.from_parts(node_keys, features, adjacency)

    def to_pyg(self) -> "Data":
        """A PyG ``Data`` with dense ``x`` and both directions of every edge, in row order."""
        from torch_geometric.data import Data

        x = self.features(self.rows)
        source = np.repeat(self.rows, self._adjacency.degrees())
        edge_index = np.stack((source, self._adjacency.indices.astype(np.int64)))
        return Data(
            x=torch.from_numpy(x.toarray() if is_sparse(x) else x),
            edge_index=torch.from_numpy(edge_index),
        )

    def view(self, rows: IntArray) -> GraphView:
        """A part of it, in which all other nodes are hidden.

        Args:
            rows: The rows that may be seen.
        """
        return GraphView(self._store, rows)

    def with_edges(self, adjacency: Adjacency) -> "Graph":
        """The same nodes with other edges.

        Args:
            adjacency: The edges, by rows.
        """
        return Graph.from_parts(
            self._store.keys, self._store.feature_matrix, adjacency, self.recipe
        )

    def reordered(self, rows: IntArray) -> "Graph":
        """The same graph in another row order, nodes known by their new row numbers only.

        Args:
            rows: Every row once: the new row ``i`` is ``rows[i]`` of this graph.
        """
        place = np.argsort(rows)
        source, target = self.edges()
        adjacency = Adjacency.from_edges(place[source], place[target], self.num_nodes)
        keys = NodeKeys(np.arange(self.num_nodes))
        return Graph.from_parts(keys, self.features(rows), adjacency, self.recipe)

    @property
    def num_stored_features(self) -> int:
        """How many feature values are stored: the non-zero ones of sparse features, else all."""
        features = self._store.feature_matrix
        return int(features.nnz if is_sparse(features) else features.size)

    def edges(self) -> tuple[IntArray, IntArray]:
        """Every undirected edge once, as two arrays of rows."""
        return self._adjacency.edges()

    def grow(
        self, keys: Sequence[Key] = (), features: Matrix | None = None, edges: Edges = ()
    ) -> "Graph":
        """A graph with more nodes and edges; old rows stay as they are, old keys stay taken.

        For tables instead of arrays see :func:`nodegraft.grow_graph`.

        >>> small = Graph(["a"], np.ones((1, 2)))
        >>> small.grow(["b"], np.zeros((1, 2)), [("a", "b")]).num_edges
        1

        Args:
            keys: The new nodes.
            features: One row of numbers for each of them, as many columns as the graph has.
            edges: Pairs of keys, old and new ones.
        """
        all_keys = self._store.keys.extend(keys)
        if len(all_keys) > self.num_nodes and features is None:
            raise DataError(f"{len(keys)} new nodes need feature rows too.")
        all_features = self._store.feature_matrix
        if features is not None:
            all_features = _stacked(all_features, features)
        source, target = self._adjacency.edges()
        new_source, new_target = _edge_rows(all_keys, edges)
        adjacency = Adjacency.from_edges(
            np.concatenate((source, new_source)),
            np.concatenate((target, new_target)),
            len(all_keys),
        )
        return Graph.from_parts(all_keys, all_features, adjacency, self.recipe)

    @cached_property
    def content_hash(self) -> str:
        """Depends on every key, feature and edge."""
        keys, features = self._store.keys, self._store.feature_matrix
        stored = (
            (features.indptr, features.indices, features.data)
            if is_sparse(features)
            else (features,)
        )
        joined = self._adjacency
        kind = index_type(max(self.num_nodes, joined.indices.size))
        return content_hash(
            keys.values().tolist() if keys.is_text else keys.values(),
            self.num_features,
            *stored,
            joined.indptr.astype(kind, copy=False),
            joined.indices.astype(kind, copy=False),
        )

    def __repr__(self) -> str:
        return (
            f"Graph({self.num_nodes:,} nodes, {self.num_edges:,} undirected edges, "
            f"{self.num_features:,} features)"
        )


def _from_sparse(x: torch.Tensor) -> Matrix:
    entries = x.to_sparse().coalesce()
    rows, columns = entries.indices().numpy()
    return csr_array((entries.values().numpy(), (rows, columns)), shape=tuple(x.shape))


def _stacked(old: Matrix, new: Matrix) -> Matrix:
    if new.ndim != 2 or old.shape[1] != new.shape[1]:
        raise DataError(f"New feature rows have {new.shape[-1]} columns, the graph {old.shape[1]}.")
    if is_sparse(old):
        return csr_array(vstack((old, csr_array(new)), format="csr"))
    dense = new.toarray() if is_sparse(new) else new
    return np.concatenate((old, dense.astype(old.dtype)))


def _edge_rows(keys: NodeKeys, edges: Edges) -> tuple[IntArray, IntArray]:
    pairs = np.asarray(edges) if hasattr(edges, "__array__") else list(edges)
    if isinstance(pairs, np.ndarray):
        ends = keys.rows(_as_pairs(pairs).ravel())
    else:
        for pair in pairs:
            if isinstance(pair, str) or len(pair) != 2:
                raise DataError(f"An edge is a pair of node keys, not {pair!r}.")
        ends = keys.rows([end for pair in pairs for end in pair])
    return ends[0::2], ends[1::2]


def _as_pairs(edges: NDArray[Any]) -> NDArray[Any]:
    if edges.size and (edges.ndim != 2 or edges.shape[1] != 2):
        hint = ": give its transpose" if edges.ndim == 2 and edges.shape[0] == 2 else ""
        raise DataError(
            "Edges need one row per edge with two keys; this array has the shape "
            f"{edges.shape}{hint}."
        )
    return edges
