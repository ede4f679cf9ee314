"""What can be read about nodes, cut to the line that it is shown on."""

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table
from rich.text import Text

LEAST = 14
"""So many characters a column of texts has at least; other columns make room for it."""

Texts = Sequence[str | None]


def add_text_column(table: Table, texts: Texts, least: int = LEAST) -> list[list[str]]:
    """One more column, which takes what is left of the line; the cells of it, one list a row.

    Where no node has a text, no column is added, and every list is empty.

    Args:
        table: A table of nodes, without rows yet.
        texts: One for each node.
        least: How many characters the column has at least.
    """
    if not any(texts):
        return [[] for _ in texts]
    table.expand = True
    table.add_column("text", width=least, ratio=1, no_wrap=True, overflow="ellipsis")
    return [[escape(text or "")] for text in texts]


def text_line(text: str) -> Text:
    """One line of a text.

    Args:
        text: As long as it is.
    """
    return Text(text, style="dim", no_wrap=True, overflow="ellipsis")
