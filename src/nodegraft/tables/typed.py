"""Read tables of several node types as one table of nodes, and tables of edges between them.

The first node type is classified; its nodes and columns keep their names. A node of another type
has the key ``type:key``, and a column of its table is called ``type:column``. All keys are text. A
key that begins with its type in the table, too, is not changed. A type without a table has the
nodes that occur in edges.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nodegraft.base.errors import DataError, MissingColumnError, ParameterError
from nodegraft.base.problems import Problems
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.keys import NodeKeys
from nodegraft.graph.node_types import KEY, SEPARATOR, key_column, qualified, type_of
from nodegraft.tables.columns import Source, SourceTable, is_text, read_source
from nodegraft.tables.data_report import Finding, finding
from nodegraft.tables.edges import EdgeColumns, GivenEdges, read_edges
from nodegraft.tables.node_rows import different_nodes
from nodegraft.tables.typed_sources import EdgeType

NODES = "the tables of nodes"


@dataclass(frozen=True)
class TypedTables:
    """Node tables that were joined, and edge tables whose ends have joined keys."""

    types: tuple[str, ...]
    """All node types; the first is classified."""

    nodes: SourceTable
    """All nodes."""

    numbers: IntArray
    """Position of each node's type in :attr:`types`."""

    edges: Mapping[str, tuple[SourceTable, EdgeColumns]]
    """Edge table and its columns by edge type."""

    findings: tuple[Finding, ...]
    """Findings about keys in the node tables."""

    def edge_rows(self, keys: NodeKeys) -> GivenEdges:
        """Return the valid edges of all tables."""
        problems, parts = Problems(), dict[str, GivenEdges]()
        for name, (table, columns) in self.edges.items():
            with problems.collect():
                parts[name] = read_edges(table, columns, keys)
        problems.raise_all()
        return GivenEdges.joined(parts) if parts else read_edges(None, _ENDS, keys)

    def with_features(self, columns: Iterable[str]) -> SourceTable:
        """Return the nodes of those types that have any of the given columns."""
        featured = [self.types.index(type_of(name, self.types)) for name in columns]
        return self.nodes.take(np.flatnonzero(np.isin(self.numbers, featured)))

    def sizes(self) -> list[Finding]:
        """Return the number of nodes of each type, for the data report."""
        counts = np.bincount(self.numbers, minlength=len(self.types)).tolist()
        findings = finding(f"nodes of type {self.types[0]}, which are classified", counts[0])
        for name, count in zip(self.types[1:], counts[1:], strict=True):
            findings += finding(f"nodes of type {name}, which are not classified", count)
        return findings


_ENDS = EdgeColumns("source", "target", None, None)


