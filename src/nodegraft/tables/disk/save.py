"""Save a graph, or a part of it, in the on-disk format of :func:`nodegraft.build_graph`."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.events import SILENT
from nodegraft.base.files.array_file import StoredArray
from nodegraft.base.files.bundle import write_bundle
from nodegraft.graph.disk.mapped import MERGED, Manifest
from nodegraft.graph.disk.mapped_keys import PackedTexts, Stored
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.entries import Entries
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.edges.relation import merged_entries
from nodegraft.graph.graph import Graph
from nodegraft.graph.growth.stacked import parts_of
from nodegraft.graph.keys import NodeKeys
from nodegraft.tables.disk.edges import AdjacencyWriter
from nodegraft.tables.disk.features import FeatureWriter
from nodegraft.tables.disk.folder import MEMORY, BuildFolder
from nodegraft.tables.disk.keys import write_keys
from nodegraft.tables.features.recipe import FeatureRecipe
from nodegraft.tables.storage import RECIPE, load_graph

NODES_AT_ONCE, ENTRIES_AT_ONCE = 1 << 16, 1 << 22


def save_mapped(
    graph: Graph,
    folder: Path,
    *,
    rows: IntArray | None = None,
    columns: NDArray[np.bool_] | None = None,
    recipe: FeatureRecipe | None = None,
    edges_of: Graph | None = None,
) -> Graph:
    """Write a graph, or a part of it, to disk in blocks; return the graph on disk.

    The files have the format of :func:`nodegraft.build_graph`.

    Args:
        folder: New folder for the graph.
        rows: Row numbers of the nodes to save, ascending; None for all nodes.
        columns: Boolean mask of the feature columns to save; None to save all columns.
        recipe: Feature recipe of the saved columns; None for the recipe of the graph.
        edges_of: Another graph with some of the same node keys. Its edges between nodes of both
            graphs are saved instead of the edges of `graph`. None to save the edges of `graph`.
    """
    rows_to_save = graph.rows if rows is None else rows
    written, how = BuildFolder(folder, {"save": uuid4().hex}), recipe or graph.recipe
    keys, _ = write_keys(
        written, _keys(graph.node_keys, rows_to_save), rows_to_save.size, MEMORY, SILENT
    )
    features, width = _write_features(written, graph, rows_to_save, columns)
    source_graph, places = graph, rows_to_save
    if edges_of is not None:
        source_graph, places = edges_of, _rows_in(edges_of, graph, rows_to_save)
    edges = _write_edges(written, source_graph, places)
    if isinstance(how, FeatureRecipe):
        write_bundle(folder / RECIPE, *how.state())
    known = how.content_hash if isinstance(how, FeatureRecipe) else None
    arrays = {**keys, **features, **edges}
    written.close(Manifest(rows_to_save.size, width, source_graph.relations, known, arrays))
    return load_graph(folder)


def _keys(keys: NodeKeys, rows: IntArray) -> Iterator[Stored]:
    for start in range(0, rows.size, NODES_AT_ONCE):
        some = keys.array_at(rows[start : start + NODES_AT_ONCE])
        yield PackedTexts.of(some.tolist()) if keys.is_text else some


def _rows_in(other: Graph, graph: Graph, rows: IntArray) -> IntArray:
    """Return the row numbers of nodes of `graph` in another graph; -1 for missing nodes."""
    blocks = [rows[start : start + NODES_AT_ONCE] for start in range(0, rows.size, NODES_AT_ONCE)]
    return np.concatenate([other.node_keys.find(graph.key_array_of(some)) for some in blocks])


def _write_features(
    folder: BuildFolder, graph: Graph, rows: IntArray, columns: NDArray[np.bool_] | None
) -> tuple[Mapping[str, StoredArray], int]:
    writer, width = FeatureWriter(folder), graph.num_features
    kind = parts_of(graph._store.feature_matrix)[0].dtype
    for start in range(0, rows.size, NODES_AT_ONCE):
        some: Any = graph.features(rows[start : start + NODES_AT_ONCE])
        if columns is not None:
            some, width = some[:, columns], int(columns.sum())
        writer.add(some.astype(kind, copy=False))
    return writer.close(), width


def _write_edges(folder: BuildFolder, graph: Graph, rows: IntArray) -> dict[str, StoredArray]:
    """Write CSR arrays for each edge type; if there are several types, also for all types merged.

    ``rows`` has the row number in `graph` of each node to write, in the order of the written graph;
    -1 for a node that `graph` does not have, which gets no edges.
    """
    kinds = [graph._store.adjacency(name) for name in graph.relations]
    place = np.full(graph.num_nodes, -1, dtype=np.int64)
    place[rows[rows >= 0]] = np.flatnonzero(rows >= 0)
    writers = [_writer(folder, str(at), rows.size, [kind]) for at, kind in enumerate(kinds)]
    if len(kinds) > 1:
        writers.append(_writer(folder, MERGED, rows.size, kinds))
    for start, stop in _blocks(kinds, rows):
        parts = [_renumbered(_entries(kind, rows[start:stop]), place) for kind in kinds]
        if len(kinds) > 1:
            parts.append(merged_entries(parts))
        for writer, entries in zip(writers, parts, strict=True):
            writer.add(entries._asdict(), 0, stop - start)
    return {name: array for writer in writers for name, array in writer.close().items()}


def _writer(
    folder: BuildFolder, place: str, num_nodes: int, kinds: Sequence[Adjacency]
) -> AdjacencyWriter:
    most = 2 * sum(kind.num_edges for kind in kinds)
    weighted, directed = (
        any(getattr(kind, f"is_{what}") for kind in kinds) for what in ("weighted", "directed")
    )
    return AdjacencyWriter(folder, place, num_nodes, most, weighted=weighted, directed=directed)


def _blocks(kinds: Sequence[Adjacency], rows: IntArray) -> Iterator[tuple[int, int]]:
    """Yield ranges of nodes whose number of CSR entries is limited.

    A node with more entries forms a range alone.
    """
    counts = sum(kind.degrees(np.maximum(rows, 0)).astype(np.int64) for kind in kinds)
    ends = np.cumsum(np.where(rows >= 0, counts, 0))
    start = 0
    while start < rows.size:
        before = int(ends[start - 1]) if start else 0
        stop = int(np.searchsorted(ends, before + ENTRIES_AT_ONCE, side="right"))
        stop = min(max(stop, start + 1), start + NODES_AT_ONCE, rows.size)
        yield start, stop
        start = stop


def _entries(edges: Adjacency, rows: IntArray) -> Entries:
    there = np.flatnonzero(rows >= 0)
    entries = edges.entries_of(rows[there])
    return entries._replace(rows=there[entries.rows])


def _renumbered(entries: Entries, place: IntArray) -> Entries:
    """Keep only edges between saved nodes, and give their columns the new node numbers.

    Rows remain positions in the block.
    """
    columns = place[entries.columns]
    return entries._replace(columns=columns).select(columns >= 0)
