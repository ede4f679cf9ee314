"""Numbers and texts as people read them, and the column of texts that several tables have."""

from collections.abc import Sequence

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from nodegraft.cli.terminal import UNLIMITED

MIN_TEXT_WIDTH = 14
"""Smallest width of a column of texts; other columns make room for it."""

TEXT = "text"
"""Heading of the column of texts."""

GAP = 3
"""Largest number of characters between two columns."""

Texts = Sequence[str | None]
"""One text for each node; None for a node without."""

_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def likely(share: float) -> str:
    """Return a probability in whole percent; only exact values are shown as 0 or 100.

    >>> likely(0.314), likely(0.9996), likely(0.0004), likely(1.0)
    ('31 %', '>99 %', '<1 %', '100 %')

    Args:
        share: Between 0 and 1.
    """
    rounded = round(100 * share)
    if rounded == 100 and share < 1:
        return ">99 %"
    if rounded == 0 and share > 0:
        return "<1 %"
    return f"{rounded} %"


def percent(share: float | None) -> str:
    """Return a share as a percentage.

    >>> percent(0.5666), percent(None)
    ('56.7 %', '–')

    Args:
        share: Between 0 and 1, or None where there is none.
    """
    return "–" if share is None else f"{100 * share:.1f} %"


def points(share: float) -> str:
    """Return a difference of shares in percentage points.

    >>> points(0.0123)
    '1.2 points'
    """
    return f"{100 * share:.1f} points"


def file_size(size: int) -> str:
    """Return a number of bytes in a readable unit.

    >>> file_size(999), file_size(1_234_567)
    ('999 bytes', '1.2 MB')

    Args:
        size: In bytes.
    """
    amount, unit = float(size), 0
    while amount >= 1000 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1000, unit + 1
    return f"{amount:.0f} bytes" if unit == 0 else f"{amount:.1f} {_UNITS[unit]}"


def duration(seconds: float) -> str:
    """Return a time in a readable unit.

    >>> duration(42), duration(61), duration(7300)
    ('42 s', '1 min', '2 h 02 min')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


class NodeTable(Table):
    """Table of nodes; its column of texts fills the line, and is whole in a file or pipe.

    Where a line is too short for it, texts are dropped: no key or class name is broken for them.
    """

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render the table."""
        texts = self.columns[-1]
        if options.max_width == UNLIMITED:
            self.expand, texts.width = False, None
        elif texts.header == TEXT and self._least_width(console, options) > options.max_width:
            self.expand = False
            self.columns.pop()
        return super().__rich_console__(console, options)

    def _least_width(self, console: Console, options: ConsoleOptions) -> int:
        """Return the width in which no word is broken."""
        widths = [
            column.width
            or max(Measurement.get(console, options, cell).minimum for cell in column.cells)
            for column in self.columns
        ]
        return sum(widths) + GAP * len(widths)


def add_text_column(
    table: NodeTable, texts: Texts, min_width: int = MIN_TEXT_WIDTH
) -> list[list[str]]:
    """Add a column that fills the rest of the line; return its cells, one list for each row.

    Where no node has a text, no column is added, and every list is empty.

    Args:
        table: A table of nodes, without rows yet.
    """
    if not any(texts):
        return [[] for _ in texts]
    table.expand = True
    table.add_column(TEXT, width=min_width, ratio=1, no_wrap=True, overflow="ellipsis")
    return [[escape(text or "")] for text in texts]


def text_line(text: str) -> Text:
    """Return a text shortened to one line."""
    return Text(text, style="dim", no_wrap=True, overflow="ellipsis")
