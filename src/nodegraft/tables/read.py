"""Read a graph from tables, with a data report."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.errors import DataError
from nodegraft.base.events import SILENT, Listener
from nodegraft.base.parameters.validate import validate_value
from nodegraft.base.problems import Problems
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.edges.relation import Edges
from nodegraft.graph.graph import Graph
from nodegraft.graph.growth.growing import with_keys
from nodegraft.graph.keyed_labels import KeyedLabels
from nodegraft.graph.keys import KeyArray, KeyType, NodeKeys
from nodegraft.graph.stores import EDGES
from nodegraft.tables.columns import (
    Source,
    SourceTable,
    read_source,
    require_columns,
)
from nodegraft.tables.data_report import DataReport, Finding, finding, require_usable
from nodegraft.tables.edges import EdgeColumns, edge_oddities, read_edges
from nodegraft.tables.features.choice import FeatureChoice
from nodegraft.tables.features.recipe import FeatureRecipe
from nodegraft.tables.features.text import FEWEST_DOCUMENTS
from nodegraft.tables.features.text_encoders import TFIDF
from nodegraft.tables.keys import check_key_type, in_one_key_type, node_keys
from nodegraft.tables.labels import LABEL, labels_in
from nodegraft.tables.node_texts import NodeTexts


@dataclass(frozen=True)
class Tables:
    """Graph that was read from tables, with its data report."""

    graph: Graph
    """Graph; ``graph.recipe`` is its feature recipe."""

    report: DataReport
    """Data report about the tables."""

    texts: NodeTexts | None = None
    """Short text of each node in the table, in row order; None if no column is text."""

    labels: KeyedLabels | None = None
    """Mapping from class name to node keys; None if there was no label table."""


def read_graph(nodes: Source, edges: Source = None, **options: Any) -> Graph:
    """Like :func:`read_tables`, but return only the graph, without report, texts and labels.

    Args:
        nodes: Node table with one row for each node.
        edges: Edge table with one row for each edge; None for a graph without edges.
        options: Other arguments of :func:`read_tables`.
    """
    return read_tables(nodes, edges, **options).graph


def read_tables(
    nodes: Source,
    edges: Source = None,
    labels: Source = None,
    *,
    key: str = "key",
    key_type: KeyType | None = None,
    source: str = "source",
    target: str = "target",
    edge_type: str | None = None,
    edge_weight: str | None = None,
    directed: bool | Iterable[str] = False,
    label: str = LABEL,
    label_key: str | None = None,
    text: str | Iterable[str] = (),
    features: str | Iterable[str] | None = (),
    categories: str | Iterable[str] = (),
    encoder: str | Iterable[str] = TFIDF,
    min_documents: int = FEWEST_DOCUMENTS,
    stop_words: Literal["english"] | None = None,
    recipe: FeatureRecipe | None = None,
    repair: bool = False,
    delimiter: str | None = None,
    listener: Listener = SILENT,
) -> Tables:
    """Read tables of nodes, edges and labels, from files or in memory.

    Files are Parquet (one, or a folder or glob of parts), CSV with commas or semicolons, or JSON
    Lines; CSV and JSON Lines may be compressed (``.gz``). A file may be at any URL that fsspec
    supports. A database query is written as URL, ``#`` and SQL: ``duckdb:///shop.duckdb#SELECT …``,
    or any SQLAlchemy URL (extra ``sql``). If tables have problems, a single error lists all of them
    with their rows and columns; rows are counted from 1, without the header.

    You must name the feature columns. They are not guessed, because using a label column as a
    feature would leak labels unnoticed. If you name none, a column called ``features`` is used.
    Names may be globs (``"e*"``); globs never match key and label columns.

    Args:
        nodes: Node table with one row for each node.
        edges: Edge table with one row for each edge; None for a graph without edges.
        labels: Label table with one row for each label; None to read labels later with
            :func:`nodegraft.read_labels`.
        key: Column of ``nodes`` with node keys.
        key_type: ``"text"`` or ``"integer"``: the type of all node keys. None uses the type of the
            columns; keys in CSV files are integers only if every key of every table is an integer
            without leading zeros, else text.
        source: Column of ``edges`` with the source node's key.
        target: Column of ``edges`` with the target node's key.
        edge_type: Column of ``edges`` with the edge type; None if all edges have the same type.
        edge_weight: Column of ``edges`` with the weight; None if all weights are 1.
        directed: Whether edges have a direction; or the names of the directed edge types.
        label: Column of ``labels`` with class names.
        label_key: Column of ``labels`` with node keys; None if it has the same name as in
            ``nodes``.
        text: Names of text columns; ``encoder`` converts them to features.
        features: Names of columns with numbers or lists of numbers. None for a graph without
            features; a table with only a key column gives a graph without features, too.
        categories: Names of category columns, which have few different values; each value becomes a
            feature.
        encoder: Text encoder, or several whose features are joined: ``tfidf``, ``wordllama``,
            ``sentence-transformers:NAME``, ``model2vec:NAME``, ``fastembed:NAME``, or the name of
            an entry point in the group ``nodegraft.encoders``.
        min_documents: Minimum number of nodes whose text has a word; rarer words are left out.
        stop_words: ``"english"`` to leave out the most common English words; None to use all words.
        recipe: Feature recipe of another graph or of a model, instead of column names.
        repair: Whether to keep the first of duplicate nodes, drop edges to unknown nodes and treat
            infinite numbers as missing. If False, such tables raise an error.
        delimiter: Column separator of CSV files; None to guess it from their headers.
        listener: Listener that receives progress events of text encoders.
    """
    validate_value("repair", repair, bool)
    check_key_type(key_type)
    choice = FeatureChoice.of(
        text=text,
        features=features,
        categories=categories,
        recipe=recipe,
        encoder=encoder,
        min_documents=min_documents,
        stop_words=stop_words,
    )
    columns, owner = EdgeColumns(source, target, edge_type, edge_weight), label_key or key
    sources = {
        "nodes": (nodes, (*choice.text_columns, key)),
        "edges": (edges, columns.texts),
        "labels": (labels, (owner, label)),
    }
    read, problems = dict[str, SourceTable](), Problems()
    for what, (content, texts) in sources.items():
        with problems.collect():
            if what == "nodes" or content is not None:
                read[what] = read_source(content, what, texts, delimiter)
    problems.raise_all()
    table, edge_table, label_table = read["nodes"], read.get("edges"), read.get("labels")
    choice = choice.expanded(table, (key, owner, label))
    require_columns(
        {
            "nodes": (table, (key, *choice.columns)),
            "edges": (edge_table, columns),
            "labels": (label_table, (owner, label)),
        }
    )
    keyed = [(table, (key,)), (edge_table, columns.ends), (label_table, (owner,))]
    table, edge_table, label_table = in_one_key_type(keyed, key_type)
    table, named_keys, findings = different_nodes(table, key)
    keys = NodeKeys(named_keys)
    known = None
    with problems.collect():
        recipe = choice.fitted(table, key)
        encoded = recipe.encode(table, keys.values(), listener)
        findings += encoded.findings
    with problems.collect():
        edge_rows = read_edges(edge_table, columns, keys)
        kinds = edge_rows.adjacencies(len(keys), directed)
        findings += [*edge_rows.findings, *edge_oddities(edge_rows, kinds)]
    with problems.collect():
        if label_table is not None:
            known, label_findings = labels_in(label_table, keys, owner, label)
            findings += label_findings
    raise_problems(problems, findings, repair)
    graph = Graph.from_parts(keys, encoded.matrix, kinds, recipe)
    sizes = len(keys), sum(graph.edge_counts.values()), graph.num_features
    report = DataReport(*sizes, tuple(findings))
    report.require_usable(repair)
    return Tables(graph, report, recipe.texts(table), known)


def grow_graph(graph: Graph, nodes: Source = None, edges: Source = None, **options: Any) -> Graph:
    """Like :func:`grow_tables`, but return only the larger graph, without report and texts.

    Args:
        graph: Graph to extend, which was read from tables.
        nodes: Table of new nodes; None if there are none.
        edges: Table of new edges between any old or new nodes; None if there are none.
        options: Other arguments of :func:`grow_tables`.
    """
    return grow_tables(graph, nodes, edges, **options).graph


def grow_tables(
    graph: Graph,
    nodes: Source = None,
    edges: Source = None,
    *,
    key: str = "key",
    source: str = "source",
    target: str = "target",
    edge_type: str | None = None,
    edge_weight: str | None = None,
    repair: bool = False,
    delimiter: str | None = None,
    listener: Listener = SILENT,
) -> Tables:
    """Return a larger graph with new nodes and edges from tables.

    The graph's recipe computes the features of new nodes. Keys are read in the type of the graph's
    keys. Report and texts in the result cover only the new nodes and edges.

    Args:
        graph: Graph to extend, which was read from tables.
        nodes: Table of new nodes; None if there are none.
        edges: Table of new edges between any old or new nodes; None if there are none.
        key: Column of ``nodes`` with node keys.
        source: Column of ``edges`` with the source node's key.
        target: Column of ``edges`` with the target node's key.
        edge_type: Column of ``edges`` with the edge type; required if the graph has several types.
            Edges of an existing directed type are directed, too; new edge types are undirected.
        edge_weight: Column of ``edges`` with the weight; None if all weights are 1.
        repair: Whether to correct the tables as in :func:`read_tables`, and to leave out nodes that
            the graph already has.
        delimiter: Column separator of CSV files; None to guess it from their headers.
        listener: Listener that receives progress events of text encoders.
    """
    validate_value("repair", repair, bool)
    recipe = getattr(graph, "recipe", None)
    if not isinstance(recipe, FeatureRecipe):
        raise DataError(
            "This graph was not read from tables, so it has no recipe for new ones: use "
            "graph.grow(keys, features, edges)."
        )
    columns = EdgeColumns(source, target, edge_type, edge_weight)
    findings, problems = list[Finding](), Problems()
    keys: KeyArray = graph.key_array_of([])
    matrix, texts = graph.features([]), None
    table = edge_table = None
    with problems.collect():
        if nodes is not None:
            table = read_source(nodes, "new nodes", (*recipe.text_columns, key), delimiter)
    with problems.collect():
        if edges is not None:
            edge_table = read_source(edges, "edges", columns.texts, delimiter)
    problems.raise_all()
    require_columns({"nodes": (table, (key, *recipe.columns)), "edges": (edge_table, columns)})
    with problems.collect():
        if table is not None:
            table = table.with_keys([key], graph.node_keys.key_type)
    with problems.collect():
        if edge_table is not None:
            edge_table = edge_table.with_keys(columns.ends, graph.node_keys.key_type)
    problems.raise_all()
    if table is not None:
        table, keys, findings = different_nodes(table, key)
        old = np.flatnonzero(graph.node_keys.find(keys) >= 0)
        stay, examples = "the rows of the graph stay as they are", table.examples(old, keys[old])
        what, where = "nodes that the graph has already", table.where(key)
        findings += finding(what, old.size, examples, stay, where=where)
        table, keys = table.without(old), np.delete(keys, old)
        with problems.collect():
            encoded = recipe.encode(table, keys, listener)
            matrix, findings = encoded.matrix, [*findings, *encoded.findings]
            texts = recipe.texts(table)
    together = with_keys(graph.node_keys, keys.tolist())
    with problems.collect():
        edge_rows = read_edges(edge_table, columns, together)
        findings += edge_rows.findings
    raise_problems(problems, findings, repair)
    count = len(together), edge_rows.source.size, recipe.num_features
    report = DataReport(*count, tuple(findings))
    report.require_usable(repair)
    relations = edge_rows.relations(together)
    new: Edges = relations if edge_type is not None else relations[EDGES]
    grown = graph.grow(keys.tolist(), matrix, new if edge_rows.source.size else ())
    return Tables(grown, report, texts)


def raise_problems(problems: Problems, findings: list[Finding], repair: bool) -> None:
    """Raise a single error for all problems and for all findings whose data must be corrected."""
    if problems:
        with problems.collect():
            require_usable(findings, repair, "\n".join(map(str, findings)))
    problems.raise_all()


def different_nodes(table: SourceTable, key: str) -> tuple[SourceTable, KeyArray, list[Finding]]:
    """Drop rows with missing or repeated keys; return table, keys and findings.

    Of several rows with the same key, the first remains.
    """
    missing = np.flatnonzero(table.column(key).is_null().to_numpy(zero_copy_only=False))
    examples = [f"row {table.row_number(place)}" for place in missing[:3]]
    what, where = "rows without a node key", table.where(key)
    findings = finding(what, missing.size, examples, "dropped", where=where)
    table = table.without(missing)
    keys = node_keys(table, key)
    first = np.sort(np.unique(keys, return_index=True)[1])
    others = np.setdiff1d(np.arange(keys.size), first)
    findings += repeated_keys(table, key, others, keys[others])
    return table.without(others), keys[first], findings


def repeated_keys(
    table: SourceTable, key: str, rows: IntArray, keys: NDArray[Any]
) -> list[Finding]:
    """Return a finding about rows of a node table whose key occurs in an earlier row."""
    what, repair = "rows with a node key seen before", "the first row of each is kept"
    examples = table.examples(rows, keys[:3])
    return finding(what, rows.size, examples, repair, where=table.where(key))
