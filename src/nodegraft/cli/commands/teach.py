"""Commands of the panel Teach that add, change and remove labels."""

from collections.abc import Callable
from typing import Annotated

import typer

from nodegraft.cli.errors import user_errors
from nodegraft.cli.inputs import keys_from, labels_from
from nodegraft.cli.options import (
    ClassName,
    EditOptions,
    ForceName,
    LabelColumn,
    LabelKeyColumn,
    LabelTable,
    NodeKeys,
    Repair,
    StorePlace,
    takes_edit_options,
)


@takes_edit_options
@user_errors
def add(
    place: StorePlace,
    name: ClassName = None,
    nodes: NodeKeys = None,
    labels: LabelTable = None,
    key: LabelKeyColumn = "key",
    label: LabelColumn = "label",
    repair: Repair = False,
    force_name: ForceName = False,
    *,
    options: EditOptions,
) -> None:
    """Add new classes from a few labelled nodes each; preview with --dry-run."""
    from nodegraft.analysis.labels.changes import Change
    from nodegraft.cli.changes import edit_labels
    from nodegraft.store.store import Store

    def change(store: Store) -> Change:
        classes = labels_from(store, name, nodes, labels, key, label, repair)
        return Change("add", {"classes": classes}).with_forced_name(force_name)

    edit_labels(place, change, options)


def _for_known_classes(action: str, argument: str, summary: str) -> Callable[..., None]:
    """Return a command that takes known classes and their nodes."""

    @takes_edit_options
    @user_errors
    def command(
        place: StorePlace,
        name: ClassName = None,
        nodes: NodeKeys = None,
        labels: LabelTable = None,
        key: LabelKeyColumn = "key",
        label: LabelColumn = "label",
        repair: Repair = False,
        *,
        options: EditOptions,
    ) -> None:
        from nodegraft.analysis.labels.changes import Change
        from nodegraft.cli.changes import edit_labels
        from nodegraft.store.store import Store

        def change(store: Store) -> Change:
            return Change(
                action, {argument: labels_from(store, name, nodes, labels, key, label, repair)}
            )

        edit_labels(place, change, options)

    command.__doc__ = summary
    return command


@takes_edit_options
@user_errors
def unlabel(
    place: StorePlace,
    nodes: Annotated[str, typer.Option(help="Keys of labelled nodes, separated by commas.")],
    *,
    options: EditOptions,
) -> None:
    """Remove labels of nodes."""
    from nodegraft.analysis.labels.changes import Change
    from nodegraft.cli.changes import edit_labels
    from nodegraft.store.store import Store

    def change(store: Store) -> Change:
        return Change("unlabel", {"keys": keys_from(nodes, store.graph())})

    edit_labels(place, change, options)


COMMANDS = {
    "add": add,
    "label": _for_known_classes("label", "more", "Add labels of known classes."),
    "relabel": _for_known_classes(
        "relabel", "classes", "Change the labels of nodes to other known classes."
    ),
    "unlabel": unlabel,
}
