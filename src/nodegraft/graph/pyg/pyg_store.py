"""Any of our graphs behind PyG's two store interfaces, so that PyG's own code can read it."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch_geometric.data import FeatureStore, GraphStore, TensorAttr
from torch_geometric.data.graph_store import EdgeAttr, EdgeLayout

from nodegraft.base.errors import ParameterError
from nodegraft.graph.edges.entries import IN, OUT
from nodegraft.graph.edges.matrix import is_sparse
from nodegraft.graph.stores.protocol import GraphStore as OurStore
from nodegraft.graph.view import GraphView

NODE = "node"
"""The name of the one type of nodes there is."""

FEATURES = "x"


class PyGFeatureStore(FeatureStore):  # type: ignore[misc]
    """Feature rows as ``store["node", "x", rows]``: dense, and only those that are asked for.

    Args:
        view: The graph.
    """

    def __init__(self, view: GraphView) -> None:
        super().__init__()
        # Not an attribute like others: PyG's store takes those for tensors.
        self.__dict__["_view"] = view

    def get_all_tensor_attrs(self) -> list[TensorAttr]:
        """The features are all there is."""
        return [TensorAttr(NODE, FEATURES)]

    def _get_tensor(self, attr: TensorAttr) -> torch.Tensor | None:
        if (attr.group_name, attr.attr_name) != (NODE, FEATURES):
            return None
        found = self._view.features(_rows(attr.index, self._view.num_nodes))
        return torch.from_numpy(found.toarray() if is_sparse(found) else found)

    def _get_tensor_size(self, attr: TensorAttr) -> tuple[int, ...] | None:
        return self._view.num_nodes, self._view.num_features

    def _put_tensor(self, tensor: Any, attr: TensorAttr) -> bool:
        raise _immutable()

    def _remove_tensor(self, attr: TensorAttr) -> bool:
        raise _immutable()


class PyGGraphStore(GraphStore):  # type: ignore[misc]
    """Edges of the type ``("node", relation, "node")`` in CSR, CSC or COO.

    Edges without a direction are there both ways. PyG counts in 64 bits: the edges of a kind are
    copied when they are asked for.

    Args:
        store: Where the graph lies.
    """

    def __init__(self, store: OurStore) -> None:
        super().__init__()
        self.__dict__["_store"] = store

    def get_all_edge_attrs(self) -> list[EdgeAttr]:
        """Every kind of edges, by source and by target."""
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
        ends, joined = self._entries(name, IN if by_target else OUT)
        if edge_attr.layout == EdgeLayout.COO:
            ends = np.repeat(np.arange(ends.size - 1), np.diff(ends))
        pair = torch.from_numpy(ends.astype(np.int64)), torch.from_numpy(joined.astype(np.int64))
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
