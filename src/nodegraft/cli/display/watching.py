"""What has moved, in a terminal."""

from rich.box import SIMPLE
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from nodegraft.store.drift import Shift


def drift_table(found: list[Shift]) -> RenderableType:
    """One row for each thing that may have moved.

    Args:
        found: How far each has.
    """
    table = Table(box=SIMPLE, pad_edge=False)
    for heading in ("", "before", "after"):
        table.add_column(heading, overflow="fold")
    for heading in ("moved by", "noise"):
        table.add_column(heading, justify="right")
    for one in found:
        style = "yellow" if one.alarming else ""
        cells = (escape(one.what), escape(one.before), escape(one.after))
        table.add_row(*cells, f"{one.distance:.3f}", f"{one.noise:.3f}", style=style)
    moved = [one.what for one in found if one.alarming]
    told = f"Look at: {', '.join(moved)}." if moved else "Nothing has moved more than it may."
    return Group(table, Text(told))
