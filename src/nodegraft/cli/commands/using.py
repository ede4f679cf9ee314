"""Commands that make a store and ask it."""

import json
import shlex
from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from nodegraft.base.errors import ParameterError
from nodegraft.cli.errors import user_errors
from nodegraft.cli.options import name_value_pairs
from nodegraft.cli.store_options import (
    By,
    Note,
    Repair,
    StorePlace,
    WhichVersion,
    key_from,
    keys_from,
    labels_in,
    listed_labels,
)
from nodegraft.cli.table_options import (
    CategoryColumns,
    Delimiter,
    Directed,
    DirectedTypes,
    KeyTypeChoice,
    MinDocuments,
    NoFeatures,
    NumberColumns,
    SourceColumn,
    TargetColumn,
    TextColumns,
    TypeColumn,
    WeightColumn,
    directed_edges,
    key_type_of,
    number_columns,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from nodegraft.graph.keyed_labels import KeyedLabels
    from nodegraft.store.answers import Answers
    from nodegraft.store.store import Store
    from nodegraft.tables.read import Tables


class World(StrEnum):
    """Values of --world."""

    OPEN = "open"
    CLOSED = "closed"


class MissingKeys(StrEnum):
    """Values of --missing."""

    ERROR = "error"
    SKIP = "skip"
    NULL = "null"


@user_errors
def init(
    place: StorePlace,
    _context: typer.Context,
    labels: Annotated[str, typer.Option(help="The table of node keys and class names.")],
    nodes: Annotated[
        str | None,
        typer.Option(help="The table of nodes: a file, URL, or folder or glob of .parquet."),
    ] = None,
    edges: Annotated[str | None, typer.Option(help="The table of edges.")] = None,
    graph: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Instead of tables: what `nodegraft build` built."),
    ] = None,
    text: TextColumns = None,
    features: NumberColumns = None,
    no_features: NoFeatures = False,
    categories: CategoryColumns = None,
    min_documents: MinDocuments = 3,
    key: Annotated[str, typer.Option(help="The column of node keys, in nodes and labels.")] = "key",
    key_type: KeyTypeChoice = None,
    label_key: Annotated[
        str | None,
        typer.Option(help="The column of node keys in labels, where it differs from --key."),
    ] = None,
    label: Annotated[str, typer.Option(help="The column of class names.")] = "label",
    source: SourceColumn = "source",
    target: TargetColumn = "target",
    edge_type: TypeColumn = None,
    edge_weight: WeightColumn = None,
    directed: Directed = False,
    directed_types: DirectedTypes = None,
    delimiter: Delimiter = None,
    write_config: Annotated[
        bool,
        typer.Option(
            "--write-config",
            help="Write nodegraft.toml beside the table of nodes: init, grow and sync read it.",
        ),
    ] = False,
    repair: Repair = False,
    method: Annotated[str, typer.Option(help="See: nodegraft lab methods.")] = "graft",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Set a parameter of the method."),
    ] = None,
    database: Annotated[
        str | None,
        typer.Option(help="Where versions are written down, if not in the folder: postgresql://…"),
    ] = None,
    objects: Annotated[
        str | None,
        typer.Option(help="Where graphs and models are kept, if not in the folder: s3://…"),
    ] = None,
    world: Annotated[
        World | None,
        typer.Option(
            help="open: nodes may belong to classes not known yet; closed: every node belongs to a "
            "known class, and confidence is the probability. open by default."
        ),
    ] = None,
    note: Note = "",
    by: By = None,
) -> None:
    """Make a store from tables of nodes, edges and labels, and teach it a first time."""
    from rich.console import Console

    from nodegraft.base.parameters.build import parse
    from nodegraft.cli.display.store import Steps, report_table, store_summary, world_line
    from nodegraft.cli.table_config import TableConfig
    from nodegraft.model.registry import REGISTRY
    from nodegraft.store.growth import GROWING
    from nodegraft.store.store import Store
    from nodegraft.tables.read import read_tables

    console = Console()
    new_config = TableConfig.place_beside(nodes) if write_config else None
    config = TableConfig.beside(nodes)
    named = config.completed(
        _context,
        key=key,
        key_type=key_type_of(key_type),
        label=label,
        label_key=label_key,
        source=source,
        target=target,
        edge_type=edge_type,
        edge_weight=edge_weight,
        directed=directed,
        directed_types=directed_types,
        delimiter=delimiter,
        text=text,
        features=features,
        no_features=no_features,
        categories=categories,
        min_documents=min_documents,
    )
    columns: dict[str, Any] = {name: named[name] for name in GROWING}
    columns["directed"] = directed_edges(named["directed"], named["directed_types"])
    key, label, wanted = named["key"], named["label"], named["key_type"]
    owner = named["label_key"] or key
    parameters = parse(REGISTRY.get(method), name_value_pairs(settings)).get_params()
    with Steps(console) as steps:
        steps.say("reading tables")
        chosen: dict[str, Any] = {
            "text": named["text"] or (),
            "features": number_columns(named["features"], named["no_features"]),
            "categories": named["categories"] or (),
        }
        if graph is not None:
            tables = _built(graph, nodes, edges, wanted, *chosen.values())
            known = labels_in(labels, tables.graph, owner, label, repair, named["delimiter"])
        elif nodes is None:
            raise ParameterError(
                "Give a table of nodes (--nodes nodes.parquet), or a graph that `nodegraft build` "
                "built (--graph FOLDER)."
            )
        else:
            chosen |= {"min_documents": named["min_documents"], "repair": repair}
            chosen |= {"label": label, "label_key": owner, "key_type": wanted}
            tables = read_tables(nodes, edges, labels, **columns, **chosen)
            known = listed_labels(cast("KeyedLabels", tables.labels), labels, label)
        columns["key_type"] = tables.graph.node_keys.key_type
        store = Store.init(
            place,
            tables.graph,
            known,
            method=method,
            parameters=parameters,
            tables=columns,
            texts=tables.texts,
            database=database,
            objects=objects,
            world=None if world is None else world.value,
            by=by,
            note=note,
            listener=steps,
        )
    if config.found:
        console.print(config.line(), highlight=False, soft_wrap=True, markup=False)
    console.print(report_table(tables.report))
    console.print(store_summary(store))
    console.print(world_line(store), soft_wrap=True)
    if new_config:
        TableConfig.write(new_config, named | {"key_type": columns["key_type"]})
        console.print(f"Wrote {new_config}.", highlight=False, soft_wrap=True, markup=False)
    console.print(
        "Teach it a new class: "
        f"nodegraft add {shlex.quote(str(place))} --class NAME --nodes KEY,KEY,KEY --dry-run",
        highlight=False,
        markup=False,
        soft_wrap=True,
        style="dim",
    )
    store.close()


