"""A graph (and labels) in one directory of arrays and JSON."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.base.bundle import read_bundle, write_bundle
from nodegraft.base.errors import CheckpointError, DataError
from nodegraft.graph.adjacency import Adjacency
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import NodeKeys
from nodegraft.graph.matrix import Matrix, is_sparse

SCHEMA = 1

Arrays = dict[str, NDArray[Any]]


def save_graph(graph: Graph, directory: Path, document: dict[str, Any] | None = None) -> None:
    """Write a new directory; ``document`` is JSON of the caller's that travels along."""
    arrays: Arrays = {
        "adjacency.indptr": graph._adjacency.indptr,
        "adjacency.indices": graph._adjacency.indices,
        **_pack_features(graph._features),
        **_pack_keys(graph._keys),
    }
    header = {"schema": SCHEMA, "kind": "graph", "num_features": graph.num_features}
    write_bundle(directory, arrays, {**header, "document": document or {}})


def load_graph(directory: Path) -> tuple[Graph, dict[str, Any]]:
    """The graph and the caller's JSON."""
    arrays, header = read_bundle(directory)
    if header.get("kind") != "graph" or header.get("schema") != SCHEMA:
        raise CheckpointError(f"{directory} does not hold a graph of schema {SCHEMA}.")
    try:
        adjacency = Adjacency(arrays["adjacency.indptr"], arrays["adjacency.indices"])
        features = _unpack_features(arrays, adjacency.num_nodes, header["num_features"])
        document: dict[str, Any] = header["document"]
        return Graph.from_parts(_unpack_keys(arrays), features, adjacency), document
    except (KeyError, ValueError, DataError) as error:
        raise CheckpointError(f"{directory} does not hold a whole graph: {error}") from error


def _pack_features(features: Matrix) -> Arrays:
    if is_sparse(features):
        return {f"features.{part}": getattr(features, part) for part in _CSR}
    return {"features": features}


_CSR = ("data", "indices", "indptr")


def _unpack_features(arrays: Arrays, rows: int, columns: int) -> Matrix:
    if "features" in arrays:
        return arrays["features"]
    return csr_array(tuple(arrays[f"features.{part}"] for part in _CSR), shape=(rows, columns))


def _pack_keys(keys: NodeKeys) -> Arrays:
    if not keys.is_text:
        return {"keys": keys.values()}
    encoded = [key.encode() for key in keys.values()]
    ends = np.cumsum([len(key) for key in encoded], dtype=np.int64)
    return {"keys.text": np.frombuffer(b"".join(encoded), dtype=np.uint8), "keys.ends": ends}


def _unpack_keys(arrays: Arrays) -> NodeKeys:
    if "keys" in arrays:
        return NodeKeys(arrays["keys"])
    text, ends = arrays["keys.text"].tobytes(), arrays["keys.ends"].tolist()
    starts = [0, *ends[:-1]]
    return NodeKeys([text[a:b].decode() for a, b in zip(starts, ends, strict=True)])
