"""Commands of the help panel Data: example tables, and create, grow and sync a store."""

import shlex
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer
from rich.console import RenderableType

from nodegraft.analysis.results.comparisons import RowsComparison
from nodegraft.analysis.results.label_sets import LabelSetComparison
from nodegraft.base.counting import counted
from nodegraft.base.errors import ParameterError
from nodegraft.cli.changes import DRY_RUN, new_version, open_store
from nodegraft.cli.folder import fill_folder
from nodegraft.cli.inputs import labels_in_table, listed_labels, name_value_pairs
from nodegraft.cli.options import (
    KEY,
    AuthorOptions,
    ChangeOptions,
    ClassTable,
    DryRun,
    EdgeTables,
    LabelColumn,
    MethodName,
    MethodSettings,
    NodeTables,
    Repair,
    StorePlace,
    TableOptions,
    files_in,
    given_tables,
    table_arguments,
)
from nodegraft.cli.output import Output, command
from nodegraft.cli.render.versions import (
    creation_line,
    report_fields,
    report_table,
    table_preview_lines,
    warning_lines,
    world_line,
)
from nodegraft.cli.results.store import CreatedStore, Example, NewVersion
from nodegraft.cli.several_labels import comparison_of_several
from nodegraft.cli.table_config import TableConfig, columns_beside
from nodegraft.cli.terminal import Terminal, line

if TYPE_CHECKING:
    from nodegraft.graph.keyed_labels import KeyedLabels
    from nodegraft.store.intent import Intent
    from nodegraft.store.several_labels import SeveralLabelsStore
    from nodegraft.store.store import Store
    from nodegraft.tables.read import Tables

TABLES = ("nodes", "edges", "labels")
STORE = "my-store"
"""Name of the store in the command that `example` prints."""


@command
def example(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="New folder for the tables.")],
) -> Output[Example]:
    """Write example tables: English nouns and their relations (WordNet 3.0)."""
    _copy_example(folder)
    places = {name: folder / f"{name}.parquet" for name in TABLES}
    tables = " ".join(f"--{name} {shlex.quote(str(place))}" for name, place in places.items())
    files = [place.name for place in places.values()]
    text = (
        f"{folder}: {', '.join(files)} (from WordNet 3.0: LICENSE).\n"
        "Next, create a store from them:\n"
        f"nodegraft init {STORE} {tables} --text description --type kind --directed"
    )
    return Output(Example(str(folder), files), (line(text),))


