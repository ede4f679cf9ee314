"""Commands that teach a store: new classes, more labels, other labels."""

from collections.abc import Callable
from typing import Annotated

import typer

from nodegraft.cli.errors import user_errors
from nodegraft.cli.store_options import (
    By,
    Class,
    DryRun,
    ForceName,
    KeyColumn,
    LabelColumn,
    LabelTable,
    Nodes,
    Note,
    Override,
    Promote,
    Repair,
    StorePlace,
    keys_from,
    labels_from,
)


@user_errors
def add(
    place: StorePlace,
    name: Class = None,
    nodes: Nodes = None,
    labels: LabelTable = None,
    key: KeyColumn = "key",
    label: LabelColumn = "label",
    dry_run: DryRun = False,
    note: Note = "",
    by: By = None,
    override: Override = "",
    promote: Promote = False,
    force_name: ForceName = False,
    repair: Repair = False,
) -> None:
    """Teach new classes from a few nodes each; --dry-run shows what it changes."""
    from nodegraft.cli.display.store import carry_out
    from nodegraft.store.changes import Change
    from nodegraft.store.store import Store

    def change(store: Store) -> Change:
        found = labels_from(store, name, nodes, labels, key, label, repair)
        return Change("add", {"classes": found}).with_forced_name(force_name)

    carry_out(place, change, dry_run=dry_run, by=by, note=note, override=override, promote=promote)


def _for_known_classes(action: str, argument: str, summary: str) -> Callable[..., None]:
    """Return a command that takes known classes and their nodes."""

    @user_errors
    def command(
        place: StorePlace,
        name: Class = None,
        nodes: Nodes = None,
        labels: LabelTable = None,
        key: KeyColumn = "key",
        label: LabelColumn = "label",
        dry_run: DryRun = False,
        note: Note = "",
        by: By = None,
        override: Override = "",
        promote: Promote = False,
        repair: Repair = False,
    ) -> None:
        from nodegraft.cli.display.store import carry_out
        from nodegraft.store.changes import Change
        from nodegraft.store.store import Store

        def change(store: Store) -> Change:
            found = labels_from(store, name, nodes, labels, key, label, repair)
            return Change(action, {argument: found})

        carry_out(
            place,
            change,
            dry_run=dry_run,
            by=by,
            note=note,
            override=override,
            promote=promote,
        )

    command.__doc__ = summary
    return command


label = _for_known_classes("label", "more", "Teach more labels of classes that are known.")
relabel = _for_known_classes(
    "relabel", "classes", "Give labelled nodes another class that is known."
)


@user_errors
def unlabel(
    place: StorePlace,
    nodes: Annotated[str, typer.Option(help="Keys of labelled nodes, with commas between.")],
    dry_run: DryRun = False,
    note: Note = "",
    by: By = None,
    override: Override = "",
    promote: Promote = False,
) -> None:
    """Take labels back."""
    from nodegraft.cli.display.store import carry_out
    from nodegraft.store.changes import Change
    from nodegraft.store.store import Store

    def change(store: Store) -> Change:
        return Change("unlabel", {"keys": keys_from(nodes, store.graph())})

    carry_out(
        place,
        change,
        dry_run=dry_run,
        by=by,
        note=note,
        override=override,
        promote=promote,
    )
