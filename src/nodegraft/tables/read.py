"""Read a graph from tables, with a data report."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from nodegraft.base.errors import DataError, ParameterError
from nodegraft.base.events import SILENT, Listener
from nodegraft.base.parameters.validate import validate_value
from nodegraft.base.problems import Problems
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
from nodegraft.tables.node_rows import different_nodes
from nodegraft.tables.node_texts import NodeTexts
from nodegraft.tables.typed import TypedReader, TypedTables
from nodegraft.tables.typed_sources import edge_tables, is_typed, node_types_of, same_node_types


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
    key: str | Mapping[str, str] = "key",
    key_type: KeyType | None = None,
    source: str = "source",
    target: str = "target",
    edge_type: str | None = None,
    edge_weight: str | None = None,
    directed: bool | Iterable[str] = False,
    label: str = LABEL,
    label_key: str | None = None,
    several_labels: bool = False,
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

    Nodes may have several types: give a node table for each type, and an edge table for each edge
    type. Nodes of the first type are classified and may have labels; the others connect them
    (``nodegraft.tables.typed``). Node 17 of type ``user`` then has the key ``user:17``, and its
    column ``age`` is named ``user:age``. Types without features need no table.

    Args:
        nodes: Node table with one row for each node; or a mapping from node type to table.
        edges: Edge table with one row for each edge; None for a graph without edges. For several
            node types a mapping from edge type to table: ``{("user", "bought", "product"): …}``.
        labels: Label table with one row for each label; None to read labels later with
            :func:`nodegraft.read_labels`.
        key: Column of ``nodes`` with node keys; or a mapping from node type to this column. An edge
            table of these types may use the same columns instead of ``source`` and ``target``.
        key_type: ``"text"`` or ``"integer"``: the type of all node keys; text if there are several
            node types. None uses the type of the
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
        several_labels: Whether a node may have several classes, each in a row of ``labels``.
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
    validate_value("several_labels", several_labels, bool)
    validate_value("label", label, str)
    validate_value("label_key", label_key, str | None)
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
    columns, problems = EdgeColumns(source, target, edge_type, edge_weight), Problems()
    types, typed = node_types_of(nodes, edges), None
    if choice.recipe is not None:
        types = same_node_types(choice.recipe.node_types, types)
    read = dict[str, SourceTable]()
    if types:
        if key_type == "integer":
            raise ParameterError("Keys of several node types are text: omit key_type (--key-type).")
        reader = TypedReader(types, key, columns, choice.text_columns, delimiter)
        key_type, key = "text", reader.key
        with problems.collect():
            featured = choice.recipe.columns if choice.recipe else ()
            typed = reader.read(nodes, edge_tables(edges), featured)
            read["nodes"] = typed.nodes
    elif not isinstance(key, str):
        raise ParameterError(f"key={key!r} is for node tables by type: nodes={{'product': …}}.")
    owner = label_key or key
    sources = {
        "nodes": (None if types else nodes, (*choice.text_columns, key)),
        "edges": (None if types else edges, columns.texts),
        "labels": (labels, (owner, label)),
    }
    for what, (content, texts) in sources.items():
        with problems.collect():
            if content is not None or (what == "nodes" and not types):
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
    table, named_keys, findings = _nodes_with_keys(table, key, typed)
    findings += typed.sizes() if typed else ()
    keys, known = NodeKeys(named_keys), None
    with problems.collect():
        fitted_on = typed.with_features(choice.columns or choice.features) if typed else table
        recipe = choice.fitted(fitted_on, key, types)
        encoded = recipe.encode(table, keys.values(), listener)
        findings += encoded.findings
    with problems.collect():
        edge_rows = typed.edge_rows(keys) if typed else read_edges(edge_table, columns, keys)
        kinds = edge_rows.adjacencies(len(keys), directed)
        findings += [*edge_rows.findings, *edge_oddities(edge_rows, kinds)]
    with problems.collect():
        if label_table is not None:
            known, label_findings = labels_in(
                label_table, keys, owner, label, types, several_labels
            )
            findings += label_findings
    raise_problems(problems, findings, repair)
    graph = Graph.from_parts(keys, encoded.matrix, kinds, recipe)
    sizes = len(keys), graph.num_edges_of_all_types, graph.num_features
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
    key: str | Mapping[str, str] = "key",
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
        nodes: Table of new nodes; None if there are none. If the graph has several node types, a
            mapping from node type to table; one table has nodes of the classified type.
        edges: Table of new edges between any old or new nodes; None if there are none. A mapping
            from edge type to table as in :func:`read_tables`; in one table, nodes of other types
            have keys such as ``user:17``.
        key: Column of ``nodes`` with node keys; or a mapping from node type to this column.
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
    table = edge_table = typed = None
    types, edges_by_type = recipe.node_types, edges is not None and is_typed(edges)
    if types:
        reader = TypedReader(types, key, columns, recipe.text_columns, delimiter)
        by_type = nodes if is_typed(nodes) or nodes is None else {types[0]: nodes}
        with problems.collect():
            new_edges = edge_tables(edges if edges_by_type else None)
            typed = reader.read(by_type or {}, new_edges, recipe.columns, graph.node_keys)
            table = typed.nodes if len(typed.nodes) else None
        key = reader.key
    elif edges_by_type or is_typed(nodes) or not isinstance(key, str):
        raise DataError(
            "This graph has one node type: give one table of nodes and one of edges, and key as "
            "the name of a column."
        )
    with problems.collect():
        if nodes is not None and not types:
            table = read_source(nodes, "new nodes", (*recipe.text_columns, key), delimiter)
    with problems.collect():
        if edges is not None and not edges_by_type:
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
        table, keys, findings = _nodes_with_keys(table, key, typed)
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
        edge_rows = (
            typed.edge_rows(together)
            if typed and edges_by_type
            else read_edges(edge_table, columns, together)
        )
        findings += edge_rows.findings
    raise_problems(problems, findings, repair)
    count = len(together), edge_rows.source.size, recipe.num_features
    report = DataReport(*count, tuple(findings))
    report.require_usable(repair)
    relations = edge_rows.relations(together)
    is_named = edges_by_type or edge_type is not None
    new: Edges = relations if is_named else relations[EDGES]
    grown = graph.grow(keys.tolist(), matrix, new if edge_rows.source.size else ())
    return Tables(grown, report, texts)


def _nodes_with_keys(
    table: SourceTable, key: str, typed: TypedTables | None
) -> tuple[SourceTable, KeyArray, list[Finding]]:
    """Return the rows of a node table with different keys, these keys, and findings about others.

    Tables by type have been checked when they were joined.
    """
    if typed is None:
        return different_nodes(table, key)
    return table, node_keys(table, key), [*typed.findings]


def raise_problems(problems: Problems, findings: list[Finding], repair: bool) -> None:
    """Raise a single error for all problems and for all findings whose data must be corrected."""
    if problems:
        with problems.collect():
            require_usable(findings, repair, "\n".join(map(str, findings)))
    problems.raise_all()
