"""Predict nodes that are not in a graph: read them as JSON rows with column values and edges."""

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from nodegraft.base.errors import DataError, ParameterError
from nodegraft.graph.edges.entries import IN, OUT, Entries, narrowed
from nodegraft.graph.edges.matrix import Matrix
from nodegraft.graph.graph import Graph
from nodegraft.graph.growth.rows_view import NewRows, RowsView
from nodegraft.graph.keys import Key, several
from nodegraft.graph.node_types import KEY, key_column
from nodegraft.graph.view import GraphView
from nodegraft.tables.columns import SourceTable
from nodegraft.tables.data_report import DataReport
from nodegraft.tables.features.recipe import FeatureRecipe

Row = Mapping[str, Any]
"""Mapping from column name to JSON value; ``edges`` is a list of edges, the key is optional."""

EDGES, FEATURES = "edges", "features"
_ENDS = {"target": OUT, "source": IN}
_EDGE_FIELDS = {"type", "weight", *_ENDS}

SHOWN = 5
"""Maximum number of invalid rows or edges that an error message lists."""


def rows_view(
    graph: GraphView, rows: Iterable[Row], key: str | Mapping[str, str] = KEY
) -> RowsView:
    """Return a view of a graph and new rows; the rows are not added to the graph.

    Args:
        graph: Whole graph, not a view that hides a part of it.
        rows: For each row, the columns of the graph's recipe (null for a missing value) and
            ``edges``: a list of ``{"type": …, "target": …}``, whose target is the key of a node
            of the graph. Use ``source`` instead of ``target`` for an edge that leads to the row.
            The type may be omitted if the graph has only one; the default ``weight`` is 1. If the
            graph was not read from tables, give ``features``, a list of numbers, instead of
            columns.
        key: Column with the name of each row in results; rows without this column are named ``row
            1``, ``row 2`` … If the graph has several node types, rows are of the classified type,
            and ``key`` may be a mapping from node type to column.
    """
    if not isinstance(graph, Graph):
        raise ParameterError("Rows are predicted beside a whole nodegraft.Graph, not a part of it.")
    listed = several(rows, "rows")
    if not listed:
        raise DataError("No row was given: a row is an object with columns and edges.")
    wrong = [place for place, row in enumerate(listed, 1) if not isinstance(row, Mapping)]
    _refuse("rows that are no object of columns", [f"row {place}" for place in wrong])
    columns, key = _columns(graph), key_column(key, graph.node_types)
    fields = {*columns, EDGES, key}
    _refuse(
        "columns that the graph's features are not made from",
        [f"row {at}: {n!r}" for at, row in enumerate(listed, 1) for n in row if n not in fields],
        f"Leave them out; a row may have {', '.join(map(repr, sorted(fields)))}.",
    )
    _refuse(
        "missing columns",
        [f"row {at}: {n!r}" for at, row in enumerate(listed, 1) for n in columns if n not in row],
        "Give them in every row, as null where there is no value.",
    )
    names = _names(graph, listed, key)
    features, notes = _features(graph, listed, names)
    return RowsView.of(graph, NewRows(names, features, _edges(graph, listed), notes))


def read_rows(file: Path) -> list[Any]:
    """Read rows from a JSON Lines file; blank lines are skipped."""
    try:
        lines = file.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{file} cannot be read: {error}.") from error
    rows = []
    for number, line in enumerate(lines, 1):
        try:
            rows += [json.loads(line)] if line.strip() else []
        except ValueError as error:
            raise DataError(
                f"Line {number} of {file} is no JSON: {error}. A file of rows has one object in "
                "each line."
            ) from error
    return rows


def _refuse(what: str, faults: Sequence[str], advice: str = "") -> None:
    if faults:
        more = f" and {len(faults) - SHOWN:,} more" if len(faults) > SHOWN else ""
        raise DataError(f"There are {what}: {'; '.join(faults[:SHOWN])}{more}. {advice}".rstrip())


def _columns(graph: Graph) -> tuple[str, ...]:
    if isinstance(graph.recipe, FeatureRecipe):
        return graph.recipe.columns_of(next(iter(graph.node_types), ""))
    return (FEATURES,) if graph.num_features else ()


def _names(graph: Graph, rows: Sequence[Row], key: str) -> list[Key]:
    """Return the names of new rows; raise an error if a node or another row has the same key."""
    values = [row.get(key) for row in rows]
    kind = str if graph.has_text_keys else int
    _refuse(
        f"keys that are no {'text' if graph.has_text_keys else 'integer'}, as those of the graph",
        [
            f"row {place}: {key!r}"
            for place, key in enumerate(values, 1)
            if key is not None and not _is_key(key, kind)
        ],
    )
    named = [(place, key) for place, key in enumerate(values, 1) if key is not None]
    existing = graph.node_keys.find([key for _, key in named])
    _refuse(
        "rows whose key is a node of the graph",
        [f"row {at}: {key!r}" for (at, key), row in zip(named, existing, strict=True) if row >= 0],
        "Predict a node by its key; or omit the key to look at the row as another node.",
    )
    names: list[Key] = [f"row {at}" if key is None else key for at, key in enumerate(values, 1)]
    called = list(enumerate(names, 1))
    first = {key: place for place, key in reversed(called)}
    again = [f"row {at}: {key!r} as in row {first[key]}" for at, key in called if first[key] != at]
    _refuse("rows with the name of an earlier row", again)
    return names


