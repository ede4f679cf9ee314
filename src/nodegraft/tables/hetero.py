"""Convert graphs with several node types from and to PyG's ``HeteroData``."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from torch_geometric.data import HeteroData

from nodegraft.base.errors import DataError
from nodegraft.graph.edges.matrix import is_sparse
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import Key
from nodegraft.graph.node_types import SEPARATOR, qualified, type_numbers
from nodegraft.tables.features.recipe import FeatureRecipe
from nodegraft.tables.read import read_graph

FEATURES = "x"
"""Name of the features in PyG, and of the column made from them."""

WEIGHT = "edge_weight"


def read_hetero(
    data: HeteroData,
    target: str,
    keys: Mapping[str, Sequence[Key]] | None = None,
    *,
    directed: bool | Iterable[str] = False,
) -> Graph:
    """Create a graph from a PyG ``HeteroData`` with nodes of several types.

    Nodes of the type ``target`` keep their keys, and node 17 of type ``user`` has the key
    ``user:17``. Features are the dense ``x`` of each type that has one. Labels are not read.

    Args:
        data: PyG object.
        target: Node type that is classified.
        keys: Mapping from node type to the keys of its nodes; row numbers for other types.
        directed: Whether edges have a direction, or the names of the directed edge types, such as
            ``user:bought:product``.
    """
    if target not in data.node_types:
        raise DataError(f"{target!r} is none of the node types {', '.join(data.node_types)}.")
    types = [target, *(name for name in data.node_types if name != target)]
    named = {name: _keys(data, name, (keys or {}).get(name)) for name in types}
    tables, features = dict[str, pa.Table](), list[str]()
    for name in types:
        columns: dict[str, Any] = {"key": named[name]}
        x = data[name].get(FEATURES)
        if x is not None:
            values = x.detach().cpu().to_dense().numpy().astype(np.float32)
            flat = pa.array(np.ascontiguousarray(values).ravel())
            columns[FEATURES] = pa.FixedSizeListArray.from_arrays(flat, values.shape[1])
            features.append(qualified(FEATURES, name, types))
        tables[name] = pa.table(columns)
    edges = {
        kind: _edge_table(data[kind], named[kind[0]], named[kind[2]]) for kind in data.edge_types
    }
    weight = WEIGHT if any(WEIGHT in table.column_names for table in edges.values()) else None
    return read_graph(
        tables, edges, features=features or None, directed=directed, edge_weight=weight
    )


def to_hetero(graph: Graph) -> HeteroData:
    """Convert a graph with several node types to a PyG ``HeteroData`` with dense ``x``.

    A type without features has ``num_nodes`` instead. ``key`` lists the keys of each type. Edges
    have the direction of their type's name.

    Args:
        graph: Graph that was read from tables of several node types.
    """
    recipe = graph.recipe
    if not isinstance(recipe, FeatureRecipe) or not recipe.node_types:
        raise DataError("This graph has one node type: use graph.to_pyg().")
    types, data = recipe.node_types, HeteroData()
    numbers = type_numbers(graph.key_array_of(graph.rows), types)
    place = np.zeros(graph.num_nodes, dtype=np.int64)
    for number, name in enumerate(types):
        rows = np.flatnonzero(numbers == number)
        place[rows] = np.arange(rows.size)
        prefix = qualified("", name, types)
        data[name].key = [str(key).removeprefix(prefix) for key in graph.keys_of(rows)]
        own = recipe.features_of(name)
        if own.any():
            x = graph.features(rows)[:, np.flatnonzero(own)]
            data[name].x = torch.from_numpy(x.toarray() if is_sparse(x) else x)
        else:
            data[name].num_nodes = rows.size
    for relation in graph.relations:
        source, target, weights = graph.edges_of(relation)
        first, name, last = relation.split(SEPARATOR)
        turned = (numbers[source] != types.index(first)) | (numbers[target] != types.index(last))
        ends = np.where(turned, (target, source), (source, target))
        data[first, name, last].edge_index = torch.from_numpy(place[ends])
        if weights is not None:
            data[first, name, last].edge_weight = torch.from_numpy(weights)
    return data


def _keys(data: HeteroData, name: str, keys: Sequence[Key] | None) -> list[str]:
    count = data[name].num_nodes
    listed = list(range(count) if keys is None else keys)
    if len(listed) != count:
        raise DataError(f"{len(listed)} keys were given for {count} nodes of type {name!r}.")
    return [str(key) for key in listed]


def _edge_table(edges: Any, sources: list[str], targets: list[str]) -> pa.Table:
    ends: NDArray[np.int64] = edges.edge_index.cpu().numpy()
    columns = {
        "source": pa.array(sources).take(pa.array(ends[0])),
        "target": pa.array(targets).take(pa.array(ends[1])),
    }
    weights = edges.get(WEIGHT)
    if weights is not None:
        columns[WEIGHT] = pa.array(weights.detach().cpu().numpy())
    return pa.table(columns)
