"""Read a graph from tables, with a report on their content."""

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
from nodegraft.tables.features.text_encoders import TFIDF
from nodegraft.tables.keys import check_key_type, in_one_key_type, node_keys
from nodegraft.tables.labels import LABEL, labels_in
from nodegraft.tables.node_texts import NodeTexts


@dataclass(frozen=True)
class Tables:
    """Graph that was read from tables, and the report on them."""

    graph: Graph
    """Graph; ``graph.recipe`` is the recipe of its features."""

    report: DataReport
    """Report on the tables."""

    texts: NodeTexts | None = None
    """Short text of each node that was read, in row order; None if no column is text."""

    labels: KeyedLabels | None = None
    """Keys of each class; None without a table of labels."""


def read_graph(nodes: Source, edges: Source = None, **options: Any) -> Graph:
    """Return the graph of :func:`read_tables`, without its report.

    Args:
        nodes: The table of nodes.
        edges: The table of edges.
        options: The other arguments of :func:`read_tables`.
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
    min_documents: int = 3,
    stop_words: Literal["english"] | None = None,
    recipe: FeatureRecipe | None = None,
    repair: bool = False,
    delimiter: str | None = None,
    listener: Listener = SILENT,
) -> Tables:
    """Read tables of nodes, edges and labels, from files or in memory.

    Files are Parquet (one, or a folder or glob of parts), CSV with commas or semicolons, or JSON
    Lines; the last two may be compressed (``.gz``). Any URL that fsspec knows is a file. A query of
    a database is its URL, ``#`` and SQL: ``duckdb:///shop.duckdb#SELECT …``, or any SQLAlchemy URL
    (extra ``sql``). All that is wrong is refused at once, with rows and columns; rows are counted
    from 1, without a header.

    Features are always named, never guessed, because a label column used as a feature would be an
    unnoticed leak. If none are named, a column called ``features`` is used. Names may be globs
    (``"e*"``), which match neither keys nor labels.

    Args:
        nodes: The table of nodes, one row each.
        edges: The table of edges, one row each; None for a graph without edges.
        labels: The table of labels, one row each; None to read it later with
            :func:`nodegraft.read_labels`.
        key: Column of ``nodes`` with node keys.
        key_type: ``"text"`` or ``"integer"``: the type of all node keys. None keeps the type that
            columns have; keys in CSV files are integers only if each key of every table is one,
            without leading zeros, and text otherwise.
        source: Column of ``edges`` with the source node's key.
        target: Column of ``edges`` with the target node's key.
        edge_type: Column of ``edges`` with the edge type; None if there is one type.
        edge_weight: Column of ``edges`` with the weight; None for 1.
        directed: Whether edges have a direction; or the edge types that have one.
        label: Column of ``labels`` with class names.
        label_key: Column of ``labels`` with node keys; None if it has the same name as in
            ``nodes``.
        text: Columns of text, which become features by ``encoder``.
        features: Columns of numbers or of lists of numbers. None for a graph without features,
            which a table with only keys gives, too.
        categories: Columns with few different values.
        encoder: Text encoder, or several whose features are joined: ``tfidf``, ``wordllama``,
            ``sentence-transformers:NAME``, ``model2vec:NAME``, ``fastembed:NAME``, or the name of
            an entry point in the group ``nodegraft.encoders``.
        min_documents: Words that occur in the text of fewer nodes are left out.
        stop_words: ``"english"`` leaves out the most common English words.
        recipe: Feature recipe of another graph or of a model, instead of naming columns.
        repair: Keep the first of duplicate nodes, drop edges to unknown nodes and treat infinite
            numbers as missing, instead of refusing such tables.
        delimiter: Column separator of CSV files; None to guess it from their headers.
        listener: Receives the progress of text encoders.
    """
    validate_value("repair", repair, bool)
    check_key_type(key_type)
    chosen = FeatureChoice.of(
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
        "nodes": (nodes, (*chosen.text_columns, key)),
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
    chosen = chosen.expanded(table, (key, owner, label))
    named = (owner, label)
    require_columns([(table, (key, *chosen.columns)), (edge_table, columns), (label_table, named)])
    keyed = [(table, (key,)), (edge_table, columns.ends), (label_table, (owner,))]
    table, edge_table, label_table = in_one_key_type(keyed, key_type)
    table, named_keys, findings = different_nodes(table, key)
    keys = NodeKeys(named_keys)
    known = None
    with problems.collect():
        recipe = chosen.fitted(table, key)
        encoded = recipe.encode(table, keys.values(), listener)
        findings += encoded.findings
    with problems.collect():
        given = read_edges(edge_table, columns, keys)
        kinds = given.adjacencies(len(keys), directed)
        findings += [*given.findings, *edge_oddities(given, kinds)]
    with problems.collect():
        if label_table is not None:
            known, found = labels_in(label_table, keys, owner, label)
            findings += found
    _raise_all(problems, findings, repair)
    graph = Graph.from_parts(keys, encoded.matrix, kinds, recipe)
    report = DataReport(len(keys), graph.num_edges, graph.num_features, tuple(findings))
    report.require_usable(repair)
    return Tables(graph, report, recipe.texts(table), known)


def grow_graph(graph: Graph, nodes: Source = None, edges: Source = None, **options: Any) -> Graph:
    """Return the larger graph of :func:`grow_tables`, without its report.

    Args:
        graph: A graph that was read from tables.
        nodes: The table of new nodes; None if there are none.
        edges: The table of new edges, between old and new nodes; None if there are none.
        options: The other arguments of :func:`grow_tables`.
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
    """Add nodes and edges from tables to a graph, with features by the graph's recipe.

    Keys are read in the type of the graph's keys. Report and texts are about the new nodes and
    edges.

    Args:
        graph: A graph that was read from tables.
        nodes: The table of new nodes; None if there are none.
        edges: The table of new edges, between old and new nodes; None if there are none.
        key: Column of ``nodes`` with node keys.
        source: Column of ``edges`` with the source node's key.
        target: Column of ``edges`` with the target node's key.
        edge_type: Column of ``edges`` with the edge type; needed if the graph has several. Known
            edge types keep their direction, new ones have none.
        edge_weight: Column of ``edges`` with the weight; None for 1.
        repair: As in :func:`read_tables`; nodes that the graph already has are left out.
        delimiter: As in :func:`read_tables`.
        listener: Receives the progress of text encoders.
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
    require_columns([(table, (key, *recipe.columns)), (edge_table, columns)])
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
        stay, shown = "the rows of the graph stay as they are", table.examples(old, keys[old])
        what, where = "nodes that the graph has already", table.where(key)
        findings += finding(what, old.size, shown, stay, where=where)
        table, keys = table.without(old), np.delete(keys, old)
        with problems.collect():
            encoded = recipe.encode(table, keys, listener)
            matrix, findings = encoded.matrix, [*findings, *encoded.findings]
            texts = recipe.texts(table)
    together = with_keys(graph.node_keys, keys.tolist())
    with problems.collect():
        given = read_edges(edge_table, columns, together)
        findings += given.findings
    _raise_all(problems, findings, repair)
    count = len(together), given.source.size, recipe.num_features
    report = DataReport(*count, tuple(findings))
    report.require_usable(repair)
    relations = given.relations(together)
    new: Edges = relations if edge_type is not None else relations[EDGES]
    grown = graph.grow(keys.tolist(), matrix, new if given.source.size else ())
    return Tables(grown, report, texts)


def _raise_all(problems: Problems, findings: list[Finding], repair: bool) -> None:
    """Raise problems together with findings that prevent the use of the tables."""
    if problems:
        with problems.collect():
            require_usable(findings, repair, "\n".join(map(str, findings)))
    problems.raise_all()


def different_nodes(table: SourceTable, key: str) -> tuple[SourceTable, KeyArray, list[Finding]]:
    """Return the first row of each key, the keys, and findings about missing and repeated keys."""
    missing = np.flatnonzero(table.column(key).is_null().to_numpy(zero_copy_only=False))
    shown = [f"row {table.row_number(place)}" for place in missing[:3]]
    what, where = "rows without a node key", table.where(key)
    findings = finding(what, missing.size, shown, "dropped", where=where)
    table = table.without(missing)
    keys = node_keys(table, key)
    first = np.sort(np.unique(keys, return_index=True)[1])
    others = np.setdiff1d(np.arange(keys.size), first)
    findings += repeated_keys(table, key, others, keys[others])
    return table.without(others), keys[first], findings


def repeated_keys(
    table: SourceTable, key: str, rows: IntArray, keys: NDArray[Any]
) -> list[Finding]:
    """Return the finding about keys that occur more than once."""
    what, repair = "rows with a node key seen before", "the first row of each is kept"
    shown = table.examples(rows, keys[:3])
    return finding(what, rows.size, shown, repair, where=table.where(key))
