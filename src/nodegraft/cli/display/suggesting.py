"""What a person might teach next, in a terminal."""

import shlex
from collections.abc import Mapping
from pathlib import Path

from rich.box import SIMPLE
from rich.console import Console, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from nodegraft.cli.display.texts import Texts, add_text_column
from nodegraft.cli.store_options import written_keys
from nodegraft.store.new_classes import NewClass
from nodegraft.store.suggestion import Suggestion


def suggestions_table(found: list[Suggestion], texts: Texts) -> RenderableType:
    """One row for each node.

    Args:
        found: The nodes.
        texts: Of each of them.
    """
    if not found:
        return Text("Every node has a label.")
    table = Table(box=SIMPLE, pad_edge=False)
    for heading in ("node", "taken for", "may be"):
        table.add_column(heading, overflow="fold")
    table.add_column("stands for", justify="right", no_wrap=True)
    told = add_text_column(table, texts)
    for one, text in zip(found, told, strict=True):
        cells = (escape(str(one.node)), escape(one.answer), escape(one.runner_up))
        table.add_row(*cells, f"{max(one.like_it, 1):.0f}", *text)
    return table


def show_new_classes(console: Console, place: Path, groups: Mapping[NewClass, Texts]) -> None:
    """Each group with its words, some nodes, and the command that teaches it.

    Args:
        console: Where to.
        place: The folder of the store.
        groups: Group -> texts of its examples.
    """
    if not groups:
        console.print("No group of nodes looks like a class that is not known.", highlight=False)
        return
    console.print("These look like each other, and like no class that is known:")
    for group, texts in groups.items():
        words = f": {', '.join(group.words)}" if group.words else ""
        console.print(Text(f"\n{group.size:,} nodes{words}", style="bold"))
        table = Table.grid(padding=(0, 2))
        table.add_column(overflow="fold")
        told = add_text_column(table, texts)
        for node, text in zip(group.examples, told, strict=True):
            table.add_row(f"  {escape(str(node))}", *text)
        console.print(table)
        nodes = shlex.quote(written_keys(group.examples))
        # Never wrapped: it is there to be copied.
        console.print(
            f"  nodegraft add {shlex.quote(str(place))} --class NAME --nodes {nodes} --dry-run",
            highlight=False,
            markup=False,
            soft_wrap=True,
        )
