"""What commands about a store share: their options, and how keys and tables are read from them."""

import csv
import io
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nodegraft.base.errors import DataError, ParameterError

if TYPE_CHECKING:
    from nodegraft.graph.graph import Graph
    from nodegraft.graph.keyed_labels import KeyedLabels
    from nodegraft.graph.keys import Key
    from nodegraft.store.store import Store

StorePlace = Annotated[Path, typer.Argument(metavar="STORE", help="The folder of the store.")]
By = Annotated[str | None, typer.Option(help="Who does it; the user logged in by default.")]
Note = Annotated[str, typer.Option(help="Why: it is written down with the version.")]
Override = Annotated[
    str, typer.Option(metavar="REASON", help="Do it although held-out nodes speak against it.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would change, and stop.")]
Promote = Annotated[
    bool, typer.Option("--promote", help="Let it answer at once, unless held-out nodes object.")
]
Class = Annotated[str | None, typer.Option("--class", help="The class.")]
Nodes = Annotated[
    str | None, typer.Option(help="Keys of its nodes, with commas between: p17,p20,p33.")
]
LabelTable = Annotated[
    str | None, typer.Option("--labels", help="A table of node keys and class names instead.")
]
KeyColumn = Annotated[
    str, typer.Option("--key", "--label-key", help="The column of node keys in the table.")
]
LabelColumn = Annotated[str, typer.Option(help="The column of class names in the table.")]
ForceName = Annotated[
    bool,
    typer.Option(
        "--force-name",
        help="Accept a name that differs only by case or blanks from that of another class.",
    ),
]
Repair = Annotated[bool, typer.Option(help="Leave out what does not fit instead of refusing it.")]
VersionNumber = Annotated[
    int | None, typer.Argument(metavar="[VERSION]", help="Which one; the newest by default.")
]
WhichVersion = Annotated[
    int | None, typer.Option("--version", help="Which version; by default the one that answers.")
]


SEARCHED = 100_000
"""Among so many keys at most one is looked for that is spelt alike: it takes its time."""


def keys_from(text: str, graph: "Graph", must_exist: bool = True) -> "list[Key]":
    """Node keys with commas between them, in the type of the graph's.

    Args:
        text: What was given; a key that has a comma is written in quotes, as in a CSV file.
        graph: The graph that they name nodes of.
        must_exist: Whether keys that the graph does not have are an error, which names them all.
    """
    from nodegraft.graph.keys import integer_key, integer_key_or_text

    rows = csv.reader(text.splitlines(), skipinitialspace=True)
    parts = [part.strip() for row in rows for part in row if part.strip()]
    if not parts:
        raise ParameterError("No node was named: give keys with commas between, as p17,p20.")
    parse = integer_key if must_exist else integer_key_or_text
    keys: list[Key] = list(parts) if graph.has_text_keys else [parse(part) for part in parts]
    if must_exist:
        missing = [
            key for key, row in zip(keys, graph.node_keys.find(keys), strict=True) if row < 0
        ]
        if len(missing) == 1 and graph.has_text_keys:
            # A single one may be misspelt: this error has a hint.
            key_from(str(missing[0]), graph)
        graph.rows_of(keys)
    return keys


def written_keys(keys: "Iterable[Key]") -> str:
    """Keys as :func:`keys_from` reads them.

    >>> written_keys(["p17", "odd, one"])
    'p17,"odd, one"'

    Args:
        keys: Of nodes.
    """
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(keys)
    return line.getvalue()


def key_from(text: str, graph: "Graph") -> "Key":
    """One node key, in the type of the graph's; one that the graph does not have is refused.

    Args:
        text: What was given.
        graph: The graph that it names a node of.
    """
    from nodegraft.base.errors import UnknownNodeError
    from nodegraft.graph.keys import integer_key

    if not graph.has_text_keys:
        return integer_key(text)
    try:
        graph.rows_of([text])
    except UnknownNodeError as error:
        close = []
        if graph.num_nodes <= SEARCHED:
            close = get_close_matches(text, map(str, graph.keys_of(graph.rows)), n=3)
        hint = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
        raise DataError(f"There is no node {text!r} in this graph.{hint}") from error
    return text


def labels_from(
    store: "Store",
    name: str | None,
    nodes: str | None,
    table: str | None,
    key: str = "key",
    label: str = "label",
    repair: bool = False,
) -> "dict[str, list[Key]]":
    """Class name -> keys, from ``--class`` and ``--nodes`` or from a table.

    Args:
        store: Whose nodes they are.
        name: The class, if one is given.
        nodes: Its keys, with commas between.
        table: Or a table of them.
        key: The column of node keys in it.
        label: The column of class names in it.
        repair: Whether to leave out what does not fit in the table.
    """
    graph = store.graph()
    if table is not None:
        if name or nodes:
            raise ParameterError("Give a class with --class and --nodes, or a table, not both.")
        return labels_in(table, graph, key, label, repair, store.table_options.get("delimiter"))
    if not (name and nodes):
        raise ParameterError(
            "Name a class and its nodes (--class e-bikes --nodes p17,p20), or give a table of "
            "node keys and class names (--labels new.parquet)."
        )
    return {name: keys_from(nodes, graph)}


def labels_in(
    table: str, graph: "Graph", key: str, label: str, repair: bool, delimiter: str | None
) -> "dict[str, list[Key]]":
    """Class name -> keys, from a table that has one label at least.

    Args:
        table: A file.
        graph: The graph that it names nodes of.
        key: The column of node keys in it.
        label: The column of class names in it.
        repair: Whether to leave out what does not fit.
        delimiter: What separates the columns of a CSV file; None to look at its header.
    """
    from nodegraft.tables.labels import read_labels

    found = read_labels(
        table,
        graph,
        key=key,
        label=label,
        convert_keys=True,
        repair=repair,
        delimiter=delimiter,
    )
    return listed_labels(found, table, label)


def listed_labels(found: "KeyedLabels", table: str, label: str) -> "dict[str, list[Key]]":
    """Return class name -> keys, or refuse a table without any label.

    Args:
        found: The labels of a table.
        table: Its file.
        label: The column of class names in it.
    """
    if not found:
        raise DataError(f"{table} has no label: its column {label!r} is empty.")
    return {name: keys.tolist() for name, keys in found.items()}
