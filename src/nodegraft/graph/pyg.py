"""Conversion from and to PyTorch Geometric (PyG), and PyG's store interfaces."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch_geometric.data import Data, FeatureStore, GraphStore, HeteroData, TensorAttr
from torch_geometric.data.graph_store import EdgeAttr, EdgeLayout

from nodegraft.base.errors import DataError, ParameterError
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.entries import IN, OUT, weights_of
from nodegraft.graph.edges.matrix import Matrix, is_sparse
from nodegraft.graph.edges.relation import by_rows, kinds_with_direction
from nodegraft.graph.stores import EDGES
from nodegraft.graph.stores import GraphStore as OurStore
from nodegraft.graph.view import GraphView


def parts_of(
    data: Data | HeteroData, directed: bool | Collection[str]
) -> tuple[Matrix, dict[str, Adjacency]]:
    """Return the feature matrix and the edges of each edge type of a PyG object.

    Args:
        directed: Whether edges have a direction, or the names of the directed edge types.
    """
    nodes, kinds = _of_one_type(data) if isinstance(data, HeteroData) else _kinds(data)
    x = nodes.x.detach().cpu()
    features: Matrix = x.numpy() if x.layout == torch.strided else _from_sparse(x)
    one_way = kinds_with_direction(directed, kinds)
    edges = {}
    for name, (ends, weights) in kinds.items():
        if ends.size and not 0 <= ends.min() <= ends.max() < len(x):
            raise DataError(f"edge_index names nodes that are not among the {len(x)} rows of x.")
        edges[name] = by_rows(ends[0], ends[1], len(x), weights, name in one_way)
    return features, edges


Ends = tuple[NDArray[np.int64], NDArray[Any] | None]


def _of_one_type(data: HeteroData) -> tuple[Any, dict[str, Ends]]:
    if len(data.node_types) != 1:
        raise DataError(
            f"Nodes must be of one type; this HeteroData has {', '.join(data.node_types)}. Give "
            "the part of it whose nodes are to be classified."
        )
    nodes = data[data.node_types[0]]
    whole = all(data[kind].get("edge_index") is not None for kind in data.edge_types)
    if nodes.get("x") is None or not data.edge_types or not whole:
        raise DataError("The PyG HeteroData needs both x and edge_index.")
    return nodes, {kind[1]: _ends(data[kind]) for kind in data.edge_types}


def _kinds(data: Data) -> tuple[Data, dict[str, Ends]]:
    if data.x is None or data.edge_index is None:
        raise DataError("The PyG Data needs both x and edge_index.")
    ends, weights = _ends(data)
    if data.get("edge_type") is None:
        return data, {EDGES: (ends, weights)}
    types = data.edge_type.cpu().numpy()
    for name, numbers in (("edge_type", types), ("edge_weight", weights)):
        if numbers is not None and numbers.shape != ends[0].shape:
            raise DataError(f"{ends.shape[1]} edges need as many numbers in {name}.")
    kinds: dict[str, Ends] = {}
    for number in np.unique(types).tolist() or [0]:
        some = types == number
        kinds[str(number)] = ends[:, some], None if weights is None else weights[some]
    return data, kinds


def _ends(edges: Any) -> Ends:
    weights = edges.get("edge_weight")
    return (
        edges.edge_index.cpu().numpy(),
        None if weights is None else weights.detach().cpu().numpy(),
    )


def as_data(features: Matrix, kinds: Mapping[str, Adjacency]) -> Data:
    """Create a PyG ``Data`` object with dense features ``x``."""
    parts = [edges.entries() for edges in kinds.values()]
    selections = [
        slice(None) if part.directions is None else np.flatnonzero(part.directions & OUT)
        for part in parts
    ]
    ends = [
        np.stack((part.rows[some], part.columns[some].astype(np.int64)))
        for part, some in zip(parts, selections, strict=True)
    ]
    data = Data(
        x=torch.from_numpy(features.toarray() if is_sparse(features) else features),
        edge_index=torch.from_numpy(np.concatenate(ends, axis=1)),
    )
    if len(parts) > 1:
        counts = [pairs.shape[1] for pairs in ends]
        data.edge_type = torch.from_numpy(np.repeat(np.arange(len(parts)), counts))
    if any(part.weights is not None for part in parts):
        weights = [weights_of(part)[some] for part, some in zip(parts, selections, strict=True)]
        data.edge_weight = torch.from_numpy(np.concatenate(weights))
    return data


def _from_sparse(x: torch.Tensor) -> Matrix:
    entries = x.to_sparse().coalesce()
    rows, columns = entries.indices().numpy()
    return csr_array((entries.values().numpy(), (rows, columns)), shape=tuple(x.shape))


NODE = "node"
"""Name of the only node type in PyG's stores."""

