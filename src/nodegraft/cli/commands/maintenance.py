"""Commands of the panel Maintenance: verify, settings, prune, purge and migrate."""

from typing import Annotated

import typer

from nodegraft.base.counting import counted
from nodegraft.base.errors import ParameterError
from nodegraft.cli.errors import user_errors
from nodegraft.cli.options import By, DryRun, Note, StorePlace


@user_errors
def verify(place: StorePlace, by: By = None) -> None:
    """Compare every file of a store with its checksum; exit code 1 if one is damaged."""
    from rich.console import Console

    from nodegraft.cli.progress import StatusLine
    from nodegraft.cli.render.maintenance import verification_lines
    from nodegraft.store.store import Store

    console = Console()
    with StatusLine(console) as status:
        verification = Store.verify(place, author=by, listener=status)
    console.print(verification_lines(verification), highlight=False, soft_wrap=True)
    if not verification.is_clean:
        raise typer.Exit(1)


@user_errors
def settings(
    place: StorePlace,
    change: Annotated[
        str | None, typer.Argument(metavar="[NAME=VALUE]", help="Setting to change.")
    ] = None,
    history: Annotated[
        bool, typer.Option("--history", help="List all changes of settings.")
    ] = False,
    note: Note = "",
    by: By = None,
) -> None:
    """Show the settings of a store, or change one."""
    from rich.console import Console

    from nodegraft.cli.render.maintenance import (
        setting_line,
        settings_history_table,
        settings_table,
    )
    from nodegraft.store.intent import Intent
    from nodegraft.store.store import Store

    console = Console()
    if history and change is not None:
        raise ParameterError("Give NAME=VALUE or --history, not both.")
    with Store.open(place) as store:
        if history:
            console.print(settings_history_table(store.settings_history()))
        elif change is None:
            console.print(settings_table(store.settings()))
        else:
            name, equals, value = change.partition("=")
            if not equals:
                raise ParameterError(
                    f"{change!r} must have the form NAME=VALUE, as in max_removed_share=0.2."
                )
            before = store.setting(name.strip())
            intent = Intent(author=by, note=note)
            after = store.set_setting(name.strip(), value.strip(), intent=intent)
            console.print(setting_line(name.strip(), before, after))


@user_errors
def prune(
    place: StorePlace,
    keep: Annotated[
        int, typer.Option(metavar="N", help="Keep the N newest and the N last live versions.")
    ] = 10,
    dry_run: DryRun = False,
    note: Note = "",
    by: By = None,
) -> None:
    """Delete the files of old versions; the history still lists them."""
    from rich.console import Console

    from nodegraft.cli.render.maintenance import pruned_line
    from nodegraft.store.intent import Intent
    from nodegraft.store.store import Store

    with Store.open(place) as store:
        pruned = store.prune(keep, dry_run=dry_run, intent=Intent(author=by, note=note))
    Console().print(pruned_line(pruned, dry_run))


@user_errors
def purge(
    place: StorePlace,
    nodes: Annotated[list[str], typer.Argument(metavar="NODE...", help="Node keys.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    note: Note = "",
    by: By = None,
) -> None:
    """Delete nodes from all versions and from the history; this cannot be undone."""
    from rich.console import Console

    from nodegraft.cli.progress import StatusLine
    from nodegraft.cli.render.maintenance import purged_lines
    from nodegraft.graph.keys import integer_key
    from nodegraft.store.intent import Intent
    from nodegraft.store.store import Store

    console = Console()
    status = StatusLine(console)
    with Store.open(place, listener=status) as store:
        has_text_keys = store.graph().has_text_keys
        keys = [node if has_text_keys else integer_key(node) for node in nodes]
        if not yes:
            typer.confirm(
                f"Delete {counted(len(keys), 'node')}, and with them all earlier versions? This "
                "cannot be undone.",
                abort=True,
            )
        with status:
            purged = store.purge(keys, intent=Intent(author=by, note=note))
    console.print(purged_lines(purged))


@user_errors
def migrate(place: StorePlace) -> None:
    """Update a store that an older nodegraft created."""
    from rich.console import Console

    from nodegraft.store.store import Store

    done = Store.migrate(place)
    text = f"Updated the tables from revision {done.before} to {done.after}."
    if done.before == done.after:
        text = f"Nothing to do: the tables have the newest revision, {done.after}."
    Console().print(text, highlight=False)


COMMANDS = {
    "verify": verify,
    "settings": settings,
    "prune": prune,
    "purge": purge,
    "migrate": migrate,
}
