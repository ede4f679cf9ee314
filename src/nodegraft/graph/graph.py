"""The graph: nodes with keys and features, and who is joined to whom. Never a label."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from nodegraft.base.errors import DataError, UnknownNodeError
from nodegraft.base.hashing import content_hash
from nodegraft.graph.adjacency import Adjacency
from nodegraft.graph.keys import Key, NodeKeys
from nodegraft.graph.matrix import IntArray, Matrix, index_type, is_sparse, take_rows

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from nodegraft.graph.view import GraphView


class Graph:
    """An immutable, undirected graph; :meth:`grow` gives a larger one with the same rows.

    Code above ``nodegraft.graph`` asks it for rows, neighbours and propagations and never sees
    the arrays behind them, so that another store can stand behind the same questions.

    >>> graph = Graph(["a", "b", "c"], np.eye(3), [("a", "b"), ("b", "c")])
    >>> graph.num_nodes, graph.num_edges, graph.keys_of(graph.neighbours([1])[1])
    (3, 2, ['a', 'c'])
    """

    def __init__(
        self,
        keys: Sequence[Key] | NDArray[Any],
        features: Matrix,
        edges: Iterable[tuple[Key, Key]] = (),
    ) -> None:
        node_keys = NodeKeys(keys)
        self._set(node_keys, features, _joined(node_keys, edges))

    @classmethod
    def from_parts(cls, keys: NodeKeys, features: Matrix, adjacency: Adjacency) -> "Graph":
        """From parts already built (rows instead of keys in the adjacency)."""
        graph = cls.__new__(cls)
        graph._set(keys, features, adjacency)
        return graph

    def _set(self, keys: NodeKeys, features: Matrix, adjacency: Adjacency) -> None:
        if features.ndim != 2:
            raise DataError(f"Features need one row per node and columns: shape {features.shape}.")
        if not (len(keys) == features.shape[0] == adjacency.num_nodes):
            raise DataError(
                f"{len(keys)} keys, {features.shape[0]} feature rows and {adjacency.num_nodes} "
                "nodes in the edges: these must be equal."
            )
        stored = _stored(features)
        if not np.isfinite(stored.data if is_sparse(stored) else stored).all():
            raise DataError("Features hold NaN or infinite values: replace them first.")
        self._keys, self._features, self._adjacency = keys, stored, adjacency

    @classmethod
    def from_tables(cls, nodes: str | Path, edges: str | Path, **options: Any) -> "Graph":
        """From two Parquet or CSV files; see :func:`nodegraft.read_tables`."""
        from nodegraft.graph.tables import read_tables

        return read_tables(nodes, edges, **options).graph

    @classmethod
    def from_pyg(cls, data: "Data", keys: Sequence[Key] | None = None) -> "Graph":
        """From a PyG ``Data``: its ``x`` and ``edge_index`` (made undirected); never its ``y``."""
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

        x = self.features(np.arange(self.num_nodes))
        source = np.repeat(np.arange(self.num_nodes), self._adjacency.degrees())
        edge_index = np.stack((source, self._adjacency.indices.astype(np.int64)))
        return Data(
            x=torch.from_numpy(x.toarray() if is_sparse(x) else x),
            edge_index=torch.from_numpy(edge_index),
        )

    @property
    def num_nodes(self) -> int:
        """How many nodes."""
        return len(self._keys)

    @property
    def num_edges(self) -> int:
        """How many undirected edges."""
        return self._adjacency.num_edges

    @property
    def num_features(self) -> int:
        """How many columns a feature row has."""
        return int(self._features.shape[1])

    @property
    def num_stored_features(self) -> int:
        """How many feature values are stored: the non-zero ones of sparse features, else all."""
        return int(self._features.nnz if is_sparse(self._features) else self._features.size)

    def rows_of(self, keys: Iterable[Key]) -> NDArray[np.int64]:
        """Row numbers of keys; unknown ones are named in the error."""
        return self._keys.rows(keys)

    def keys_of(self, rows: IntArray | Sequence[int]) -> list[Key]:
        """Keys of rows."""
        return self._keys.at(rows)

    def features(self, rows: IntArray | Sequence[int]) -> Matrix:
        """Feature rows in float32, sparse if they are stored so."""
        return take_rows(self._features, self._checked(rows))

    def neighbours(self, rows: IntArray | Sequence[int]) -> tuple[IntArray, IntArray]:
        """How many neighbours each row has, and the neighbours one row after the other."""
        return self._adjacency.neighbours(self._checked(rows))

    def degrees(self, rows: IntArray | Sequence[int]) -> IntArray:
        """How many neighbours each row has."""
        return self._adjacency.degrees(self._checked(rows))

    def edges(self) -> tuple[IntArray, IntArray]:
        """Every undirected edge once, as two arrays of rows."""
        return self._adjacency.edges()

    def _checked(self, rows: IntArray | Sequence[int]) -> NDArray[np.int64]:
        checked = np.asarray(rows, dtype=np.int64)
        outside = checked[(checked < 0) | (checked >= self.num_nodes)]
        if outside.size:
            raise UnknownNodeError(outside.tolist(), checked.size)
        return checked

    def grow(
        self,
        keys: Sequence[Key] = (),
        features: Matrix | None = None,
        edges: Iterable[tuple[Key, Key]] = (),
    ) -> "Graph":
        """A graph with more nodes and edges; old rows stay as they are, old keys stay taken.

        >>> small = Graph(["a"], np.ones((1, 2)))
        >>> small.grow(["b"], np.zeros((1, 2)), [("a", "b")]).num_edges
        1
        """
        if len(keys) and features is None:
            raise DataError(f"{len(keys)} new nodes need feature rows too.")
        all_keys = self._keys.extend(keys)
        all_features = self._features
        if features is not None:
            all_features = _stacked(self._features, features)
        source, target = self._adjacency.edges()
        new_source, new_target = _edge_rows(all_keys, edges)
        adjacency = Adjacency.from_edges(
            np.concatenate((source, new_source)),
            np.concatenate((target, new_target)),
            len(all_keys),
        )
        return Graph.from_parts(all_keys, all_features, adjacency)

    @cached_property
    def whole(self) -> "GraphView":
        """The view in which every node is visible; made once, because it keeps propagations."""
        from nodegraft.graph.view import GraphView

        return GraphView(self)

    @cached_property
    def content_hash(self) -> str:
        """Depends on every key, feature and edge."""
        keys = self._keys.values()
        features = self._features
        stored = (
            (features.indptr, features.indices, features.data)
            if is_sparse(features)
            else (features,)
        )
        joined = self._adjacency
        kind = index_type(max(self.num_nodes, joined.indices.size))
        return content_hash(
            keys.tolist() if self._keys.is_text else keys,
            self.num_features,
            *stored,
            joined.indptr.astype(kind, copy=False),
            joined.indices.astype(kind, copy=False),
        )


def _from_sparse(x: torch.Tensor) -> Matrix:
    entries = x.to_sparse().coalesce()
    rows, columns = entries.indices().numpy()
    return csr_array((entries.values().numpy(), (rows, columns)), shape=tuple(x.shape))


def _stored(features: Matrix) -> Matrix:
    if is_sparse(features):
        matrix = csr_array(features, dtype=np.float32)
        if not matrix.has_canonical_format:
            # The arrays may still be the caller's own.
            matrix = matrix.copy()
            matrix.sum_duplicates()
        kind = index_type(max(*matrix.shape, matrix.nnz))
        indices, indptr = (
            part.astype(kind, copy=False) for part in (matrix.indices, matrix.indptr)
        )
        return csr_array((matrix.data, indices, indptr), shape=matrix.shape)
    with np.errstate(over="ignore"):
        kept = features if features.dtype == np.float16 else features.astype(np.float32, copy=False)
    return np.ascontiguousarray(kept)


def _stacked(old: Matrix, new: Matrix) -> Matrix:
    if old.shape[1] != new.shape[1]:
        raise DataError(f"New feature rows have {new.shape[1]} columns, the graph {old.shape[1]}.")
    if is_sparse(old):
        return csr_array(vstack((old, csr_array(new)), format="csr"))
    dense = new.toarray() if is_sparse(new) else new
    return np.concatenate((old, dense.astype(old.dtype)))


def _edge_rows(keys: NodeKeys, edges: Iterable[tuple[Key, Key]]) -> tuple[IntArray, IntArray]:
    pairs = list(edges)
    ends = keys.rows([end for pair in pairs for end in pair]).reshape(-1, 2)
    return ends[:, 0], ends[:, 1]


def _joined(keys: NodeKeys, edges: Iterable[tuple[Key, Key]]) -> Adjacency:
    return Adjacency.from_edges(*_edge_rows(keys, edges), len(keys))
