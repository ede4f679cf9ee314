"""Nodes, edges and labels from Parquet or CSV tables, with a report of what is odd in them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
from numpy.typing import NDArray

from nodegraft.base.errors import DataError
from nodegraft.graph.adjacency import Adjacency
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
    table = _read(Path(nodes))
    all_keys = _column(table, key, nodes).to_numpy(zero_copy_only=False)
    first, findings = _first_of_each(all_keys)
    table = table.take(pa.array(first)) if first.size < all_keys.size else table
    keys = NodeKeys(all_keys[first])
    if text is not None:
        texts = pc.fill_null(_column(table, text, nodes), "").to_pylist()
        vectoriser = vectoriser or TextVectoriser().fit(texts)
        matrix: Matrix = vectoriser.transform(texts)
    else:
        dense = _numbers(table, features, nodes)
        findings += _not_finite(dense, keys)
        matrix = np.nan_to_num(dense, nan=0.0, posinf=0.0, neginf=0.0)
    rows, edge_findings = _edge_rows(_read(Path(edges)), source, target, keys, edges)
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
    table = _read(Path(labels))
    names = _column(table, label, labels).cast(pa.string())
    table = table.filter(pc.is_valid(names))
    rows = graph.rows_of(_column(table, key, labels).to_numpy(zero_copy_only=False))
    by_class: dict[str, list[int]] = {}
    for row, name in zip(rows.tolist(), pc.drop_null(names).to_pylist(), strict=True):
        by_class.setdefault(name, []).append(row)
    return Labelled({name: by_class[name] for name in sorted(by_class)})


def _read(path: Path) -> Any:
    readers = {".parquet": pa.parquet.read_table, ".csv": pa.csv.read_csv}
    if path.suffix not in readers:
        raise DataError(f"{path} must end in .parquet or .csv.")
    if not path.is_file():
        raise DataError(f"There is no file {path}.")
    try:
        return readers[path.suffix](path).combine_chunks()
    except pa.ArrowInvalid as error:
        raise DataError(f"{path} cannot be read: {error}") from error


def _column(table: Any, name: str, path: str | Path) -> Any:
    if name not in table.column_names:
        raise DataError(
            f"{path} has no column {name!r}; its columns are {', '.join(table.column_names)}. "
            "Name the columns to use, for example key='id', features=['price', 'weight'] or "
            "text='description'."
        )
    return table.column(name)


def _first_of_each(keys: NDArray[Any]) -> tuple[IntArray, list[Finding]]:
    if keys.size == 0:
        raise DataError("The table of nodes is empty.")
    if any(key is None for key in keys) or keys.dtype.kind == "f":
        raise DataError("The key column must hold text or integers, with no value missing.")
    values, first, counts = np.unique(keys, return_index=True, return_counts=True)
    repeated = values[counts > 1]
    findings = _finding(
        "rows with a node key seen before",
        int(keys.size - values.size),
        repeated,
        "the first row of each is kept",
    )
    return np.sort(first), findings


def _numbers(table: Any, features: str | Sequence[str], path: str | Path) -> FloatArray:
    if not isinstance(features, str):
        columns = [_column(table, name, path).cast(pa.float32()) for name in features]
        stacked = [column.to_numpy(zero_copy_only=False) for column in columns]
        return np.stack(stacked, axis=1).astype(np.float32)
    column = _column(table, features, path).combine_chunks()
    if not hasattr(column, "flatten") or not pa.types.is_nested(column.type):
        return _numbers(table, [features], path)
    flat = column.flatten().to_numpy(zero_copy_only=False)
    if column.null_count or flat.size % len(column) or len(set(_lengths(column))) > 1:
        raise DataError(f"Every list in column {features!r} of {path} must have the same length.")
    dtype = np.float16 if flat.dtype == np.float16 else np.float32
    rows: FloatArray = flat.reshape(len(column), -1).astype(dtype)
    return rows


def _lengths(column: Any) -> list[int]:
    return pc.unique(pc.list_value_length(column)).to_pylist()  # type: ignore[no-any-return]


def _not_finite(matrix: FloatArray, keys: NodeKeys) -> list[Finding]:
    odd = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
    what = "nodes with NaN or infinite features"
    return _finding(what, odd.size, keys.at(odd[:3]), "zeros are put")


def _edge_rows(
    table: Any, source: str, target: str, keys: NodeKeys, path: str | Path
) -> tuple[tuple[IntArray, IntArray], list[Finding]]:
    ends = [_column(table, name, path).to_numpy(zero_copy_only=False) for name in (source, target)]
    known = [keys.contains(end) for end in ends]
    both = known[0] & known[1]
    strangers = [f"{a}–{b}" for a, b in zip(ends[0][~both][:3], ends[1][~both][:3], strict=True)]
    findings = _finding(
        "edges to nodes that are not in the table of nodes",
        int((~both).sum()),
        strangers,
        "they are dropped",
    )
    return (keys.rows(ends[0][both]), keys.rows(ends[1][both])), findings


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
