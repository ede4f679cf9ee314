"""Arguments and options that are shared by several commands."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nodegraft.base.errors import ParameterError

if TYPE_CHECKING:
    from nodegraft.store.intent import Intent

KEY = "key"
"""Default name of the column with node keys."""

INTENT_FIELDS = ("note", "override", "promote")


class KeyTypes(StrEnum):
    """Possible types of node keys."""

    TEXT = "text"
    INTEGER = "integer"


# Options for stores and versions

StorePlace = Annotated[Path, typer.Argument(metavar="STORE", help="Folder of the store.")]
By = Annotated[
    str | None, typer.Option(help="Author of the change; by default the logged-in user.")
]
Note = Annotated[str, typer.Option(help="Reason for the change, stored in the history.")]
Override = Annotated[
    str,
    typer.Option(metavar="REASON", help="Apply the change although held-out accuracy drops."),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")
]
Promote = Annotated[
    bool,
    typer.Option(
        "--promote", help="Make the new version live at once, unless held-out accuracy drops."
    ),
]
VersionNumber = Annotated[
    int | None,
    typer.Argument(metavar="[VERSION]", help="Version number; by default the newest version."),
]
LiveVersion = Annotated[
    int | None,
    typer.Option("--version", help="Version number; by default the live version."),
]
NewestVersion = Annotated[
    int | None,
    typer.Option("--version", help="Version number; by default the newest version."),
]

# Options for classes and labels

ClassName = Annotated[str | None, typer.Option("--class", help="Class name.")]
ClassNames = Annotated[list[str], typer.Argument(metavar="CLASS...", help="Class names.")]
NodeKeys = Annotated[
    str | None, typer.Option("--nodes", help="Node keys, separated by commas: p17,p20,p33.")
]
LabelTable = Annotated[
    str | None,
    typer.Option(
        "--labels", help="Table of node keys and class names, instead of --class and --nodes."
    ),
]
ParentName = Annotated[
    str | None,
    typer.Option(
        "--parent", help="Parent in the class tree: a class, a group or the name of a new group."
    ),
]
ClassTable = Annotated[
    str | None,
    typer.Option("--classes", help="Table of the class tree: columns class and parent."),
]
LabelKeyColumn = Annotated[
    str, typer.Option("--key", "--label-key", help="Column with the node key, in the table.")
]
LabelColumn = Annotated[str, typer.Option("--label", help="Column with the class name.")]
ForceName = Annotated[
    bool,
    typer.Option(
        "--force-name",
        help="Accept a name that differs from another class name only by case or spaces.",
    ),
]

# Tables of nodes and edges

NodeTable = Annotated[
    str | None,
    typer.Option(
        "--nodes", help="Table of nodes: a file, URL, folder or glob of .parquet, or URL#QUERY."
    ),
]
EdgeTable = Annotated[
    str | None,
    typer.Option(
        "--edges", help="Table of edges: a file, URL, folder or glob of .parquet, or URL#QUERY."
    ),
]
NodeTables = Annotated[
    list[str] | None,
    typer.Option(
        "--nodes",
        metavar="[TYPE=]TABLE",
        help="Table of nodes: a file, URL, folder or glob of .parquet, or URL#QUERY. For several "
        "node types, repeat TYPE=TABLE; the first type is classified.",
    ),
]
EdgeTables = Annotated[
    list[str] | None,
    typer.Option(
        "--edges",
        metavar="[TYPE=]TABLE",
        help="Table of edges, as for nodes. For several node types, repeat "
        "user:bought:product=TABLE.",
    ),
]
Repair = Annotated[
    bool, typer.Option("--repair", help="Correct or drop invalid rows instead of refusing them.")
]
KeyColumn = Annotated[
    list[str] | None,
    typer.Option(
        "--key",
        metavar="[TYPE=]COLUMN",
        help="Column with the node key; 'key' by default. Repeat TYPE=COLUMN for several types.",
    ),
]
KeyType = Annotated[
    KeyTypes | None,
    typer.Option(
        "--key-type",
        help="Type of all node keys; by default that of the tables: keys in CSV files are integers "
        "only if all are, without leading zeros.",
    ),
]
TextColumns = Annotated[
    list[str] | None, typer.Option("--text", help="Column of text, or a glob: 'text_*'.")
]
NumberColumns = Annotated[
    list[str] | None, typer.Option("--features", help="Column of numbers, or a glob: 'e*'.")
]
NoFeatures = Annotated[
    bool, typer.Option("--no-features", help="Use no features: predict from edges alone.")
]
CategoryColumns = Annotated[
    list[str] | None,
    typer.Option("--categories", help="Column with few different values, or a glob."),
]
MinDocuments = Annotated[
    int, typer.Option("--min-documents", help="Ignore words that occur in fewer texts.")
]
TextEncoders = Annotated[
    list[str] | None,
    typer.Option(
        "--encoder",
        help="Text encoder: tfidf (default), wordllama, model2vec:NAME, "
        "sentence-transformers:NAME, fastembed:NAME or an entry point. Repeat it to join the "
        "features of several.",
    ),
]
SourceColumn = Annotated[
    str, typer.Option("--source", "--source-key", help="Column with the source node's key.")
]
TargetColumn = Annotated[
    str, typer.Option("--target", "--target-key", help="Column with the target node's key.")
]
TypeColumn = Annotated[str | None, typer.Option("--type", help="Column with the edge type.")]
WeightColumn = Annotated[str | None, typer.Option("--weight", help="Column with the edge weight.")]
Directed = Annotated[
    bool, typer.Option("--directed/--no-directed", help="Distinguish source and target of edges.")
]
DirectedTypes = Annotated[
    str | None,
    typer.Option(
        "--directed-types", help="Edge types that are directed, separated by commas: cites,needs."
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter", help="Column separator of CSV files; by default detected from the header."
    ),
]

# Options for methods, datasets and clusters

MethodName = Annotated[
    str, typer.Option("--method", help="Method; list them with: nodegraft lab methods.")
]
MethodSettings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Set a parameter of the method."),
]
DatasetName = Annotated[
    str, typer.Option("--dataset", help="Dataset; list them with: nodegraft lab datasets.")
]
DatasetSettings = Annotated[
    list[str] | None,
    typer.Option("--dataset-set", metavar="NAME=VALUE", help="Set an option of the dataset."),
]
DataRoot = Annotated[
    Path | None,
    typer.Option("--data", help="Folder with the data folders (or set NODEGRAFT_DATA)."),
]
Seed = Annotated[int, typer.Option("--seed", help="Random seed of the split and of the method.")]
RecordFolder = Annotated[str, typer.Argument(help="Folder or URL of run records.")]
SuiteFile = Annotated[Path, typer.Argument(help="TOML file of a suite; see experiments/.")]
RayAddress = Annotated[
    str | None,
    typer.Option(
        "--ray",
        metavar="ADDRESS",
        help="Run on this Ray cluster; 'local' starts one here with --workers CPUs.",
    ),
]
Workers = Annotated[int, typer.Option("--workers", min=1, help="Number of worker processes.")]


@dataclass(frozen=True)
class AuthorOptions:
    """Options for the author of a change and the reason for it."""

    note: Note = ""
    """Reason for the change."""

    by: By = None
    """Author of the change; None for the logged-in user."""

    @property
    def intent(self) -> "Intent":
        """Author, reason and other options as an `Intent`, which the store needs."""
        from nodegraft.store.intent import Intent

        values = {name: value for name, value in vars(self).items() if name in INTENT_FIELDS}
        return Intent(author=self.by, **values)


@dataclass(frozen=True)
class ChangeOptions(AuthorOptions):
    """Options of all commands that make a version."""

    promote: Promote = False
    """Whether to make the new version live immediately."""


@dataclass(frozen=True)
class GatedOptions(ChangeOptions):
    """Options of all commands whose change the quality gate can refuse."""

    override: Override = ""
    """Reason to apply the change although held-out accuracy drops."""


@dataclass(frozen=True)
class EditOptions(GatedOptions):
    """Options of all commands that edit classes or labels."""

    dry_run: DryRun = False
    """Whether to show the effect of the change without making it."""


@dataclass(frozen=True)
class LabelOptions:
    """Options for labels: either a class name and node keys, or a table of labels."""

    name: ClassName = None
    """Class name."""

    nodes: NodeKeys = None
    """Node keys of the class, separated by commas."""

    labels: LabelTable = None
    """Table with node keys and class names."""

    key: LabelKeyColumn = "key"
    """Column with the node key."""

    label: LabelColumn = "label"
    """Column with the class name."""

    repair: Repair = False
    """Whether to correct or drop invalid rows of the table."""


@dataclass(frozen=True)
class TableOptions:
    """Options for reading tables of nodes and edges."""

    text: TextColumns = None
    """Columns with text."""

    features: NumberColumns = None
    """Columns with numbers."""

    no_features: NoFeatures = False
    """Whether to ignore all feature columns."""

    categories: CategoryColumns = None
    """Columns with categories, which have few different values."""

    encoder: TextEncoders = None
    """Names of text encoders; None for TF-IDF."""

    min_documents: MinDocuments = 3
    """A word is ignored if fewer texts than this number contain it."""

    key: KeyColumn = None
    """Column with the node key, or TYPE=COLUMN for several node types; None for `key`."""

    key_type: KeyType = None
    """Type of node keys; None for the type in the tables."""

    source: SourceColumn = "source"
    """Column with the source node's key."""

    target: TargetColumn = "target"
    """Column with the target node's key."""

    edge_type: TypeColumn = None
    """Column with the edge type."""

    edge_weight: WeightColumn = None
    """Column with the edge weight."""

    directed: Directed = False
    """Whether all edges are directed."""

    directed_types: DirectedTypes = None
    """Edge types that are directed, separated by commas."""

    delimiter: Delimiter = None
    """Column separator of CSV files; None to detect it."""


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
    arguments = {name: values[name] for name in (field.name for field in fields(TableOptions))}
    key_type, types = arguments["key_type"], arguments.pop("directed_types")
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
    arguments["key_type"] = None if key_type is None else str(key_type)
    arguments["key"] = key_option(arguments["key"])
    for name in ("text", "categories", "encoder"):
        arguments[name] = arguments[name] or ()
    return arguments
