"""Formatting of numbers and texts, and the text column that several tables share."""

from collections.abc import Sequence

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from nodegraft.cli.terminal import UNLIMITED

MIN_TEXT_WIDTH = 14
"""Minimum width of the text column; other columns are narrowed to make space for it."""

TEXT = "text"
"""Heading of the text column."""

GAP = 3
"""Maximum number of characters between two columns."""

Texts = Sequence[str | None]
"""Text of each node; None for a node without a text."""

_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def likely(share: float) -> str:
    """Return a probability in whole percent; only exact 0 and 1 are shown as 0 % and 100 %.

    >>> likely(0.314), likely(0.9996), likely(0.0004), likely(1.0)
    ('31 %', '>99 %', '<1 %', '100 %')

    Args:
        share: Probability between 0 and 1.
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
        share: Share between 0 and 1, or None if it is unknown.
    """
    return "–" if share is None else f"{100 * share:.1f} %"


def points(share: float) -> str:
    """Return the difference of two shares in percentage points.

    >>> points(0.0123)
    '1.2 points'
    """
    return f"{100 * share:.1f} points"


def file_size(size: int) -> str:
    """Return a file size in bytes or a larger unit.

    >>> file_size(999), file_size(1_234_567)
    ('999 bytes', '1.2 MB')

    Args:
        size: Size in bytes.
    """
    amount, unit = float(size), 0
    while amount >= 1000 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1000, unit + 1
    return f"{amount:.0f} bytes" if unit == 0 else f"{amount:.1f} {_UNITS[unit]}"


def duration(seconds: float) -> str:
    """Return a duration in seconds, minutes or hours.

    >>> duration(42), duration(61), duration(7300)
    ('42 s', '1 min', '2 h 02 min')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


class NodeTable(Table):
    """Table of nodes, with a text column that fills the rest of the line.

    In a file or pipe, the text is not cut. On a narrow terminal, the text column is omitted, so
    that no key or class name is broken.
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
        """Return the minimum table width at which no word is broken."""
        widths = [
            column.width
            or max(
                column.min_width or 0,
                *(
                    Measurement.get(console, options, cell).minimum
                    for cell in (column.header, *column.cells)
                ),
            )
            for column in self.columns
        ]
        # Between columns there are their padding and a space.
        gap = sum(self.padding[1::2]) + 1
        return sum(widths) + gap * len(widths)


def add_text_column(
    table: NodeTable, texts: Texts, min_width: int = MIN_TEXT_WIDTH
) -> list[list[str]]:
    """Add a text column that fills the rest of the line; return a list of its cells for each row.

    The list contains the row's text. If no node has a text, no column is added, and all lists are
    empty.

    Args:
        min_width: Minimum width of the column.
    """
    if not any(texts):
        return [[] for _ in texts]
    table.expand = True
    table.add_column(TEXT, width=min_width, ratio=1, no_wrap=True, overflow="ellipsis")
    return [[escape(text or "")] for text in texts]


def text_line(text: str) -> Text:
    """Return a text that is shortened to one line when it is printed."""
    return Text(text, style="dim", no_wrap=True, overflow="ellipsis")
