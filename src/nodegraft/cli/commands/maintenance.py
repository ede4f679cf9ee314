"""Commands of the panel Maintenance: verify, settings, prune, purge and migrate."""

from typing import Annotated

import typer
from rich.console import Console

from nodegraft.base.counting import counted
from nodegraft.base.errors import ParameterError
from nodegraft.cli.changes import open_store
from nodegraft.cli.options import AuthorOptions, By, DryRun, StorePlace
from nodegraft.cli.output import command
from nodegraft.cli.progress import StatusLine
from nodegraft.cli.render.maintenance import (
    pruned_line,
    purged_lines,
    setting_line,
    settings_history_table,
    settings_table,
    verification_lines,
)


@command
def verify(place: StorePlace, by: By = None) -> None:
    """Compare every file of a store with its checksum; exit code 1 if one is damaged."""

    from nodegraft.store.store import Store

    console = Console()
    with StatusLine(console) as status:
        verification = Store.verify(place, author=by, listener=status)
    console.print(verification_lines(verification), highlight=False, soft_wrap=True)
    if not verification.is_clean:
        raise typer.Exit(1)


@command
def settings(
    place: StorePlace,
    change: Annotated[
        str | None, typer.Argument(metavar="[NAME=VALUE]", help="Setting to change.")
    ] = None,
    history: Annotated[
        bool, typer.Option("--history", help="List all changes of settings.")
    ] = False,
    *,
    options: AuthorOptions,
) -> None:
    """Show the settings of a store, or change one."""

    console = Console()
    if history and change is not None:
        raise ParameterError("Give NAME=VALUE or --history, not both.")
    with open_store(place) as store:
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
            after = store.set_setting(name.strip(), value.strip(), intent=options.intent)
            console.print(setting_line(name.strip(), before, after))


@command
def prune(
    place: StorePlace,
    keep: Annotated[
        int, typer.Option(metavar="N", help="Keep the N newest and the N last live versions.")
    ] = 10,
    dry_run: DryRun = False,
    *,
    options: AuthorOptions,
) -> None:
    """Delete the files of old versions; the history still lists them."""

    with open_store(place) as store:
        pruned = store.prune(keep, dry_run=dry_run, intent=options.intent)
    Console().print(pruned_line(pruned, dry_run))


@command
def purge(
    place: StorePlace,
    nodes: Annotated[list[str], typer.Argument(metavar="NODE...", help="Node keys.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    *,
    options: AuthorOptions,
) -> None:
    """Delete nodes from all versions and from the history; this cannot be undone."""
    from nodegraft.graph.keys import integer_key

    console = Console()
    status = StatusLine(console)
    with open_store(place, status) as store:
        has_text_keys = store.graph().has_text_keys
        keys = [node if has_text_keys else integer_key(node) for node in nodes]
        if not yes:
            typer.confirm(
                f"Delete {counted(len(keys), 'node')}, and with them all earlier versions? This "
                "cannot be undone.",
                abort=True,
            )
        with status:
            purged = store.purge(keys, intent=options.intent)
    console.print(purged_lines(purged))


@command
def migrate(place: StorePlace) -> None:
    """Update a store that an older nodegraft created."""
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
