"""Commands of the panel Data that create a store: example tables and init."""

import shlex
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from nodegraft.base.errors import ParameterError
from nodegraft.cli.errors import user_errors
from nodegraft.cli.inputs import (
    directed_edges,
    labels_in_table,
    listed_labels,
    name_value_pairs,
    number_columns,
)
from nodegraft.cli.options import (
    By,
    CategoryColumns,
    Delimiter,
    Directed,
    DirectedTypes,
    EdgeTable,
    KeyType,
    LabelColumn,
    MethodName,
    MethodSettings,
    MinDocuments,
    NodeTable,
    NoFeatures,
    Note,
    NumberColumns,
    Repair,
    SourceColumn,
    StorePlace,
    TargetColumn,
    TextColumns,
    TypeColumn,
    WeightColumn,
)

if TYPE_CHECKING:
    from rich.console import Console

    from nodegraft.graph.keyed_labels import KeyedLabels
    from nodegraft.store.store import Store
    from nodegraft.tables.read import Tables

TABLES = ("nodes", "edges", "labels")
STORE = "my-store"
"""Name of the store in the command that `example` prints."""


class World(StrEnum):
    """Values of --world."""

    OPEN = "open"
    CLOSED = "closed"


@user_errors
def example(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="New folder for the tables.")],
) -> None:
    """Write example tables: English nouns and their relations (WordNet 3.0)."""
    from rich.console import Console

    _copy_example(folder)
    places = {name: folder / f"{name}.parquet" for name in TABLES}
    tables = " ".join(f"--{name} {shlex.quote(str(place))}" for name, place in places.items())
    # Not wrapped, so that the last line can be copied.
    Console().print(
        f"{folder}: nodes.parquet, edges.parquet, labels.parquet (from WordNet 3.0: LICENSE).\n"
        "Next, create a store from them:\n"
        f"nodegraft init {STORE} {tables} --text description --type kind --directed",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )


@user_errors
def init(
    place: StorePlace,
    _context: typer.Context,
    labels: Annotated[str, typer.Option(help="Table of node keys and class names.")],
    nodes: NodeTable = None,
    edges: EdgeTable = None,
    graph: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Graph folder of `nodegraft build`, not tables."),
    ] = None,
    text: TextColumns = None,
    features: NumberColumns = None,
    no_features: NoFeatures = False,
    categories: CategoryColumns = None,
    min_documents: MinDocuments = 3,
    key: Annotated[
        str, typer.Option(help="Column with the node key, in nodes and labels.")
    ] = "key",
    key_type: KeyType = None,
    label_key: Annotated[
        str | None,
        typer.Option(help="Column with the node key in labels, if it differs from --key."),
    ] = None,
    label: LabelColumn = "label",
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
        World | None,
        typer.Option(
            help="open: nodes may belong to unknown classes; closed: every node belongs to a "
            "known class, and confidence is the probability. open by default."
        ),
    ] = None,
    note: Note = "",
    by: By = None,
) -> None:
    """Create a store from tables of nodes, edges and labels, and fit its first version."""
    from rich.console import Console

    from nodegraft.base.parameters.build import parse
    from nodegraft.cli.progress import StatusLine
    from nodegraft.cli.render.store import report_table
    from nodegraft.cli.table_config import TableConfig
    from nodegraft.model.registry import REGISTRY
    from nodegraft.store.growth import GROWING
    from nodegraft.store.intent import Intent
    from nodegraft.store.store import Store
    from nodegraft.tables.read import read_tables

    console = Console()
    new_config = TableConfig.place_beside(nodes) if write_config else None
    config = TableConfig.beside(nodes)
    named = config.completed(
        _context,
        key=key,
        key_type=None if key_type is None else key_type.value,
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
    label, key_column = named["label"], named["label_key"] or named["key"]
    parameters = parse(REGISTRY.get(method), name_value_pairs(settings)).get_params()
    with StatusLine(console, "reading tables") as status:
        chosen: dict[str, Any] = {
            "text": named["text"] or (),
            "features": number_columns(named["features"], named["no_features"]),
            "categories": named["categories"] or (),
        }
        if graph is not None:
            tables = _built_graph(graph, nodes, edges, named["key_type"], *chosen.values())
            known = labels_in_table(
                labels, tables.graph, key_column, label, repair, named["delimiter"]
            )
        elif nodes is None:
            raise ParameterError(
                "Give a table of nodes (--nodes nodes.parquet), or a graph folder written by "
                "`nodegraft build` (--graph FOLDER)."
            )
        else:
            chosen |= {"min_documents": named["min_documents"], "repair": repair}
            chosen |= {"label": label, "label_key": key_column, "key_type": named["key_type"]}
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
            intent=Intent(author=by, note=note),
            listener=status,
        )
    if config.found:
        console.print(config.line(), highlight=False, soft_wrap=True, markup=False)
    console.print(report_table(tables.report))
    _print_store(console, store)
    if new_config:
        TableConfig.write(new_config, named | {"key_type": columns["key_type"]})
        console.print(f"Wrote {new_config}.", highlight=False, soft_wrap=True, markup=False)
    console.print(
        "Add a class: "
        f"nodegraft add {shlex.quote(str(place))} --class NAME --nodes KEY,KEY,KEY --dry-run",
        highlight=False,
        markup=False,
        soft_wrap=True,
        style="dim",
    )
    store.close()


def _print_store(console: "Console", store: "Store") -> None:
    from nodegraft.analysis.measures import RightAnswers
    from nodegraft.cli.render.store import creation_line, world_line

    first = store.history()[0].measures["after"]
    state = store.state()
    labels, model = state.labels, state.model
    held_out = RightAnswers(first["asked"], first["right"])
    console.print(
        creation_line(store.place, len(labels), len(labels.owners()), held_out), highlight=False
    )
    has_world = "world" in model.get_params()
    console.print(
        world_line(
            store.place,
            model.name,
            model.world if has_world else None,
            model.share_of_known_classes(state.graph) if has_world else None,
        ),
        soft_wrap=True,
    )


def _built_graph(folder: Path, *given: object) -> "Tables":
    if any(given):
        raise ParameterError(
            "--graph has its nodes, edges and features: omit --nodes, --edges, --text, "
            "--features, --categories and --key-type. --key, --source, --target, --type, "
            "--weight and --directed tell how later tables are read."
        )
    from nodegraft.tables.data_report import DataReport
    from nodegraft.tables.read import Tables
    from nodegraft.tables.storage import load_graph

    graph = load_graph(folder)
    sizes = graph.num_nodes, graph.num_edges, graph.num_features
    return Tables(graph, DataReport(*sizes, ()))


def _copy_example(folder: Path) -> None:
    from importlib.resources import files

    excerpt = files("nodegraft") / "lab" / "datasets" / "excerpt"
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise ParameterError(f"{folder} is not empty: choose a new or an empty folder.")
        folder.mkdir(parents=True, exist_ok=True)
        for name in (*(f"{table}.parquet" for table in TABLES), "LICENSE"):
            (folder / name).write_bytes((excerpt / name).read_bytes())
    except OSError as error:
        raise ParameterError(f"{folder} cannot be written: {error}.") from error


COMMANDS = {"example": example, "init": init}