@command
def init(
    place: StorePlace,
    _context: typer.Context,
    labels: Annotated[str, typer.Option(help="Table of node keys and class names.")],
    table_options: TableOptions,
    author: AuthorOptions,
    terminal: Terminal,
    nodes: NodeTables = None,
    edges: EdgeTables = None,
    graph: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Graph folder of `nodegraft build`, not tables."),
    ] = None,
    label_key: Annotated[
        str | None,
        typer.Option(help="Column with the node key in labels, if it differs from --key."),
    ] = None,
    label: LabelColumn = "label",
    classes: ClassTable = None,
    write_config: Annotated[
        bool,
        typer.Option(
            "--write-config",
            help="Write nodegraft.toml beside the table of nodes: init, grow and sync read it.",
        ),
    ] = False,
    repair: Repair = False,
    several_labels: Annotated[
        bool,
        typer.Option(
            "--several-labels", help="A node may have several labels: a row of labels for each."
        ),
    ] = False,
    method: MethodName = "graft",
    settings: MethodSettings = None,
    database: Annotated[
        str | None,
        typer.Option(help="Database of the history, if not in the folder: postgresql://…"),
    ] = None,
    objects: Annotated[
        str | None,
        typer.Option(help="Place of graphs and models, if not in the folder: s3://…"),
    ] = None,
    world: Annotated[
        Literal["open", "closed"] | None,
        typer.Option(
            help="open: nodes may belong to unknown classes; closed: every node belongs to a "
            "known class, and confidence is the probability. open by default."
        ),
    ] = None,
) -> Output[CreatedStore]:
    """Create a store from tables of nodes, edges and labels, and fit its first version."""
    from nodegraft.base.parameters.build import parse
    from nodegraft.methods.multi_label import MultiLabel
    from nodegraft.model.registry import REGISTRY
    from nodegraft.store.store import Store
    from nodegraft.store.table_changes import GROWING
    from nodegraft.tables.read import read_tables

    node_tables, edge_tables = given_tables(nodes, "--nodes"), given_tables(edges, "--edges")
    files = files_in(node_tables)
    new_config = TableConfig.place_beside(next(iter(files), None)) if write_config else None
    config = TableConfig.beside(*files)
    values = config.completed(_context, **vars(table_options), label=label, label_key=label_key)
    arguments = table_arguments(values)
    label, key_column = values["label"], values["label_key"]
    pairs = name_value_pairs(settings)
    parameters = (
        parse(MultiLabel, pairs).get_params()
        if several_labels
        else parse(REGISTRY.get(method), pairs).get_params()
    )
    terminal.stage("reading tables")
    if config.exists:
        terminal.note(line(config.line()))
    if graph is not None:
        names = "key_type", "text", "features", "categories", "encoder"
        features = (arguments[name] for name in names)
        tables = _built_graph(graph, nodes, edges, *features)
        known = labels_in_table(
            labels,
            tables.graph,
            key_column or arguments["key"],
            label,
            repair,
            arguments["delimiter"],
            several_labels,
        )
    elif node_tables is None:
        raise ParameterError(
            "Give a table of nodes (--nodes nodes.parquet), or a graph folder written by "
            "`nodegraft build` (--graph FOLDER)."
        )
    else:
        options = {"label": label, "label_key": key_column, "repair": repair}
        arguments |= options | {"several_labels": several_labels}
        tables = read_tables(node_tables, edge_tables, labels, **arguments, listener=terminal)
        known = listed_labels(cast("KeyedLabels", tables.labels), labels, label)
    columns: dict[str, Any] = {name: arguments[name] for name in (*GROWING, "directed")}
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
        world=world,
        parents=classes,
        several_labels=several_labels,
        intent=author.intent,
        listener=terminal,
    )
    with store:
        value, text = _created_store(store, tables)
    if new_config:
        keys = values["key"] or [KEY]
        key = keys[0] if isinstance(keys, list) and len(keys) == 1 else keys
        TableConfig.write(new_config, values | {"key": key, "key_type": columns["key_type"]})
        text = (*text, line(f"Wrote {new_config}."))
    quoted = shlex.quote(str(place))
    hints = (
        f"Add a class: nodegraft add {quoted} --class NAME --nodes KEY,KEY,KEY --dry-run",
        f"Predict all nodes: nodegraft predict {quoted} --all",
    )
    return Output(value, text, hints)


@command
def grow(
    place: StorePlace,
    options: ChangeOptions,
    terminal: Terminal,
    nodes: NodeTables = None,
    edges: EdgeTables = None,
    repair: Repair = False,
    dry_run: DryRun = False,
) -> Output[NewVersion | RowsComparison | LabelSetComparison]:
    """Add new nodes and edges, and report how many predictions for old nodes change."""
    tables = given_tables(nodes, "--nodes"), given_tables(edges, "--edges")
    intent = None if dry_run else options.intent
    return _change_tables("grow", place, tables, repair, intent, terminal)


@command
def sync(
    place: StorePlace,
    nodes: Annotated[
        list[str],
        typer.Option(metavar="[TYPE=]TABLE", help="Table of all current nodes, as in init."),
    ],
    options: ChangeOptions,
    terminal: Terminal,
    edges: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[TYPE=]TABLE",
            help="Table of all current edges; without it, edges between remaining nodes stay.",
        ),
    ] = None,
    no_edges: Annotated[bool, typer.Option("--no-edges", help="Remove all edges.")] = False,
    repair: Repair = False,
    dry_run: DryRun = False,
    override: Annotated[
        str,
        typer.Option(
            metavar="REASON",
            help="Remove more nodes, edges or labels than the setting max_removed_share allows.",
        ),
    ] = "",
) -> Output[NewVersion | RowsComparison | LabelSetComparison]:
    """Replace all nodes and edges by current tables: add new ones, remove missing ones."""
    if no_edges and edges is not None:
        raise ParameterError("Give --edges or --no-edges, not both.")
    new_edges = False if no_edges else given_tables(edges, "--edges")
    intent = None if dry_run else replace(options.intent, override=override)
    tables = given_tables(nodes, "--nodes"), new_edges
    return _change_tables("sync", place, tables, repair, intent, terminal)


