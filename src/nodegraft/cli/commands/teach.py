"""Commands of the help panel Teach: edit classes and labels, and refit."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nodegraft.base.errors import ParameterError
from nodegraft.base.problems import Problems
from nodegraft.cli.changes import EditOutput, comparison, edit_labels, make_version, open_store
from nodegraft.cli.inputs import keys_from, labels_from
from nodegraft.cli.options import (
    ClassNames,
    ClassTable,
    EditOptions,
    ForceName,
    LabelOptions,
    NodeTable,
    ParentName,
    StorePlace,
    TextEncoders,
)
from nodegraft.cli.output import command
from nodegraft.cli.terminal import Terminal

if TYPE_CHECKING:
    from nodegraft.store.store import Store


@command
def add(
    place: StorePlace,
    labels: LabelOptions,
    options: EditOptions,
    terminal: Terminal,
    parent: ParentName = None,
    force_name: ForceName = False,
) -> EditOutput:
    """Add new classes from a few labelled nodes each; preview with --dry-run."""
    below = {} if parent is None else {"parent": parent}
    return edit_labels(
        place,
        "add",
        lambda store, problems: {"classes": labels_from(store, labels, problems)} | below,
        options,
        terminal,
        force_name,
    )


def _for_known_classes(action: str, argument: str, summary: str) -> Callable[..., None]:
    """Return a command that adds or changes labels of known classes."""

    def function(
        place: StorePlace, labels: LabelOptions, options: EditOptions, terminal: Terminal
    ) -> EditOutput:
        return edit_labels(
            place,
            action,
            lambda store, problems: {argument: labels_from(store, labels, problems)},
            options,
            terminal,
        )

    function.__doc__ = summary
    return command(function)


@command
def unlabel(
    place: StorePlace,
    labels: LabelOptions,
    options: EditOptions,
    terminal: Terminal,
) -> EditOutput:
    """Remove labels; --class and --labels are for stores with several labels per node only."""

    def arguments(store: "Store", problems: Problems) -> dict[str, Any]:
        if store.has_several_labels:
            if labels.name is None and labels.labels is None:
                raise ParameterError(
                    "Nodes of this store may have several labels: give --class NAME, or --labels."
                )
            return {"labels": labels_from(store, labels, problems)}
        if labels.name is not None or labels.labels is not None:
            raise ParameterError("Nodes of this store have one label: omit --class and --labels.")
        if labels.nodes is None:
            raise ParameterError("Give the keys of labelled nodes: --nodes p17,p20.")
        return {"keys": keys_from(labels.nodes, store.graph(), must_exist=False)}

    return edit_labels(place, "unlabel", arguments, options, terminal)


@command
def remove(
    place: StorePlace, names: ClassNames, options: EditOptions, terminal: Terminal
) -> EditOutput:
    """Remove classes and their labels; classes below them move up."""
    return edit_labels(place, "remove", {"names": names}, options, terminal)


@command
def rename(
    place: StorePlace,
    old: Annotated[str, typer.Argument(help="Current class name.")],
    new: Annotated[str, typer.Argument(help="New class name.")],
    options: EditOptions,
    terminal: Terminal,
    force_name: ForceName = False,
) -> EditOutput:
    """Rename a class."""
    return edit_labels(place, "rename", {"old": old, "new": new}, options, terminal, force_name)


@command
def merge(
    place: StorePlace,
    names: ClassNames,
    into: Annotated[str, typer.Option(help="Name of the merged class.")],
    options: EditOptions,
    terminal: Terminal,
    force_name: ForceName = False,
) -> EditOutput:
    """Merge several classes into one."""
    detail = {"names": names, "into": into}
    return edit_labels(place, "merge", detail, options, terminal, force_name)


@command
def split(
    place: StorePlace,
    name: Annotated[str, typer.Argument(metavar="CLASS", help="Class to split.")],
    parts: Annotated[
        list[str],
        typer.Option("--into", metavar="CLASS=KEYS", help="New class and its nodes: caps=p17,p20."),
    ],
    options: EditOptions,
    terminal: Terminal,
    force_name: ForceName = False,
) -> EditOutput:
    """Split a class into several; labels not assigned to a part are removed."""

    def arguments(store: "Store", _: Problems) -> dict[str, Any]:
        keys_of_parts = {}
        for part in parts:
            part_name, equals, keys = part.rpartition("=")
            if not equals:
                raise ParameterError(
                    f"--into {part!r} must have the form CLASS=KEYS, as in caps=p17,p20."
                )
            keys_of_parts[part_name] = keys_from(keys, store.graph(), must_exist=False)
        return {"name": name, "parts": keys_of_parts}

    return edit_labels(place, "split", arguments, options, terminal, force_name)


@command
def move(
    place: StorePlace,
    options: EditOptions,
    terminal: Terminal,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[CLASS]...", help="Classes or groups to move.")
    ] = None,
    parent: ParentName = None,
    no_parent: Annotated[
        bool, typer.Option("--no-parent", help="Take the classes out of the class tree.")
    ] = False,
    table: ClassTable = None,
    force_name: ForceName = False,
) -> EditOutput:
    """Change the parent of classes in the class tree; labels stay the same."""
    from nodegraft.tables.class_parents import parents_by_class

    ways = (parent is not None, no_parent, table is not None)
    if sum(ways) != 1 or bool(names) == (table is not None):
        raise ParameterError(
            "Give class names with --parent NAME or --no-parent, or a table of all parents with "
            "--classes classes.csv."
        )
    parents = parents_by_class(table or dict.fromkeys(names or (), parent))
    return edit_labels(place, "move", {"parents": parents}, options, terminal, force_name)


@command
def refit(
    place: StorePlace,
    options: EditOptions,
    terminal: Terminal,
    encoder: TextEncoders = None,
    nodes: NodeTable = None,
) -> EditOutput:
    """Fit the method from scratch; --encoder and --nodes encode the texts again."""
    inputs = {"encoder": encoder or None, "nodes": nodes}
    if options.dry_run:
        with open_store(place, terminal) as store:
            terminal.stage("fitting the method to compare")
            return comparison(store, store.preview_refit(**inputs))
    return make_version(place, lambda store: store.refit(**inputs, intent=options.intent), terminal)


COMMANDS = {
    "add": add,
    "label": _for_known_classes("label", "more", "Add labels of known classes."),
    "relabel": _for_known_classes(
        "relabel", "classes", "Change the labels of nodes to other known classes."
    ),
    "unlabel": unlabel,
    "remove": remove,
    "rename": rename,
    "merge": merge,
    "split": split,
    "move": move,
    "refit": refit,
}
