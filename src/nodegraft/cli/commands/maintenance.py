"""Commands of the help panel Maintenance: verify, settings, prune, purge and migrate."""

from typing import Annotated

import typer

from nodegraft.analysis.results.maintenance import Migration
from nodegraft.base.counting import counted
from nodegraft.base.errors import ParameterError
from nodegraft.cli.changes import open_store
from nodegraft.cli.options import AuthorOptions, By, DryRun, StorePlace
from nodegraft.cli.output import Output, command
from nodegraft.cli.render import maintenance as render
from nodegraft.cli.results import maintenance as results
from nodegraft.cli.terminal import Terminal, line


@command
def verify(place: StorePlace, terminal: Terminal, by: By = None) -> Output[results.Verified]:
    """Compare every file of a store with its checksum; exit code 1 if a file is damaged."""
    from nodegraft.store.store import Store

    verification = Store.verify(place, author=by, listener=terminal)
    value = results.Verified(
        files=verification.files,
        unused=verification.unused,
        damaged=list(verification.findings),
        not_recorded=verification.recorded,
    )
    text = line(render.verification_lines(verification).plain)
    return Output(value, (text,), exit_code=0 if verification.is_clean else 1)


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
) -> Output[results.Settings | results.SettingsHistory | results.ChangedSetting]:
    """Show the settings of a store, or change one."""
    if history and change is not None:
        raise ParameterError("Give NAME=VALUE or --history, not both.")
    with open_store(place) as store:
        if history:
            entries = store.settings_history()
            changes = [
                results.SettingChange(**entry.detail, by=entry.by, note=entry.note, at=entry.at)
                for entry in reversed(entries)
            ]
            return Output(
                results.SettingsHistory(changes), (render.settings_history_table(entries),)
            )
        if change is None:
            listed = store.settings()
            return Output(results.Settings(list(listed)), (render.settings_table(listed),))
        name, equals, new = (part.strip() for part in change.partition("="))
        if not equals:
            raise ParameterError(
                f"{change!r} must have the form NAME=VALUE, as in max_removed_share=0.2."
            )
        before = store.setting(name)
        after = store.set_setting(name, new, intent=options.intent)
        text = f"Setting {name} is now {after} (before: {before})."
        return Output(results.ChangedSetting(name, before, after), (text,))


@command
def prune(
    place: StorePlace,
    terminal: Terminal,
    keep: Annotated[
        int, typer.Option(metavar="N", help="Keep the N newest and the N last live versions.")
    ] = 10,
    dry_run: DryRun = False,
    *,
    options: AuthorOptions,
) -> Output[results.Pruned]:
    """Delete the files of old versions; the history still lists them."""
    with open_store(place, terminal, several_labels=True) as store:
        terminal.stage("looking for unused files")
        pruned = store.prune(keep, dry_run=dry_run, intent=options.intent)
    value = results.Pruned(
        list(pruned.versions), list(pruned.kept), pruned.files, pruned.size, dry_run=dry_run
    )
    return Output(value, (render.pruned_line(pruned, dry_run),))


@command
def purge(
    place: StorePlace,
    nodes: Annotated[list[str], typer.Argument(metavar="NODE...", help="Node keys.")],
    terminal: Terminal,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    *,
    options: AuthorOptions,
) -> Output[results.Purged]:
    """Delete nodes from all versions and from the history; this cannot be undone."""
    from nodegraft.graph.keys import integer_key
    from nodegraft.store.maintenance.purging import Purge

    with open_store(place, terminal) as store:
        has_text_keys = store.graph().has_text_keys
        keys = [node if has_text_keys else integer_key(node) for node in nodes]
        if not yes:
            Purge(store.parts, keys).refuse_unknown()
            terminal.pause()
            typer.confirm(
                f"Delete {counted(len(keys), 'node')}, and with them all earlier versions? This "
                "cannot be undone.",
                abort=True,
                err=True,
            )
            terminal.resume()
        terminal.stage("rebuilding without the nodes")
        purged = store.purge(keys, intent=options.intent)
    value = results.Purged(
        purged.nodes, purged.live, list(purged.versions), purged.rows, purged.files
    )
    return Output(value, (render.purged_lines(purged),))


@command
def migrate(place: StorePlace) -> Output[Migration]:
    """Update a store that an older nodegraft created."""
    from nodegraft.store.store import Store

    migration = Store.migrate(place)
    text = f"Updated the tables from revision {migration.before} to {migration.after}."
    if migration.before == migration.after:
        text = f"Nothing to do: the tables have the newest revision, {migration.after}."
    return Output(migration, (text,))


COMMANDS = {
    "verify": verify,
    "settings": settings,
    "prune": prune,
    "purge": purge,
    "migrate": migrate,
}
