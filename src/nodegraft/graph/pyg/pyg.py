"""From PyTorch Geometric's graphs to ours, and back."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch_geometric.data import Data, HeteroData

from nodegraft.base.errors import DataError
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.entries import OUT, weights_of
from nodegraft.graph.edges.matrix import Matrix, is_sparse
from nodegraft.graph.edges.relation import by_rows, kinds_with_direction
from nodegraft.graph.stores.protocol import EDGES


def parts_of(
    data: Data | HeteroData, directed: bool | Collection[str]
) -> tuple[Matrix, dict[str, Adjacency]]:
    """Features, and the edges of each kind.

    Args:
        data: The graph.
        directed: Whether edges have a direction; or the kinds whose edges have one.
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
    """A PyG ``Data`` with dense ``x``.

    Args:
        features: One row a node.
        kinds: The edges of each kind.
    """
    parts = [edges.entries() for edges in kinds.values()]
    shown = [
        slice(None) if part.directions is None else np.flatnonzero(part.directions & OUT)
        for part in parts
    ]
    ends = [
        np.stack((part.rows[some], part.columns[some].astype(np.int64)))
        for part, some in zip(parts, shown, strict=True)
    ]
    data = Data(
        x=torch.from_numpy(features.toarray() if is_sparse(features) else features),
        edge_index=torch.from_numpy(np.concatenate(ends, axis=1)),
    )
    if len(parts) > 1:
        counts = [pairs.shape[1] for pairs in ends]
        data.edge_type = torch.from_numpy(np.repeat(np.arange(len(parts)), counts))
    if any(part.weights is not None for part in parts):
        weights = [weights_of(part)[some] for part, some in zip(parts, shown, strict=True)]
        data.edge_weight = torch.from_numpy(np.concatenate(weights))
    return data


def _from_sparse(x: torch.Tensor) -> Matrix:
    entries = x.to_sparse().coalesce()
    rows, columns = entries.indices().numpy()
    return csr_array((entries.values().numpy(), (rows, columns)), shape=tuple(x.shape))
