"""Read tables of several node types as one table of nodes, and tables of edges between them.

The first node type is classified; its nodes and columns keep their names. A node of another type
has the key ``type:key``, and a column of its table is called ``type:column``. All keys are text. A
type without a table has the nodes that occur in edges.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nodegraft.base.errors import DataError, MissingColumnError, ParameterError
from nodegraft.base.problems import Problems
from nodegraft.graph.keys import KeyType, NodeKeys
from nodegraft.graph.node_types import (
    SEPARATOR,
    check_node_types,
    qualified,
    type_numbers,
    type_of,
)
from nodegraft.tables.columns import Source, SourceTable, is_text, read_source
from nodegraft.tables.data_report import Finding, finding
from nodegraft.tables.edges import EdgeColumns, GivenEdges, read_edges
from nodegraft.tables.node_rows import different_nodes

EdgeType: TypeAlias = tuple[str, str, str]
"""Type of the source node, name, and type of the target node."""

NODES = "the tables of nodes"


def is_typed(source: Source) -> bool:
    """Return whether a source is a mapping from type to table, and not one table in memory.

    >>> is_typed({"product": "products.csv"}), is_typed({"key": ["p1"]}), is_typed("products.csv")
    (True, False, False)

    Args:
        source: Argument of a user.
    """
    return isinstance(source, Mapping) and all(
        isinstance(table, str | Path | Mapping) or hasattr(table, "columns")
        for table in source.values()
    )


def node_types_of(nodes: Source, edges: Source) -> tuple[str, ...]:
    """Return the node types that tables name, the classified one first; empty if there are none.

    Args:
        nodes: Node tables by type, or one node table.
        edges: Edge tables by type, or one edge table; None for no edges.
    """
    if not is_typed(nodes):
        if edges is not None and is_typed(edges):
            raise ParameterError(
                "Edge tables by type need node tables by type: nodes={'product': …} "
                "(--nodes product=FILE)."
            )
        return ()
    named = [end for edge in edge_tables(edges) for end in (edge[0], edge[2])]
    return check_node_types(tuple(dict.fromkeys((*nodes, *named))))


def same_node_types(known: tuple[str, ...], given: tuple[str, ...]) -> tuple[str, ...]:
    """Return the node types of a recipe; raise an error if tables have others.

    Args:
        known: Node types of the recipe; empty if there is only one.
        given: Node types of the tables; types that occur only in edges may be missing.
    """
    if bool(known) != bool(given) or given[:1] != known[:1] or not set(given) <= set(known):
        raise ParameterError(
            f"The features were made from {_of_types(known)}, and these are {_of_types(given)}: "
            "give the same node types, the classified one first."
        )
    return known


def _of_types(types: tuple[str, ...]) -> str:
    return f"tables of the node types {', '.join(types)}" if types else "one table of nodes"


def numbers_by_type(keys: NodeKeys, types: tuple[str, ...]) -> list[Finding]:
    """Return the number of nodes of each type, for the data report.

    Args:
        keys: Keys of all nodes.
        types: All node types; the first is classified.
    """
    counts = np.bincount(type_numbers(keys.values(), types), minlength=len(types)).tolist()
    findings = finding(f"nodes of type {types[0]}, which are classified", counts[0])
    for name, count in zip(types[1:], counts[1:], strict=True):
        findings += finding(f"nodes of type {name}, which are not classified", count)
    return findings


def edge_tables(edges: Source) -> dict[EdgeType, Source]:
    """Return edge tables by edge type; raise an error if they are not given by type.

    >>> edge_tables({"user:bought:product": "bought.csv"})
    {('user', 'bought', 'product'): 'bought.csv'}

    Args:
        edges: Edge tables by type; the type is a tuple of three names, or a text that joins them by
            colons. None for no edges.
    """
    if edges is None:
        return {}
    if not is_typed(edges):
        raise ParameterError(
            "With several node types, give each edge table with its type: edges={('user', "
            "'bought', 'product'): …} (--edges user:bought:product=FILE)."
        )
    split = {name: name.split(SEPARATOR) if isinstance(name, str) else name for name in edges}
    wrong = next(
        (
            name
            for name, parts in split.items()
            if not all(parts) or len(SEPARATOR.join(parts).split(SEPARATOR)) != 3
        ),
        None,
    )
    if wrong is not None:
        raise ParameterError(
            f"{wrong!r} is no edge type: give the node type of the source, a name without ':' and "
            "the node type of the target, as in 'user:bought:product'."
        )
    tables = {(first, name, last): edges[given] for given, (first, name, last) in split.items()}
    if len(tables) < len(split):
        raise ParameterError(
            "An edge type is given twice, as a tuple and as text: give it once, with all its edges."
        )
    return tables


@dataclass(frozen=True)
class TypedTables:
    """Node tables that were joined, and edge tables whose ends have joined keys."""

    types: tuple[str, ...]
    """All node types; the first is classified."""

    key: str
    """Column of :attr:`nodes` with keys."""

    nodes: SourceTable
    """All nodes."""

    edges: Mapping[str, tuple[SourceTable, EdgeColumns]]
    """Edge table and its columns by edge type."""

    findings: tuple[Finding, ...]
    """Findings about keys in the node tables."""

    def edge_rows(self, keys: NodeKeys) -> GivenEdges:
        """Return the valid edges of all tables.

        Args:
            keys: Keys of all nodes of the graph.
        """
        problems, parts = Problems(), dict[str, GivenEdges]()
        for name, (table, columns) in self.edges.items():
            with problems.collect():
                parts[name] = read_edges(table, columns, keys)
        problems.raise_all()
        return GivenEdges.joined(parts) if parts else read_edges(None, _ENDS, keys)

    def with_features(self, columns: Iterable[str]) -> SourceTable:
        """Return the nodes of those types that have any of the given columns.

        Args:
            columns: Columns that become features.
        """
        featured = {type_of(name, self.types) for name in columns}
        types = [type_of(key or "", self.types) for key in self.nodes.texts(self.key)]
        return self.nodes.take([row for row, name in enumerate(types) if name in featured])


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
        self._keys = dict.fromkeys(types, key) if isinstance(key, str) else dict(key)
        self._refuse_unknown("key", self._keys)

    def _refuse_unknown(self, what: str, names: Iterable[str]) -> None:
        unknown = next((name for name in names if name not in self._types), None)
        if unknown is not None:
            raise ParameterError(
                f"{what} has the node type {unknown!r}; there are {', '.join(self._types)}."
            )

    def key_type(self, asked: KeyType | None) -> KeyType:
        """Return the type of all keys, which is text; raise an error if another is asked for."""
        if asked not in (None, "text"):
            raise ParameterError("Keys of several node types are text: omit key_type (--key-type).")
        return "text"

    @property
    def key(self) -> str:
        """Column of the joined table with keys."""
        return self._key_of(self._types[0])

    def read(
        self,
        nodes: Mapping[str, Source],
        edges: Mapping[EdgeType, Source],
        featured: Iterable[str] = (),
        known: NodeKeys | None = None,
    ) -> TypedTables:
        """Read all tables.

        Args:
            nodes: Node tables by type.
            edges: Edge tables by type.
            featured: Feature columns of the joined table; those of types without a table become
                missing values.
            known: Keys of the graph that grows; None for a new graph.
        """
        self._refuse_unknown("nodes", nodes)
        self._refuse_unknown("edges", (end for first, _, last in edges for end in (first, last)))
        if edges and self._columns.kind is not None:
            raise ParameterError("Omit edge_type (--type): each edge table is given with its type.")
        problems, findings = Problems(), list[Finding]()
        read, linked = list[SourceTable](), dict[str, tuple[SourceTable, EdgeColumns]]()
        for name, source in nodes.items():
            with problems.collect():
                table, found = self._nodes(name, source)
                read.append(table)
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
        with_features = {type_of(name, self._types) for name in featured}
        for name in self._types[1:]:
            if name not in nodes and name not in with_features:
                read += self._named_in_edges(name, linked.values(), known)
        return TypedTables(
            self._types, self.key, self._joined(read, nodes, featured), linked, tuple(findings)
        )

    def _key_of(self, name: str) -> str:
        return self._keys.get(name, "key")

    def _nodes(self, name: str, source: Source) -> tuple[SourceTable, list[Finding]]:
        """Return a node table with the keys and columns of the joined table."""
        key = self._key_of(name)
        prefix = qualified("", name, self._types)
        texts = [text.removeprefix(prefix) for text in self._texts if text.startswith(prefix)]
        what = f"nodes of type {name}"
        table = read_source(source, what, (*texts, key), self._delimiter)
        table = table.with_keys([key], "text")
        findings = list[Finding]()
        if len(table) or not prefix:
            table, _, findings = different_nodes(table, key)
        if not prefix:
            self._refuse_prefixed(table, key)
        columns = {
            self.key if column == key else prefix + column: table.column(column)
            for column in table.column_names
        }
        columns[self.key] = _qualified(table, key, prefix)
        return table.with_content(pa.table(columns)), findings

    def _refuse_prefixed(self, table: SourceTable, key: str) -> None:
        """Raise an error if a key of a classified node begins with the name of another type."""
        texts = table.text_column(key)
        for other in self._types[1:]:
            prefix = qualified("", other, self._types)
            found = texts.filter(pc.starts_with(texts, prefix).fill_null(False))
            if len(found):
                raise DataError(
                    f"The key {found[0].as_py()!r} of {table.place} looks like a node of type "
                    f"{other}, and column {key!r} has nodes of type {self._types[0]}: correct the "
                    "key, or give that type another name."
                )

    def _edges(self, ends: EdgeType, source: Source) -> tuple[SourceTable, EdgeColumns]:
        """Return an edge table whose ends have the keys of the joined table, and its columns."""
        first, _, last = ends
        own = self._columns.ends
        by_key = self._key_of(first), self._key_of(last)
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
        table = table.with_keys(named, "text")
        for column, node_type in zip(named, (first, last), strict=True):
            if node_type == self._types[0]:
                self._refuse_prefixed(table, column)
        columns = {
            end: _qualified(table, column, qualified("", node_type, self._types))
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
    ) -> list[SourceTable]:
        """Return a table of the nodes of a type that occur in edges, without known nodes."""
        ends = [table.column(end) for table, columns in edges for end in columns.ends]
        texts = pa.chunked_array([chunk for end in ends for chunk in end.chunks], pa.large_string())
        is_own = pc.starts_with(texts, qualified("", name, self._types)).fill_null(False)
        keys = pc.unique(texts.filter(is_own))
        if known is not None and len(keys):
            keys = keys.filter(pa.array(known.find(keys.to_pylist()) < 0))
        return [SourceTable(pa.table({self.key: keys}), NODES)] if len(keys) else []

    def _joined(
        self, tables: Sequence[SourceTable], nodes: Mapping[str, Source], featured: Iterable[str]
    ) -> SourceTable:
        """Return all node tables as one; add columns of nulls for types without a table."""
        joined = SourceTable.joined(tables, NODES) if tables else None
        content = pa.table({self.key: pa.array([], pa.large_string())})
        table = joined or SourceTable(content, NODES)
        absent = [
            name
            for name in featured
            if name not in table.column_names and type_of(name, self._types) not in nodes
        ]
        return table.with_missing(absent)


def _qualified(table: SourceTable, name: str, prefix: str) -> Any:
    """Return a key column as text that begins with the node type, unless the prefix is empty."""
    column = table.column(name)
    if not is_text(column) and column.null_count < len(column):
        raise DataError(
            f"Column {name!r} of {table.place} must hold text or integers, and is of type "
            f"{column.type}."
        )
    texts = table.text_column(name)
    if not prefix:
        return texts
    before, between = (pa.scalar(text, pa.large_string()) for text in (prefix, ""))
    return pc.binary_join_element_wise(before, texts, between)
