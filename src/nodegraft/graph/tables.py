"""Nodes, edges and labels from Parquet or CSV tables, with a report of what is odd in them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from nodegraft.base.errors import DataError
from nodegraft.graph.adjacency import Adjacency
from nodegraft.graph.columns import (
    column_of,
    keys_like,
    node_keys,
    numbers_of,
    read_file,
    values_of,
)
from nodegraft.graph.data_report import DataReport, Finding
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import NodeKeys
from nodegraft.graph.labels import Labelled
from nodegraft.graph.matrix import FloatArray, IntArray, Matrix
from nodegraft.graph.text import TextVectoriser


@dataclass(frozen=True)
class Tables:
    """A graph as read, the report on its tables, and the vectoriser if features came from text."""

    graph: Graph
    report: DataReport
    vectoriser: TextVectoriser | None


def read_tables(
    nodes: str | Path,
    edges: str | Path,
    *,
    key: str = "key",
    source: str = "source",
    target: str = "target",
    features: str | Sequence[str] = "features",
    text: str | None = None,
    vectoriser: TextVectoriser | None = None,
    repair: bool = False,
) -> Tables:
    """Read a table of nodes and one of edges (``.parquet`` or ``.csv``).

    Features are one list column, several number columns, or a ``text`` column turned into
    TF-IDF. They are always named, never guessed: a label column taken for a feature would be a
    leak nobody sees. Duplicate keys, edges to unknown nodes and NaN or infinite features are
    refused; ``repair=True`` keeps the first of duplicate nodes, drops such edges and puts zeros.
    """
    table = read_file(Path(nodes))
    all_keys = node_keys(table, key, nodes)
    first, findings = _first_of_each(all_keys)
    table = table.take(pa.array(first)) if first.size < all_keys.size else table
    keys = NodeKeys(all_keys[first])
    if text is not None:
        texts = pc.fill_null(column_of(table, text, nodes).cast(pa.string()), "").to_pylist()
        vectoriser = vectoriser or TextVectoriser().fit(texts)
        matrix: Matrix = vectoriser.transform(texts)
    else:
        dense = numbers_of(table, features, nodes)
        findings += _not_finite(dense, keys)
        matrix = np.nan_to_num(dense, nan=0.0, posinf=0.0, neginf=0.0)
    edge_table = read_file(Path(edges), (source, target) if keys.is_text else ())
    rows, edge_findings = _edge_rows(edge_table, source, target, keys, edges)
    adjacency = Adjacency.from_edges(rows[0], rows[1], len(keys))
    findings += edge_findings + _edge_oddities(rows, adjacency)
    report = DataReport(len(keys), adjacency.num_edges, int(matrix.shape[1]), tuple(findings))
    if report.blocking and not repair:
        raise DataError(
            "The tables need mending first (repair=True does what the arrows say):\n" + str(report)
        )
    return Tables(Graph.from_parts(keys, matrix, adjacency), report, vectoriser)


def read_labels(
    labels: str | Path, graph: Graph, *, key: str = "key", label: str = "label"
) -> Labelled:
    """Labels from a table of node keys and class names; rows without a name are skipped."""
    table = read_file(Path(labels), (label, key) if graph._keys.is_text else (label,))
    names = column_of(table, label, labels).cast(pa.string())
    table = table.filter(pc.is_valid(names))
    rows = graph.rows_of(keys_like(graph._keys, table, key, labels).to_pylist())
    by_class: dict[str, list[int]] = {}
    for row, name in zip(rows.tolist(), pc.drop_null(names).to_pylist(), strict=True):
        by_class.setdefault(name, []).append(row)
    return Labelled({name: by_class[name] for name in sorted(by_class)})


def _first_of_each(keys: NDArray[Any]) -> tuple[IntArray, list[Finding]]:
    values, first, counts = np.unique(keys, return_index=True, return_counts=True)
    repeated = values[counts > 1]
    findings = _finding(
        "rows with a node key seen before",
        int(keys.size - values.size),
        repeated,
        "the first row of each is kept",
    )
    return np.sort(first), findings


def _not_finite(matrix: FloatArray, keys: NodeKeys) -> list[Finding]:
    odd = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
    what = "nodes with NaN or infinite features"
    return _finding(what, odd.size, keys.at(odd[:3]), "such values become 0")


def _edge_rows(
    table: Any, source: str, target: str, keys: NodeKeys, path: str | Path
) -> tuple[tuple[IntArray, IntArray], list[Finding]]:
    ends = [values_of(keys_like(keys, table, name, path)) for name in (source, target)]
    first, second = (keys.find(end) for end in ends)
    both = (first >= 0) & (second >= 0)
    shown = [
        ["(nothing)" if end is None else str(end) for end in column[~both][:3]] for column in ends
    ]
    strangers = ["–".join(pair) for pair in zip(*shown, strict=True)]
    findings = _finding(
        "edges to nodes that are not in the table of nodes",
        int((~both).sum()),
        strangers,
        "they are dropped",
    )
    return (first[both], second[both]), findings


def _edge_oddities(rows: tuple[IntArray, IntArray], adjacency: Adjacency) -> list[Finding]:
    loops = int((rows[0] == rows[1]).sum())
    repeated = int(rows[0].size) - loops - adjacency.num_edges
    isolated = int((adjacency.degrees() == 0).sum())
    return [
        *_finding("nodes without any edge", isolated),
        *_finding("edges given more than once or in both directions, merged", repeated),
        *_finding("edges from a node to itself, dropped", loops),
    ]


def _finding(
    what: str, count: int, examples: Sequence[Any] | NDArray[Any] = (), blocking: str = ""
) -> list[Finding]:
    shown = tuple(str(example) for example in list(examples)[:3])
    return [Finding(what, count, shown, blocking)] if count else []