def _is_key(value: Any, kind: type) -> bool:
    if not isinstance(value, kind) or isinstance(value, bool):
        return False
    # Refuse half of a surrogate pair, which JSON can contain but which is not valid text.
    return not re.search("[\ud800-\udfff]", str(value))


def _features(
    graph: Graph, rows: Sequence[Row], names: Sequence[Key]
) -> tuple[Matrix | None, tuple[str, ...]]:
    """Return the features of new rows, and notes about values that were treated as missing."""
    recipe = graph.recipe
    if isinstance(recipe, FeatureRecipe):
        table = SourceTable(_table(recipe.columns, rows), "the rows")
        encoded = recipe.encode(table, np.array(names, dtype=object))
        DataReport(len(rows), 0, recipe.num_features, encoded.findings).require_usable(False)
        return encoded.matrix, tuple(
            f"{finding.count:,} {finding.sentence.replace('node', 'row', 1)}."
            for finding in encoded.findings
        )
    if not graph.num_features:
        return None, ()
    try:
        matrix = np.array([row[FEATURES] for row in rows], dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        matrix = np.zeros(0)
    if matrix.shape != (len(rows), graph.num_features):
        raise DataError(f"`features` of each row must be a list of {graph.num_features} numbers.")
    return matrix, ()


def _table(columns: Sequence[str], rows: Sequence[Row]) -> pa.Table:
    arrays = {}
    for name in columns:
        try:
            arrays[name] = pa.array([row.get(name) for row in rows])
        except (pa.ArrowException, OverflowError) as error:
            raise DataError(
                f"Column {name!r} of the rows has values that are not all text or all numbers: "
                f"{error}."
            ) from error
        except UnicodeEncodeError as error:
            raise DataError(f"Column {name!r} of the rows has no valid text: {error}.") from error
    return pa.table(arrays) if arrays else pa.table({EDGES: pa.nulls(len(rows))})


def _edges(graph: Graph, rows: Sequence[Row]) -> dict[str, Entries]:
    """Return the edges of each type between new rows and nodes of the graph.

    Rows of entries are positions of new rows, columns are row numbers of the graph.
    """
    by_type: dict[str, list[tuple[int, Key, float, np.uint8]]] = {}
    faults = list[str]()
    for place, row in enumerate(rows):
        edges = row.get(EDGES) or []
        if not isinstance(edges, Sequence) or isinstance(edges, str):
            faults.append(f"row {place + 1}: `edges` must be a list")
            continue
        for edge in edges:
            try:
                kind, other, weight, way = _edge(graph, edge)
                by_type.setdefault(kind, []).append((place, other, weight, way))
            except DataError as error:
                faults.append(f"row {place + 1}: {error}")
    _refuse("edges that cannot be used", faults)
    ends = [(place, key) for edges in by_type.values() for place, key, *_ in edges]
    targets = graph.node_keys.find([key for _, key in ends])
    missing = [
        f"row {at + 1}: {key!r}" for (at, key), row in zip(ends, targets, strict=True) if row < 0
    ]
    _refuse(
        f"edges ({len(missing):,}) to nodes that are not in the graph",
        missing,
        "Correct the keys, or omit these edges; a row cannot be linked to another row.",
    )
    entries, start = {}, 0
    for kind, edges in by_type.items():
        places, _, weights, directions = zip(*edges, strict=True)
        own, start = targets[start : start + len(edges)], start + len(edges)
        adjacency = graph._store.adjacency(kind)
        entries[kind] = Entries(
            np.array(places),
            own,
            np.array(weights, dtype=np.float32) if adjacency.is_weighted else None,
            np.array(directions, dtype=np.uint8) if adjacency.is_directed else None,
        )
    return entries


def _edge(graph: Graph, edge: Any) -> tuple[str, Key, float, np.uint8]:
    """Validate a JSON edge; return its type, the graph node's key, weight and direction."""
    if not isinstance(edge, Mapping) or not edge.keys() <= _EDGE_FIELDS:
        raise DataError(f"{edge!r} must have the fields type, target or source, and weight")
    kinds, kind = graph.relations, edge.get("type")
    if kind is None and len(kinds) == 1:
        kind = kinds[0]
    if kind not in kinds:
        raise DataError(f"edge type {kind!r} is none of {', '.join(kinds)}")
    ends = [name for name in _ENDS if edge.get(name) is not None]
    if len(ends) != 1:
        raise DataError("an edge needs either target or source")
    # Refuse booleans, because Python treats True as equal to the integer key 1.
    if isinstance(edge[ends[0]], bool):
        raise DataError(f"{ends[0]} {edge[ends[0]]!r} is no node key")
    weight = edge.get("weight", 1.0)
    if isinstance(weight, bool) or not isinstance(weight, int | float):
        raise DataError(f"weight {weight!r} is no number")
    # Replace integers above the range of float64 by infinity, which the next check refuses.
    value = np.array([weight if abs(weight) <= sys.float_info.max else np.inf])
    if not narrowed(value.astype(np.float64))[1].all():
        raise DataError(f"weight {weight!r} must be positive and finite")
    if weight != 1.0 and not graph._store.adjacency(kind).is_weighted:
        raise DataError(f"edges of type {kind!r} have no weights in this graph: omit weight")
    return kind, edge[ends[0]], float(weight), _ENDS[ends[0]]
