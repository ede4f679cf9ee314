"""Additions to a graph on disk, stored in small arrays beside its unchanged files."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.files.array_file import StoredArray, map_checked
from nodegraft.base.files.bundle import Arrays, prefixed, under
from nodegraft.graph.disk.mapped import MERGED, MappedStore
from nodegraft.graph.disk.mapped_keys import PackedTexts
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.matrix import Matrix, csr_arrays, from_csr_arrays, is_sparse
from nodegraft.graph.growth.growing import GrownKeys
from nodegraft.graph.growth.grown import GrownAdjacency, combine_again
from nodegraft.graph.growth.stacked import StackedRows, Stored, parts_of, some_rows
from nodegraft.graph.keys import KeyArray, NodeKeys
from nodegraft.graph.stores import GraphStore

GROWTH = "growth."
"""Name prefix of arrays with added nodes and edges."""

LARGEST_SHARE = 16
"""Additions are stored separately if they need at most 1/LARGEST_SHARE of the graph's bytes."""

EDGE_PARTS = ("indptr", "indices", "weights", "directions")
"""Names of the arrays of an adjacency."""


def growth_arrays(before: MappedStore, now: GraphStore) -> Arrays | None:
    """Return all nodes and edges that were added to a graph on disk as arrays.

    The arrays contain the keys and features of new nodes, and all edges of nodes that have a new
    edge. The result is None if they are too large to be stored separately.

    Args:
        before: Graph on disk. If it has grown before, its earlier additions are included in the
            result.
        now: Graph that grew from `before`.
    """
    edges = {name: now.adjacency(name) for name in now.relations}
    if _base_keys(now.keys) is not _base_keys(before.keys) or edges.keys() != before.edges.keys():
        return None
    places = {str(place): (before.edges[name], edges[name]) for place, name in enumerate(edges)}
    arrays = _rows_apart(places)
    if arrays is not None and len(edges) > 1:
        merged = _rows_apart({MERGED: (before.merged, _merged(before, list(edges.values())))})
        arrays = None if merged is None else {**arrays, **merged}
    if arrays is None:
        return None
    new = np.arange(before.manifest.nodes, len(now.keys))
    if new.size:
        arrays |= prefixed("keys.", _packed_keys(now.keys.array_at(new)))
        arrays |= prefixed("features.", _packed_rows(now.feature_matrix, new))
    size = sum(array.nbytes for array in arrays.values())
    whole = sum(_size(array) for array in before.manifest.arrays.values())
    return prefixed(GROWTH, arrays) if LARGEST_SHARE * size <= whole else None


def grown_store(
    base: MappedStore, growth: Mapping[str, StoredArray], files: Mapping[str, Path]
) -> MappedStore:
    """Return a graph on disk with nodes and edges that were added later.

    Args:
        growth: Descriptions of the arrays of :func:`growth_arrays`, by name.
    """
    origin = " or ".join(str(files[name]) for name in growth if ".keys." in name)
    arrays = under(
        GROWTH, {name: map_checked(files[name], array) for name, array in growth.items()}
    )
    keys: NodeKeys = base.keys
    features: Stored = base.feature_matrix
    if any(name.startswith("keys.") for name in arrays):
        keys = GrownKeys(base.keys, NodeKeys(_unpacked_keys(under("keys.", arrays), origin)))
        rows = _unpacked_rows(under("features.", arrays), base.manifest.features)
        if rows.shape[0] != len(keys) - len(base.keys):
            raise ValueError("new nodes and their feature rows do not fit each other")
        features = StackedRows((*parts_of(base.feature_matrix), rows))
    edges = {
        name: with_apart(edges, under(f"edges.{place}.", arrays), len(keys))
        for place, (name, edges) in enumerate(base.edges.items())
    }
    (merged, *others) = edges.values()
    if others:
        merged = with_apart(base.merged, under(f"edges.{MERGED}.", arrays), len(keys))
    parts = {"keys": keys, "feature_matrix": features, "edges": edges, "merged": merged}
    return replace(base, **parts, growth=growth, files=files)  # type: ignore[arg-type]


def _base_keys(keys: NodeKeys) -> NodeKeys:
    return keys.base if isinstance(keys, GrownKeys) else keys


def _base_edges(edges: Adjacency) -> Adjacency:
    return edges.base if isinstance(edges, GrownAdjacency) else edges


