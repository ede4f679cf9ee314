"""Labels that are probably wrong, as a table."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rich.box import SIMPLE
from rich.console import RenderableType
from rich.markup import escape
from rich.text import Text

from nodegraft.cli.inputs import joined_keys
from nodegraft.cli.render.values import NodeTable, Texts, add_text_column

if TYPE_CHECKING:
    from nodegraft.analysis.results.nodes import SuspiciousLabel

TEXT_WIDTH = 9
"""Smallest width of the column of texts."""


def audit_table(
    found: "list[SuspiciousLabel]", texts: Texts, place: Path
) -> Iterator[RenderableType]:
    """Yield a table, the reasons, and the command that corrects the first label."""
    if not found:
        yield Text(
            "No label disagrees with the others: for none is another class likelier. The label of "
            "a class with a single one is not checked."
        )
        return
    table = NodeTable(box=SIMPLE, pad_edge=False)
    for heading in ("node", "label", "suggested"):
        table.add_column(heading, overflow="fold", min_width=len("suggested"))
    text_cells = add_text_column(table, texts, TEXT_WIDTH)
    for suspicious, text in zip(found, text_cells, strict=True):
        names = map(escape, (str(suspicious.node), suspicious.label, suspicious.suggested))
        table.add_row(*names, *text)
    yield table
    for suspicious in found:
        yield Text(f"{suspicious.node}: {suspicious.reason}")
    first = found[0]
    yield Text("To correct a label:")
    command = ["nodegraft", "relabel", str(place), "--class", first.suggested]
    yield Text("  " + shlex.join([*command, "--nodes", joined_keys([first.node])]), no_wrap=True)