def _change_tables(
    action: Literal["grow", "sync"],
    place: Path,
    tables: tuple[Any, Any],
    repair: bool,
    intent: "Intent | None",
    terminal: Terminal,
) -> Output[NewVersion | RowsComparison | LabelSetComparison]:
    """Make a version from new tables, or show what would change if there is no intent."""
    with open_store(place, terminal, several_labels=True) as store:
        columns = columns_beside(store, terminal, *chain(*map(files_in, tables)))
        options: dict[str, Any] = {"repair": repair, "tables": columns}
        if intent:
            terminal.stage("making the new version")
            make = store.grow if action == "grow" else store.sync
            return new_version(store, make(*tables, **options, intent=intent))
        terminal.stage("comparing tables")
        compare = store.preview_grow if action == "grow" else store.preview_sync
        preview = compare(*tables, **options)
        if store.has_several_labels:
            return comparison_of_several(cast("SeveralLabelsStore", store), preview, DRY_RUN)
        examples = preview.predictions.examples if preview.predictions else ()
        texts = store.texts([flip.node for flip in examples])
        text = table_preview_lines(preview, texts), DRY_RUN
        return Output(preview.result(store.version()), text)


def _created_store(
    store: "Store", tables: "Tables"
) -> tuple[CreatedStore, tuple[RenderableType, ...]]:
    from nodegraft.analysis.accuracy import CorrectCounts

    if store.has_several_labels:
        return _created_several(cast("SeveralLabelsStore", store), tables)
    first = store.history()[0].measures["after"]
    state = store.state()
    labels, model = state.labels, state.model
    held_out = CorrectCounts(first["asked"], first["right"])
    has_world = "world" in model.get_params()
    share = model.share_of_known_classes(state.graph) if has_world else None
    value = CreatedStore(
        store=str(store.place),
        **store.version().fields,
        method=model.name,
        world=store.world,
        share_of_known_classes=share,
        classes=len(labels),
        labels=len(labels.owners()),
        held_out=held_out.nodes,
        accuracy=held_out.accuracy,
        **report_fields(tables.report),
    )
    world = world_line(store.place, model.name, model.world if has_world else None, share)
    created = creation_line(store.place, value.classes, value.labels, held_out)
    return value, (report_table(tables.report), created, world)


def _created_several(
    store: "SeveralLabelsStore", tables: "Tables"
) -> tuple[CreatedStore, tuple[RenderableType, ...]]:
    labels = store.state().labels
    value = CreatedStore(
        store=str(store.place),
        **store.version().fields,
        method="multi-label",
        world="open",
        share_of_known_classes=None,
        classes=len(labels),
        labels=labels.num_labels,
        held_out=0,
        accuracy=None,
        warnings=store.version(1).measures["warnings"],
        **report_fields(tables.report),
    )
    sizes = f"{counted(value.classes, 'class')}, {counted(value.labels, 'label')}"
    nodes = counted(len(labels.owners), "node")
    text = f"Created {store.place}: {sizes} of {nodes}. No label is held out."
    return value, (report_table(tables.report), line(text), *warning_lines(value.warnings))


def _built_graph(folder: Path, *arguments: object) -> "Tables":
    if any(arguments):
        raise ParameterError(
            "--graph has its nodes, edges and features: omit --nodes, --edges, --text, "
            "--features, --categories, --encoder and --key-type. --key, --source, --target, "
            "--type, --weight and --directed tell how later tables are read."
        )
    from nodegraft.tables.data_report import DataReport
    from nodegraft.tables.read import Tables
    from nodegraft.tables.storage import load_graph

    graph = load_graph(folder)
    sizes = graph.num_nodes, graph.num_edges_of_all_types, graph.num_features
    return Tables(graph, DataReport(*sizes, ()))


def _copy_example(folder: Path) -> None:
    from importlib.resources import files

    excerpt = files("nodegraft.lab.datasets") / "excerpt"
    names = (*(f"{table}.parquet" for table in TABLES), "LICENSE")
    fill_folder(folder, {name: (excerpt / name).read_bytes() for name in names})


COMMANDS = {"example": example, "init": init, "grow": grow, "sync": sync}
