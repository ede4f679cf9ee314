"""Commands of the panel Teach: edit classes and labels, and refit."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nodegraft.base.errors import ParameterError
from nodegraft.cli.changes import edit_labels, make_version
from nodegraft.cli.inputs import keys_from, labels_from
from nodegraft.cli.options import (
    ClassNames,
    EditOptions,
    ForceName,
    GatedOptions,
    LabelOptions,
    StorePlace,
)
from nodegraft.cli.output import command

if TYPE_CHECKING:
    from nodegraft.store.store import Store


@command
def add(
    place: StorePlace, given: LabelOptions, options: EditOptions, force_name: ForceName = False
) -> None:
    """Add new classes from a few labelled nodes each; preview with --dry-run."""
    edit_labels(
        place, "add", lambda store: {"classes": labels_from(store, given)}, options, force_name
    )


def _for_known_classes(action: str, argument: str, summary: str) -> Callable[..., None]:
    """Return a command that takes known classes and their nodes."""

    def function(place: StorePlace, given: LabelOptions, options: EditOptions) -> None:
        edit_labels(place, action, lambda store: {argument: labels_from(store, given)}, options)

    function.__doc__ = summary
    return command(function)


@command
def unlabel(
    place: StorePlace,
    nodes: Annotated[str, typer.Option(help="Keys of labelled nodes, separated by commas.")],
    options: EditOptions,
) -> None:
    """Remove labels of nodes."""
    edit_labels(place, "unlabel", lambda store: {"keys": keys_from(nodes, store.graph())}, options)


@command
def remove(place: StorePlace, names: ClassNames, options: EditOptions) -> None:
    """Remove classes and their labels."""
    edit_labels(place, "remove", {"names": names}, options)


@command
def rename(
    place: StorePlace,
    old: Annotated[str, typer.Argument(help="Current class name.")],
    new: Annotated[str, typer.Argument(help="New class name.")],
    options: EditOptions,
    force_name: ForceName = False,
) -> None:
    """Rename a class."""
    edit_labels(place, "rename", {"old": old, "new": new}, options, force_name)


@command
def merge(
    place: StorePlace,
    names: ClassNames,
    into: Annotated[str, typer.Option(help="Name of the merged class.")],
    options: EditOptions,
    force_name: ForceName = False,
) -> None:
    """Merge several classes into one."""
    edit_labels(place, "merge", {"names": names, "into": into}, options, force_name)


@command
def split(
    place: StorePlace,
    name: Annotated[str, typer.Argument(metavar="CLASS", help="Class to split.")],
    parts: Annotated[
        list[str],
        typer.Option("--into", metavar="CLASS=KEYS", help="New class and its nodes: caps=p17,p20."),
    ],
    options: EditOptions,
    force_name: ForceName = False,
) -> None:
    """Split a class into several; labels not assigned to a part are removed."""

    def arguments(store: "Store") -> dict[str, Any]:
        keys_of_parts = {}
        for part in parts:
            part_name, equals, keys = part.rpartition("=")
            if not equals:
                raise ParameterError(
                    f"--into {part!r} must have the form CLASS=KEYS, as in caps=p17,p20."
                )
            keys_of_parts[part_name] = keys_from(keys, store.graph())
        return {"name": name, "parts": keys_of_parts}

    edit_labels(place, "split", arguments, options, force_name)


@command
def refit(place: StorePlace, options: GatedOptions) -> None:
    """Fit the method again from scratch, on all current labels and nodes."""
    make_version(place, lambda store: store.refit(intent=options.intent))


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
    "refit": refit,
}