class TypedReader:
    """Reader of node and edge tables by type.

    Args:
        types: All node types; the first is classified.
        key: Column of the node tables with keys; or a mapping from node type to that column.
        columns: Columns of the edge tables. A table without the columns of source and target may
            name its ends by the key columns of their node types.
        texts: Names or globs of columns that are read as text, as in the joined table.
        delimiter: Column separator of CSV files; None to guess it.
    """

    def __init__(
        self,
        types: Sequence[str],
        key: str | Mapping[str, str],
        columns: EdgeColumns,
        texts: Sequence[str],
        delimiter: str | None,
    ) -> None:
        self._types, self._columns, self._delimiter = tuple(types), columns, delimiter
        self._texts = texts
        self.key = key_column(key, types)
        """Column of the joined table with keys."""
        self._keys = dict.fromkeys(types, key) if isinstance(key, str) else dict(key)
        self._refuse_unknown("key", self._keys)

    def _refuse_unknown(self, what: str, names: Iterable[str]) -> None:
        unknown = next((name for name in names if name not in self._types), None)
        if unknown is not None:
            raise ParameterError(
                f"{what} has the node type {unknown!r}; there are {', '.join(self._types)}."
            )

    def read(
        self,
        nodes: Mapping[str, Source],
        edges: Mapping[EdgeType, Source],
        featured: Iterable[str] = (),
        known: NodeKeys | None = None,
    ) -> TypedTables:
        """Read all tables.

        Args:
            featured: Columns of an existing recipe; those of types without a table become missing
                values.
            known: Keys of the graph that grows; None for a new graph.
        """
        self._refuse_unknown("nodes", nodes)
        self._refuse_unknown("edges", (end for first, _, last in edges for end in (first, last)))
        if edges and self._columns.kind is not None:
            raise ParameterError("Omit edge_type (--type): each edge table is given with its type.")
        problems, findings = Problems(), list[Finding]()
        read, linked = dict[str, SourceTable](), dict[str, tuple[SourceTable, EdgeColumns]]()
        for name, source in nodes.items():
            with problems.collect():
                read[name], found = self._nodes(name, source)
                findings += found
        for ends, source in edges.items():
            with problems.collect():
                linked[SEPARATOR.join(ends)] = self._edges(ends, source)
        with problems.collect():
            weight = self._columns.weight
            has_weight = any(own.weight for _, own in linked.values())
            if weight and linked and known is None and not has_weight:
                raise MissingColumnError(
                    f"No edge table has the column {weight!r} of weights: name another column "
                    "(edge_weight=…, --weight), or leave it out."
                )
        problems.raise_all()
        absent = [name for name in featured if type_of(name, self._types) not in nodes]
        with_features = {type_of(name, self._types) for name in absent}
        for name in self._types[1:]:
            if name not in nodes and name not in with_features:
                read[name] = self._named_in_edges(name, linked.values(), known)
        places = np.array([self._types.index(name) for name in read], dtype=np.int64)
        numbers = np.repeat(places, [len(table) for table in read.values()])
        empty = SourceTable(pa.table({self.key: pa.array([], pa.large_string())}), NODES)
        joined = SourceTable.joined([empty, *read.values()], NODES).with_missing(absent)
        return TypedTables(self._types, joined, numbers, linked, tuple(findings))

    def _nodes(self, name: str, source: Source) -> tuple[SourceTable, list[Finding]]:
        """Return a node table with the keys and columns of the joined table."""
        key = self._keys.get(name, KEY)
        prefix = qualified("", name, self._types)
        texts = [text.removeprefix(prefix) for text in self._texts if text.startswith(prefix)]
        what = f"nodes of type {name}"
        table = read_source(source, what, (*texts, key), self._delimiter)
        table = table.with_column(key, self._qualified(table, key, name))
        findings = list[Finding]()
        if len(table) or not prefix:
            table, _, findings = different_nodes(table, key)
        columns = {
            self.key if column == key else prefix + column: table.column(column)
            for column in table.column_names
        }
        return table.with_content(pa.table(columns)), findings

    def _qualified(self, table: SourceTable, column: str, node_type: str) -> Any:
        """Return a column of keys as text; keys of types that are not classified get their type.

        A key that begins with its type already is not changed.
        """
        values = table.column(column)
        is_key = is_text(values) or pa.types.is_integer(values.type)
        if not is_key and values.null_count < len(values):
            raise DataError(
                f"Column {column!r} of {table.place} must hold text or integers, and is of type "
                f"{values.type}."
            )
        texts = table.text_column(column)
        prefix = qualified("", node_type, self._types)
        if prefix:
            before, between = (pa.scalar(text, pa.large_string()) for text in (prefix, ""))
            joined = pc.binary_join_element_wise(before, texts, between)
            return pc.if_else(pc.starts_with(texts, prefix), texts, joined)
        others = "|".join(map(re.escape, self._types[1:]))
        found = texts.filter(pc.match_substring_regex(texts, f"^({others}){SEPARATOR}"))
        if others and len(found):
            other = type_of(found[0].as_py(), self._types)
            raise DataError(
                f"The key {found[0].as_py()!r} of {table.place} looks like a node of type {other}, "
                f"and column {column!r} has nodes of type {node_type}: correct the key, or give "
                "that type another name."
            )
        return texts

    def _edges(self, ends: EdgeType, source: Source) -> tuple[SourceTable, EdgeColumns]:
        """Return an edge table whose ends have the keys of the joined table, and its columns."""
        first, _, last = ends
        own = self._columns.ends
        by_key = self._keys.get(first, KEY), self._keys.get(last, KEY)
        what = f"edges {SEPARATOR.join(ends)}"
        table = read_source(source, what, (*own, *by_key), self._delimiter)
        named = next(
            (
                pair
                for pair in (own, by_key)
                if set(pair) <= set(table.column_names) and pair[0] != pair[1]
            ),
            None,
        )
        if named is None:
            choices = [own, *([by_key] if by_key[0] != by_key[1] else [])]
            pairs = ", or ".join(f"{a!r} and {b!r}" for a, b in choices)
            message = (
                f"{table.place} needs the columns {pairs}, for the {first} and the {last} of each "
                f"edge; its columns are {', '.join(table.column_names)}."
            )
            raise MissingColumnError(
                f"{message} Name them: source='…', target='…' (--source, --target)", message
            )
        columns = {
            end: self._qualified(table, column, node_type)
            for end, column, node_type in zip(_ENDS.ends, named, (first, last), strict=True)
        }
        weight = self._columns.weight
        if weight in table.column_names:
            columns["weight"] = table.column(weight)
        kept = _ENDS._replace(weight="weight" if "weight" in columns else None)
        return table.with_content(pa.table(columns)), kept

    def _named_in_edges(
        self,
        name: str,
        edges: Iterable[tuple[SourceTable, EdgeColumns]],
        known: NodeKeys | None,
    ) -> SourceTable:
        """Return a table of the nodes of a type that occur in edges, without known nodes."""
        ends = [table.column(end) for table, columns in edges for end in columns.ends]
        texts = pa.chunked_array([chunk for end in ends for chunk in end.chunks], pa.large_string())
        is_own = pc.starts_with(texts, qualified("", name, self._types)).fill_null(False)
        keys = pc.unique(texts.filter(is_own))
        if known is not None and len(keys):
            keys = keys.filter(pa.array(known.find(keys.to_pylist()) < 0))
        return SourceTable(pa.table({self.key: keys}), NODES)