def _built(folder: Path, *given: object) -> "Tables":
    if any(given):
        raise ParameterError(
            "A graph that is built has its nodes, edges and features: leave --nodes, --edges, "
            "--text, --features, --categories and --key-type out. --key, --source, "
            "--target, --type, --weight and --directed say how later tables are read."
        )
    from nodegraft.tables.data_report import DataReport
    from nodegraft.tables.read import Tables
    from nodegraft.tables.storage import load_graph

    graph = load_graph(folder)
    sizes = graph.num_nodes, graph.num_edges, graph.num_features
    return Tables(graph, DataReport(*sizes, ()))


@user_errors
def predict(
    place: StorePlace,
    nodes: Annotated[str | None, typer.Option(help="Keys, with commas between.")] = None,
    table: Annotated[str | None, typer.Option(help="A table with a column of keys.")] = None,
    everyone: Annotated[bool, typer.Option("--all", help="All nodes.")] = False,
    key: Annotated[str, typer.Option(help="The column of node keys in the table.")] = "key",
    top: Annotated[int, typer.Option(help="How many classes of each node.")] = 1,
    min_confidence: Annotated[
        float | None,
        typer.Option(help="Withhold predictions with less confidence, from 0 to 1."),
    ] = None,
    missing: Annotated[
        MissingKeys | None,
        typer.Option(
            help="Keys that are not in the graph: error names them, skip leaves them out, null "
            "gives a row without a class. null for --table, error for --nodes by default."
        ),
    ] = None,
    ignore_labels: Annotated[
        bool,
        typer.Option("--ignore-labels", help="Predict the class of nodes with a label, too."),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON, as the HTTP service sends it.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Write a .parquet or .csv instead.")] = None,
    version: WhichVersion = None,
) -> None:
    """The classes of nodes: by keys, by a table, or --all."""
    from rich.console import Console

    from nodegraft.cli.display.answers import (
        MOST_ANSWERS,
        answers_json,
        answers_table,
        written_text,
    )
    from nodegraft.cli.display.versions import answering_version
    from nodegraft.cli.tables import column_of_keys, write_tables
    from nodegraft.store.answers import answered, answered_in_blocks, found_rows
    from nodegraft.store.store import Store

    if as_json and out is not None:
        raise ParameterError("Give --json or --out, not both.")
    if sum((nodes is not None, table is not None, everyone)) != 1:
        raise ParameterError(
            "Say which nodes, in one way: --nodes p17,p20 or --table new.parquet or --all."
        )
    with Store.open(place) as store:
        champion, newest = store.champion, store.candidate
        number = champion if version is None else version
        state = store.state(number)
        rows, keys = state.graph.rows, None
        if nodes is not None:
            asked = keys_from(nodes, state.graph, missing in (None, MissingKeys.ERROR))
            rows, keys = found_rows(state.graph, asked, missing.value if missing else "error")
        elif table is not None:
            delimiter = store.table_options.get("delimiter")
            listed = column_of_keys(table, key, state.graph, delimiter)
            rows, keys = found_rows(state.graph, listed, missing.value if missing else "null")
        options: dict[str, Any] = {"keys": keys, "ignore_labels": ignore_labels}
        if out is None:
            most = rows.size if as_json else MOST_ANSWERS
            shown = answered(state, rows[:most], number, top, min_confidence, **options)
            texts = _texts(store, shown, number)
    console = Console()
    if as_json:
        console.out(json.dumps(answers_json(shown), indent=2, ensure_ascii=False), highlight=False)
        return
    if out is None:
        console.print(answers_table(shown, texts, rows.size - len(shown), console.width))
        console.print(answering_version(number, champion, newest))
        return
    reasons, notes = Counter[str](), set[str | None]()

    def tables() -> Iterator["pa.Table"]:
        for block in answered_in_blocks(state, rows, number, top, min_confidence, **options):
            reasons.update(block.reasons)
            notes.add(block.note)
            yield block.to_arrow()

    write_tables(tables(), out)
    console.print(
        f"{out}: {written_text(rows.size, reasons)}",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )
    for note in filter(None, notes):
        console.print(note, highlight=False)
    console.print(answering_version(number, champion, newest))


def _texts(store: "Store", answers: "Answers", version: int) -> list[str | None]:
    """Read texts of the nodes that are in the graph."""
    found = answers.is_found.tolist()
    there = [node for node, is_there in zip(answers.nodes, found, strict=True) if is_there]
    texts = iter(store.texts(there, version))
    return [next(texts) if is_there else None for is_there in found]


@user_errors
def explain(
    place: StorePlace,
    node: Annotated[str, typer.Argument(help="The key of a node.")],
    version: WhichVersion = None,
) -> None:
    """Why a node is answered as it is: what spoke for it, and which labels and edges."""
    from rich.console import Console

    from nodegraft.cli.display.explanation import Asked, explanation
    from nodegraft.cli.display.versions import answering_version
    from nodegraft.store.store import Store

    with Store.open(place) as store:
        champion, newest = store.champion, store.candidate
        number = champion if version is None else version
        state = store.state(number)
        key = key_from(node, state.graph)
        (text,) = store.texts([key], number)
    told = state.model.explain(state.graph, key)
    console = Console()
    console.print(explanation(Asked(key, state.label_of.get(key), text), told))
    console.print(answering_version(number, champion, newest))
