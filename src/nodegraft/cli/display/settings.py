"""Settings of a store, in a terminal."""

from collections.abc import Sequence

from rich.box import SIMPLE
from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from nodegraft.store.audit import AuditEntry
from nodegraft.store.known_settings import SettingValue


def settings_table(settings: Sequence[SettingValue]) -> Table:
    """Return all settings with value, default and meaning.

    Args:
        settings: The settings.
    """
    table = Table(box=SIMPLE, pad_edge=False)
    table.add_column("setting", no_wrap=True)
    table.add_column("value", no_wrap=True)
    table.add_column("default", no_wrap=True)
    table.add_column("meaning", overflow="fold")
    for one in settings:
        table.add_row(one.name, escape(str(one.value)), escape(str(one.default)), one.description)
    return table


def history_table(entries: Sequence[AuditEntry]) -> RenderableType:
    """Return all changes of settings, newest first.

    Args:
        entries: Oldest first.
    """
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


def changed_line(name: str, before: object, after: object) -> Text:
    """Return what a setting was and is.

    Args:
        name: Name of the setting.
        before: The old value.
        after: The new value.
    """
    return Text(f"Setting {name} is {after} now; it was {before}.")