FEATURES = "x"


class PyGFeatureStore(FeatureStore):  # type: ignore[misc]
    """PyG feature store for a graph: ``store["node", "x", rows]`` returns dense rows.

    Args:
        view: Graph or view of a graph.
    """

    def __init__(self, view: GraphView) -> None:
        super().__init__()
        # Write to __dict__, because PyG's store treats attributes as tensors.
        self.__dict__["_view"] = view

    def get_all_tensor_attrs(self) -> list[TensorAttr]:
        """Return the attributes of all tensors in the store, which has only the features."""
        return [TensorAttr(NODE, FEATURES)]

    def _get_tensor(self, attr: TensorAttr) -> torch.Tensor | None:
        if (attr.group_name, attr.attr_name) != (NODE, FEATURES):
            return None
        features = self._view.features(_rows(attr.index, self._view.num_nodes))
        return torch.from_numpy(features.toarray() if is_sparse(features) else features)

    def _get_tensor_size(self, attr: TensorAttr) -> tuple[int, ...] | None:
        return self._view.num_nodes, self._view.num_features

    def _put_tensor(self, tensor: Any, attr: TensorAttr) -> bool:
        raise _immutable()

    def _remove_tensor(self, attr: TensorAttr) -> bool:
        raise _immutable()


class PyGGraphStore(GraphStore):  # type: ignore[misc]
    """PyG graph store with edge types ``("node", relation, "node")``.

    Layouts are CSR, CSC and COO. Undirected edges are included in both directions. Edges are copied
    when they are read, because PyG needs 64-bit integers.

    Args:
        store: Store of the graph.
    """

    def __init__(self, store: OurStore) -> None:
        super().__init__()
        self.__dict__["_store"] = store

    def get_all_edge_attrs(self) -> list[EdgeAttr]:
        """Return the attributes of all edge types, each in CSR and CSC layout."""
        size = (len(self._store.keys),) * 2
        return [
            EdgeAttr((NODE, name, NODE), layout, size=size)
            for name in self._store.relations
            for layout in (EdgeLayout.CSR, EdgeLayout.CSC)
        ]

    def _get_edge_index(self, edge_attr: EdgeAttr) -> tuple[torch.Tensor, torch.Tensor] | None:
        source, name, target = edge_attr.edge_type
        if (source, target) != (NODE, NODE) or name not in self._store.relations:
            return None
        by_target = edge_attr.layout == EdgeLayout.CSC
        ends, indices = self._entries(name, IN if by_target else OUT)
        if edge_attr.layout == EdgeLayout.COO:
            ends = np.repeat(np.arange(ends.size - 1), np.diff(ends))
        pair = torch.from_numpy(ends.astype(np.int64)), torch.from_numpy(indices.astype(np.int64))
        return pair[::-1] if by_target else pair

    def _entries(self, name: str, direction: np.uint8) -> tuple[NDArray[Any], NDArray[Any]]:
        edges = self._store.adjacency(name)
        if edges.directions is None:
            edges.check_mapped()
            return edges.indptr, edges.indices
        matrix = edges.along(direction)
        return matrix.indptr, matrix.indices

    def _put_edge_index(self, edge_index: Any, edge_attr: EdgeAttr) -> bool:
        raise _immutable()

    def _remove_edge_index(self, edge_attr: EdgeAttr) -> bool:
        raise _immutable()


def _rows(index: Any, count: int) -> NDArray[np.int64]:
    if index is None:
        return np.arange(count)
    if isinstance(index, slice):
        return np.arange(count)[index]
    numbers = index.numpy() if isinstance(index, torch.Tensor) else np.asarray(index)
    if numbers.dtype == bool:
        return np.flatnonzero(numbers)
    return np.atleast_1d(numbers).astype(np.int64)


def _immutable() -> ParameterError:
    return ParameterError("A nodegraft graph is immutable: grow it instead of writing to it.")