def _merged(before: MappedStore, kinds: list[Adjacency]) -> Adjacency:
    """Merge the edge types of a graph that has grown; recompute changed rows only."""
    apart = [kind.nodes for kind in kinds if isinstance(kind, GrownAdjacency)]
    nodes = np.unique(np.concatenate(apart))
    return combine_again(_base_edges(before.merged), kinds, None, nodes)


def _rows_apart(places: Mapping[str, tuple[Adjacency, Adjacency]]) -> Arrays | None:
    """Return the changed rows of each edge type as arrays.

    The result is None if all rows of a type were recomputed.

    Args:
        places: Mapping from the number of an edge type, or :data:`MERGED`, to its edges before and
            after growth.
    """
    arrays: Arrays = {}
    for place, (before, now) in places.items():
        if not isinstance(now, GrownAdjacency) or now.base is not _base_edges(before):
            return None
        arrays |= prefixed(f"edges.{place}.", apart_arrays(now))
    return arrays


def edge_arrays(edges: Adjacency) -> Arrays:
    """Return the arrays of an adjacency by name; arrays that are None are left out."""
    parts = {part: getattr(edges, part) for part in EDGE_PARTS}
    return {part: array for part, array in parts.items() if array is not None}


def apart_arrays(grown: GrownAdjacency) -> Arrays:
    """Return the changed rows of an adjacency and their node numbers as arrays."""
    return {"nodes": grown.nodes, **edge_arrays(grown.apart)}


def with_apart(base: Adjacency, arrays: Arrays, num_nodes: int) -> Adjacency:
    """Return an adjacency with changed rows from the arrays of :func:`apart_arrays`."""
    nodes, parts = arrays["nodes"], [arrays.get(part) for part in EDGE_PARTS]
    rows = Adjacency(*parts)  # type: ignore[arg-type]
    if not (_is_list_of_rows(rows, nodes) and _are_rows_of(base, rows, nodes, num_nodes)):
        raise ValueError("rows of edges that came do not fit the nodes")
    return GrownAdjacency(base, nodes, rows, num_nodes)


def _is_list_of_rows(rows: Adjacency, nodes: NDArray[Any]) -> bool:
    """Return whether types and shapes of the arrays of changed rows fit together."""
    numbers = nodes, rows.indptr, rows.indices
    beside = [part for part in (rows.weights, rows.directions) if part is not None]
    return (
        all(array.ndim == 1 and array.dtype.kind == "i" for array in numbers)
        and all(array.shape == rows.indices.shape for array in beside)
        and rows.indptr.size == nodes.size + 1
    )


def _are_rows_of(base: Adjacency, rows: Adjacency, nodes: NDArray[Any], num_nodes: int) -> bool:
    """Return whether all node numbers and offsets of changed rows are valid."""
    ends, new = rows.indptr, np.arange(base.num_nodes, num_nodes)
    return bool(
        (rows.is_weighted, rows.is_directed) == (base.is_weighted, base.is_directed)
        and (np.diff(nodes, prepend=-1) > 0).all()
        and (not rows.indices.size or 0 <= rows.indices.min() <= rows.indices.max() < num_nodes)
        and np.array_equal(nodes[nodes >= base.num_nodes], new)
        and (np.diff(ends) >= 0).all()
        and (ends[0], ends[-1]) == (0, rows.indices.size)
    )


def _packed_keys(keys: KeyArray) -> Arrays:
    if keys.dtype != object:
        return {"integers": keys}
    texts = PackedTexts.of(keys.tolist())
    return {"letters": texts.letters, "bounds": texts.bounds}


def _unpacked_keys(arrays: Arrays, origin: str) -> KeyArray:
    if "integers" in arrays:
        return np.asarray(arrays["integers"])
    texts = PackedTexts(arrays["letters"], arrays["bounds"], origin)
    keys = np.empty(len(texts), dtype=object)
    keys[:] = texts.at(np.arange(len(texts)))
    return keys


def _packed_rows(features: Stored, rows: NDArray[np.int64]) -> Arrays:
    some, kind = some_rows(features, rows), parts_of(features)[0].dtype
    if is_sparse(some):
        return csr_arrays(some)
    return {"dense": some.astype(kind, copy=False)}


def _unpacked_rows(arrays: Arrays, columns: int) -> Matrix:
    return arrays["dense"] if "dense" in arrays else from_csr_arrays(arrays, columns)


def _size(stored: StoredArray) -> int:
    return int(np.dtype(stored.dtype).itemsize * np.prod(stored.shape, dtype=np.int64))
