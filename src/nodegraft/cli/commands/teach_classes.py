"""Commands of the panel Teach that edit whole classes, and refit."""

from typing import Annotated

import typer

from nodegraft.base.errors import ParameterError
from nodegraft.cli.errors import user_errors
from nodegraft.cli.options import (
    By,
    ClassNames,
    EditOptions,
    ForceName,
    Note,
    Override,
    Promote,
    StorePlace,
    takes_edit_options,
)


@takes_edit_options
@user_errors
def remove(place: StorePlace, names: ClassNames, *, options: EditOptions) -> None:
    """Remove classes and their labels."""
    from nodegraft.analysis.labels.changes import Change
    from nodegraft.cli.changes import edit_labels

    edit_labels(place, lambda _: Change("remove", {"names": names}), options)


@takes_edit_options
@user_errors
def rename(
    place: StorePlace,
    old: Annotated[str, typer.Argument(help="Current class name.")],
    new: Annotated[str, typer.Argument(help="New class name.")],
    force_name: ForceName = False,
    *,
    options: EditOptions,
) -> None:
    """Rename a class."""
    from nodegraft.analysis.labels.changes import Change
    from nodegraft.cli.changes import edit_labels

    change = Change("rename", {"old": old, "new": new}).with_forced_name(force_name)
    edit_labels(place, lambda _: change, options)


@takes_edit_options
@user_errors
def merge(
    place: StorePlace,
    names: ClassNames,
    into: Annotated[str, typer.Option(help="Name of the merged class.")],
    force_name: ForceName = False,
    *,
    options: EditOptions,
) -> None:
    """Merge several classes into one."""
    from nodegraft.analysis.labels.changes import Change
    from nodegraft.cli.changes import edit_labels

    change = Change("merge", {"names": names, "into": into}).with_forced_name(force_name)
    edit_labels(place, lambda _: change, options)


@takes_edit_options
@user_errors
def split(
    place: StorePlace,
    name: Annotated[str, typer.Argument(metavar="CLASS", help="Class to split.")],
    parts: Annotated[
        list[str],
        typer.Option("--into", metavar="CLASS=KEYS", help="New class and its nodes: caps=p17,p20."),
    ],
    force_name: ForceName = False,
    *,
    options: EditOptions,
) -> None:
    """Split a class into several; labels not assigned to a part are removed."""
    from nodegraft.analysis.labels.changes import Change
    from nodegraft.cli.changes import edit_labels
    from nodegraft.cli.inputs import keys_from
    from nodegraft.store.store import Store

    def change(store: Store) -> Change:
        keys_of_parts = {}
        for part in parts:
            part_name, equals, keys = part.rpartition("=")
            if not equals:
                raise ParameterError(
                    f"--into {part!r} must have the form CLASS=KEYS, as in caps=p17,p20."
                )
            keys_of_parts[part_name] = keys_from(keys, store.graph())
        return Change("split", {"name": name, "parts": keys_of_parts}).with_forced_name(force_name)

    edit_labels(place, change, options)


@user_errors
def refit(
    place: StorePlace,
    note: Note = "",
    by: By = None,
    override: Override = "",
    promote: Promote = False,
) -> None:
    """Fit the method again from scratch, on all current labels and nodes."""
    from rich.console import Console

    from nodegraft.cli.changes import show_version
    from nodegraft.cli.progress import StatusLine
    from nodegraft.store.intent import Intent
    from nodegraft.store.store import Store

    console = Console()
    status = StatusLine(console)
    with Store.open(place, listener=status) as store:
        intent = Intent(author=by, note=note, override=override, promote=promote)
        with status:
            version = store.refit(intent=intent)
        show_version(console, store, version)


COMMANDS = {"remove": remove, "rename": rename, "merge": merge, "split": split, "refit": refit}
