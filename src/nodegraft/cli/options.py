"""Arguments and options that are shared by several commands."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from nodegraft.base.errors import ParameterError

if TYPE_CHECKING:
    from nodegraft.store.intent import Intent

KEY = "key"
"""Default name of the column with node keys."""


# Options for stores and versions

StorePlace = Annotated[Path, typer.Argument(metavar="STORE", help="Folder of the store.")]
By = Annotated[
    str | None, typer.Option(help="Author of the change; by default the logged-in user.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")
]
VersionNumber = Annotated[
    int | None,
    typer.Argument(metavar="[VERSION]", help="Version number; by default the newest version."),
]
LiveVersion = Annotated[
    int | None, typer.Option(help="Version number; by default the live version.")
]
NewestVersion = Annotated[
    int | None, typer.Option(help="Version number; by default the newest version.")
]

# Options for classes and labels

ClassNames = Annotated[list[str], typer.Argument(metavar="CLASS...", help="Class names.")]
ParentName = Annotated[
    str | None,
    typer.Option(help="Parent in the class tree: a class, a group or the name of a new group."),
]
ClassTable = Annotated[
    str | None,
    typer.Option("--classes", help="Table of the class tree: columns class and parent."),
]
LabelColumn = Annotated[str, typer.Option(help="Column with the class name.")]
ForceName = Annotated[
    bool,
    typer.Option(
        "--force-name",
        help="Accept a name that differs from another class name only by case or spaces.",
    ),
]

# Tables of nodes and edges

TABLE = "a file, URL, folder or glob of .parquet, or URL#QUERY."
NodeTable = Annotated[str | None, typer.Option(help=f"Table of nodes: {TABLE}")]
NodeTables = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[TYPE=]TABLE",
        help=f"Table of nodes: {TABLE} For several node types, repeat TYPE=TABLE; the first type "
        "is classified.",
    ),
]
EdgeTables = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[TYPE=]TABLE",
        help="Table of edges, as for nodes. For several node types, repeat "
        "user:bought:product=TABLE.",
    ),
]
Repair = Annotated[
    bool, typer.Option("--repair", help="Correct or drop invalid rows instead of refusing them.")
]
TextColumns = Annotated[list[str] | None, typer.Option(help="Column of text, or a glob: 'text_*'.")]
TypeColumn = Annotated[str | None, typer.Option("--type", help="Column with the edge type.")]
TextEncoders = Annotated[
    list[str] | None,
    typer.Option(
        help="Text encoder: tfidf (default), wordllama, model2vec:NAME, "
        "sentence-transformers:NAME, fastembed:NAME or an entry point. Repeat it to join the "
        "features of several.",
    ),
]

# Options for methods, datasets and clusters

MethodName = Annotated[str, typer.Option(help="Method; list them with: nodegraft lab methods.")]
MethodSettings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Set a parameter of the method."),
]
DatasetName = Annotated[str, typer.Option(help="Dataset; list them with: nodegraft lab datasets.")]
DatasetSettings = Annotated[
    list[str] | None,
    typer.Option("--dataset-set", metavar="NAME=VALUE", help="Set an option of the dataset."),
]
DataRoot = Annotated[
    Path | None,
    typer.Option("--data", help="Folder with the data folders (or set NODEGRAFT_DATA)."),
]
Seed = Annotated[int, typer.Option(help="Random seed of the split and of the method.")]
RecordFolder = Annotated[str, typer.Argument(help="Folder or URL of run records.")]
SuiteFile = Annotated[Path, typer.Argument(help="TOML file of a suite; see experiments/.")]
RayAddress = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Run on this Ray cluster; 'local' starts one here with --workers CPUs.",
    ),
]
Workers = Annotated[int, typer.Option(min=1, help="Number of worker processes.")]


@dataclass(frozen=True)
class AuthorOptions:
    """Options for the author of a change and the reason for it."""

    note: Annotated[str, typer.Option(help="Reason for the change, stored in the history.")] = ""
    by: By = None

    @property
    def intent(self) -> "Intent":
        """Author, reason and other options as an `Intent`, which the store needs."""
        from nodegraft.store.intent import Intent

        values = {name: value for name, value in vars(self).items() if name != "dry_run"}
        return Intent(author=values.pop("by"), **values)


@dataclass(frozen=True)
class ChangeOptions(AuthorOptions):
    """Options of all commands that make a version."""

    promote: Annotated[
        bool,
        typer.Option(
            "--promote", help="Make the new version live at once, unless held-out accuracy drops."
        ),
    ] = False


@dataclass(frozen=True)
class EditOptions(ChangeOptions):
    """Options of all commands that edit classes or labels."""

    override: Annotated[
        str,
        typer.Option(metavar="REASON", help="Apply the change although held-out accuracy drops."),
    ] = ""
    dry_run: DryRun = False


@dataclass(frozen=True)
class LabelOptions:
    """Options for labels: either a class name and node keys, or a table of labels."""

    name: Annotated[str | None, typer.Option("--class", help="Class name.")] = None
    nodes: Annotated[
        str | None, typer.Option(help="Node keys, separated by commas: p17,p20,p33.")
    ] = None
    labels: Annotated[
        str | None,
        typer.Option(help="Table of node keys and class names, instead of --class and --nodes."),
    ] = None
    key: Annotated[
        str, typer.Option("--key", "--label-key", help="Column with the node key, in the table.")
    ] = "key"
    label: LabelColumn = "label"
    repair: Repair = False


@dataclass(frozen=True)
class TableOptions:
    """Options for reading tables of nodes and edges."""

    text: TextColumns = None
    features: Annotated[
        list[str] | None, typer.Option(help="Column of numbers, or a glob: 'e*'.")
    ] = None
    no_features: Annotated[
        bool, typer.Option("--no-features", help="Use no features: predict from edges alone.")
    ] = False
    categories: Annotated[
        list[str] | None, typer.Option(help="Column with few different values, or a glob.")
    ] = None
    encoder: TextEncoders = None
    min_documents: Annotated[int, typer.Option(help="Ignore words that occur in fewer texts.")] = 3
    key: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[TYPE=]COLUMN",
            help="Column with the node key; 'key' by default. Repeat TYPE=COLUMN for several "
            "types.",
        ),
    ] = None
    key_type: Annotated[
        Literal["text", "integer"] | None,
        typer.Option(
            help="Type of all node keys; by default that of the tables: keys in CSV files are "
            "integers only if all are, without leading zeros."
        ),
    ] = None
    source: Annotated[
        str, typer.Option("--source", "--source-key", help="Column with the source node's key.")
    ] = "source"
    target: Annotated[
        str, typer.Option("--target", "--target-key", help="Column with the target node's key.")
    ] = "target"
    edge_type: TypeColumn = None
    edge_weight: Annotated[
        str | None, typer.Option("--weight", help="Column with the edge weight.")
    ] = None
    directed: Annotated[
        bool,
        typer.Option("--directed/--no-directed", help="Distinguish source and target of edges."),
    ] = False
    directed_types: Annotated[
        str | None,
        typer.Option(help="Edge types that are directed, separated by commas: cites,needs."),
    ] = None
    delimiter: Annotated[
        str | None,
        typer.Option(help="Column separator of CSV files; by default detected from the header."),
    ] = None


def by_node_type(values: Sequence[str], option: str, what: str) -> Any:
    """Return the value of an option, or a dict if its values have the form TYPE=VALUE.

    >>> by_node_type(["sku"], "--key", "COLUMN")
    'sku'
    >>> by_node_type(["product=sku", "user=id"], "--key", "COLUMN")
    {'product': 'sku', 'user': 'id'}

    Args:
        values: Values of the option.
        option: Name of the option, for errors.
        what: Description of a value, for errors.
    """
    typed = dict(filter(None, map(_typed, values)))
    if not typed and len(values) == 1:
        return values[0]
    if len(typed) < len(values):
        raise ParameterError(
            f"{option} has one {what}, or TYPE={what} for each of several types; "
            f"{', '.join(map(repr, values))} was given."
        )
    return typed


def given_tables(values: list[str] | None, option: str) -> Any:
    """Return the table of an option, a dict of tables by type, or None if none was given.

    Args:
        values: Values of the option.
        option: Name of the option, for errors.
    """
    return by_node_type(values, option, "TABLE") if values else None


def files_in(tables: Any) -> list[str]:
    """Return the files of :func:`given_tables`."""
    if isinstance(tables, dict):
        return list(tables.values())
    return [tables] if tables else []


def key_option(value: str | list[str] | None) -> Any:
    """Return the key column, or a dict of key columns by node type.

    Args:
        value: Value of --key, or of `key` in a nodegraft.toml; None for the default.
    """
    values = [value] if isinstance(value, str) else value or [KEY]
    return by_node_type(values, "--key", "COLUMN")


def _typed(value: str) -> tuple[str, str] | None:
    """Split TYPE=VALUE; return None if the value has no type, or is the path of a file."""
    name, _, rest = value.partition("=")
    has_type = bool(name and rest) and not set(name) & set("/\\.?#")
    return (name, rest) if has_type and not Path(value).exists() else None


def table_arguments(values: dict[str, Any]) -> dict[str, Any]:
    """Convert command-line options to the Python arguments for reading tables."""
    arguments = {field.name: values[field.name] for field in fields(TableOptions)}
    types = arguments.pop("directed_types")
    if arguments.pop("no_features"):
        if arguments["features"]:
            raise ParameterError("Give --features or --no-features, not both.")
        arguments["features"] = None
    else:
        arguments["features"] = arguments["features"] or []
    if types is not None:
        if arguments["directed"]:
            raise ParameterError("Give --directed for all edges or --directed-types, not both.")
        arguments["directed"] = [name.strip() for name in types.split(",") if name.strip()]
    arguments["key"] = key_option(arguments["key"])
    for name in ("text", "categories", "encoder"):
        arguments[name] = arguments[name] or ()
    return arguments
