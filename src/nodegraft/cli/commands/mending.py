"""Commands that mend a store: back, away, other names, and which version answers."""

from typing import Annotated

import typer

from nodegraft.base.errors import ParameterError
from nodegraft.cli.errors import user_errors
from nodegraft.cli.store_options import (
    By,
    DryRun,
    ForceName,
    Note,
    Override,
    Promote,
    StorePlace,
    VersionNumber,
)

Names = Annotated[list[str], typer.Argument(help="Names of classes.")]


@user_errors
def undo(
    place: StorePlace,
    number: VersionNumber = None,
    note: Note = "",
    by: By = None,
) -> None:
    """Take back what a version did: the newest, or an older one by its number."""
    from nodegraft.cli.display.versions import show_version

    show_version(place, lambda store: store.undo(number, by=by, note=note))


@user_errors
def remove(
    place: StorePlace,
    names: Names,
    dry_run: DryRun = False,
    note: Note = "",
    by: By = None,
    override: Override = "",
    promote: Promote = False,
) -> None:
    """Forget classes."""
    from nodegraft.cli.display.store import carry_out
    from nodegraft.store.changes import Change

    change = Change("remove", {"names": names})
    carry_out(
        place,
        lambda _: change,
        dry_run=dry_run,
        by=by,
        note=note,
        override=override,
        promote=promote,
    )


@user_errors
def rename(
    place: StorePlace,
    old: Annotated[str, typer.Argument(help="The name it has.")],
    new: Annotated[str, typer.Argument(help="The name it gets.")],
    note: Note = "",
    by: By = None,
    promote: Promote = False,
    force_name: ForceName = False,
) -> None:
    """Call a class by another name."""
    from nodegraft.cli.display.store import carry_out
    from nodegraft.store.changes import Change

    change = Change("rename", {"old": old, "new": new}).with_forced_name(force_name)
    carry_out(place, lambda _: change, by=by, note=note, promote=promote)


@user_errors
def merge(
    place: StorePlace,
    names: Names,
    into: Annotated[str, typer.Option(help="What they are called from then on.")],
    dry_run: DryRun = False,
    note: Note = "",
    by: By = None,
    override: Override = "",
    promote: Promote = False,
    force_name: ForceName = False,
) -> None:
    """Make several classes one."""
    from nodegraft.cli.display.store import carry_out
    from nodegraft.store.changes import Change

    change = Change("merge", {"names": names, "into": into}).with_forced_name(force_name)
    carry_out(
        place,
        lambda _: change,
        dry_run=dry_run,
        by=by,
        note=note,
        override=override,
        promote=promote,
    )


@user_errors
def split(
    place: StorePlace,
    name: Annotated[str, typer.Argument(help="The class that goes.")],
    parts: Annotated[
        list[str], typer.Option("--into", metavar="CLASS=KEYS", help="caps=p17,p20: a new class.")
    ],
    dry_run: DryRun = False,
    note: Note = "",
    by: By = None,
    override: Override = "",
    promote: Promote = False,
    force_name: ForceName = False,
) -> None:
    """Make one class several; its labels that are in none of them go."""
    from nodegraft.cli.display.store import carry_out
    from nodegraft.cli.store_options import keys_from
    from nodegraft.store.changes import Change
    from nodegraft.store.store import Store

    def change(store: Store) -> Change:
        new = {}
        for part in parts:
            name_of_part, equals, keys = part.rpartition("=")
            if not equals:
                raise ParameterError(f"{part!r} must look like CLASS=KEYS, as caps=p17,p20.")
            new[name_of_part] = keys_from(keys, store.graph())
        return Change("split", {"name": name, "parts": new}).with_forced_name(force_name)

    carry_out(
        place,
        change,
        dry_run=dry_run,
        by=by,
        note=note,
        override=override,
        promote=promote,
    )


@user_errors
def refit(
    place: StorePlace,
    note: Note = "",
    by: By = None,
    override: Override = "",
    promote: Promote = False,
) -> None:
    """Fit the method from the start, on the labels and graph of today."""
    from nodegraft.cli.display.store import fit_again

    fit_again(place, by=by, note=note, override=override, promote=promote)


@user_errors
def promote(
    place: StorePlace,
    number: VersionNumber = None,
    note: Note = "",
    by: By = None,
) -> None:
    """Let a version answer from now on, and write its model card."""
    from rich.console import Console

    from nodegraft.cli.display.versions import show_card
    from nodegraft.store.store import Store

    console = Console()
    with Store.open(place) as store:
        move = store.promote(number, by=by, note=note)
        console.print(f"Version {move.version} answers now.", highlight=False)
        show_card(console, store, move.version)


@user_errors
def discard(
    place: StorePlace,
    number: Annotated[
        int | None,
        typer.Argument(metavar="[VERSION]", help="The candidate version you mean."),
    ] = None,
    note: Note = "",
    by: By = None,
) -> None:
    """Discard the candidate version: go back to the live one without the changes since."""
    from nodegraft.cli.display.versions import show_version

    show_version(place, lambda store: store.discard(number, by=by, note=note))


@user_errors
def rollback(place: StorePlace, note: Note = "", by: By = None) -> None:
    """Let the version answer that answered before."""
    from rich.console import Console

    from nodegraft.store.store import Store

    with Store.open(place) as store:
        move = store.rollback(by=by, note=note)
        Console().print(f"Version {move.version} answers again.", highlight=False)


@user_errors
def history(place: StorePlace) -> None:
    """All versions: what was done, by whom, why, and which one answers."""
    from rich.console import Console

    from nodegraft.cli.display.versions import history_table
    from nodegraft.store.store import Store

    with Store.open(place) as store:
        Console().print(history_table(store.history(), store.champion, store.pruned()))


@user_errors
def migrate(place: StorePlace) -> None:
    """Bring the database of a store that an earlier release made up to date."""
    from rich.console import Console

    from nodegraft.store.store import Store

    done = Store.migrate(place)
    told = f"Tables of revision {done.before} are now of revision {done.after}."
    if done.before == done.after:
        told = f"Nothing to do: the tables are of revision {done.after}, the newest."
    Console().print(told, highlight=False)


@user_errors
def diff(
    place: StorePlace,
    before: Annotated[int, typer.Argument(help="The number of a version.")],
    after: Annotated[int, typer.Argument(help="The number of another.")],
) -> None:
    """Which nodes two versions answer differently."""
    from rich.console import Console

    from nodegraft.cli.display.preview import preview_lines
    from nodegraft.store.store import Store

    with Store.open(place) as store:
        seen = store.diff(before, after)
        texts = store.texts([one.node for one in seen.examples], after)
        Console().print(preview_lines(seen, texts))
