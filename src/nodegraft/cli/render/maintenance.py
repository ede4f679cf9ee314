"""Rendering of results of prune, purge, verify and settings as text and tables."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.box import SIMPLE
from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from nodegraft.analysis.version import version_ranges
from nodegraft.base.counting import counted
from nodegraft.cli.render.values import file_size

if TYPE_CHECKING:
    from datetime import datetime

    from nodegraft.analysis.results.maintenance import SettingValue
    from nodegraft.cli.results.maintenance import Tokens
    from nodegraft.store.maintenance.pruning import Pruned
    from nodegraft.store.maintenance.purging import Purged
    from nodegraft.store.maintenance.verification import Verification
    from nodegraft.store.versions.audit import AuditEntry


def pruned_line(pruned: "Pruned", dry_run: bool) -> Text:
    """Return a line with the versions that a prune deletes, and the disk space that it frees.

    Args:
        dry_run: Whether the command only showed what it would delete.
    """
    if not pruned.files and not pruned.versions:
        return Text("Nothing to prune: every file is needed.")
    space = f"{file_size(pruned.size)} in {counted(pruned.files, 'file')}"
    what = version_ranges(list(pruned.versions)) if pruned.versions else "files of killed processes"
    if dry_run:
        return Text(f"Would prune {what} and free {space}. Nothing was changed.")
    return Text(f"Pruned {what}: freed {space}. Kept: {version_ranges(list(pruned.kept))}.")


def purged_lines(purged: "Purged") -> Text:
    """Return lines about data that a purge deleted, and data that the user still must delete."""
    masked = ""
    if purged.rows:
        masked = f", with keys in {counted(purged.rows, 'row')} removed or replaced by [purged]"
    return Text(
        f"Purged {counted(purged.nodes, 'node')}. Version {purged.live}, rebuilt without "
        f"them, is live. Deleted {version_ranges(list(purged.versions))}; the history still lists "
        f"{'it' if len(purged.versions) == 1 else 'them'}{masked}. Delete yourself: copies of the "
        "store, logs and backups of a database server, and the tables it was created from."
    )


def verification_lines(verification: "Verification") -> Text:
    """Return lines about all damaged files, with advice on how to repair them."""
    unused = ""
    if verification.unused:
        files = counted(verification.unused, "file")
        unused = f" No version uses {files}: delete with `nodegraft prune`."
    if verification.is_clean:
        return Text(f"{counted(verification.files, 'file')} verified, no damage.{unused}")
    lines = [
        f"{finding.file}: {finding.problem}.\n  To do: {finding.advice}."
        for finding in verification.findings
    ]
    damaged = counted(len(verification.findings), "damaged file")
    lines.append(f"{damaged} of {verification.files}.{unused}")
    if any(finding.blocks for finding in verification.findings):
        lines.append(
            f"This could not be recorded in the store: {verification.recorded}"
            if verification.recorded
            else "The store cannot be opened until `nodegraft verify` finds no damage."
        )
    return Text("\n".join(lines))


def settings_table(settings: "Sequence[SettingValue]") -> Table:
    """Return a table of all settings with value, default and description."""
    table = Table(box=SIMPLE, pad_edge=False)
    table.add_column("setting", no_wrap=True)
    table.add_column("value", no_wrap=True)
    table.add_column("default", no_wrap=True)
    table.add_column("meaning", overflow="fold")
    for setting in settings:
        values = escape(str(setting.value)), escape(str(setting.default))
        table.add_row(setting.name, *values, setting.description)
    return table


def settings_history_table(entries: "Sequence[AuditEntry]") -> RenderableType:
    """Return a table of all changes of settings, newest first."""
    if not entries:
        return Text("No setting was ever changed.")
    table = Table(box=SIMPLE, pad_edge=False)
    table.add_column("change and note", overflow="fold")
    table.add_column("by", overflow="fold")
    table.add_column("when (UTC)", no_wrap=True)
    for entry in reversed(entries):
        detail = entry.detail
        before = "default" if detail["before"] is None else detail["before"]
        note = f"\n[dim]{escape(entry.note)}[/]" if entry.note else ""
        table.add_row(
            escape(f"{detail['name']}: {before} → {detail['after']}") + note,
            escape(entry.by),
            f"{entry.at:%Y-%m-%d %H:%M}",
        )
    return table


def tokens_table(tokens: "Tokens") -> RenderableType:
    """Return a table of all API tokens, or a note that there are none."""
    if not tokens.tokens:
        empty = "This store has no API token."
        if tokens.required:
            empty = "All API tokens were revoked: add one to serve the store."
        return Text(empty)
    table = Table(box=SIMPLE, pad_edge=False)
    table.add_column("name", overflow="fold")
    for heading in ("scope", "created (UTC)", "last used", "expires"):
        table.add_column(heading)
    for token in tokens.tokens:
        expires = _time_text(token.expires_at) + (" (expired)" if token.expired else "")
        times = _time_text(token.created_at), _time_text(token.last_used_at), expires
        table.add_row(escape(token.name), token.scope, *times)
    return table


def _time_text(at: "datetime | None") -> str:
    return "never" if at is None else f"{at:%Y-%m-%d %H:%M}"
