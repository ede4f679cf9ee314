"""Terminal of a command: consoles, width, and one line of progress on standard error."""

import os
from typing import Literal

from rich.console import Console, RenderableType
from rich.text import Text

from nodegraft.base.events import Listener, step_text

UNLIMITED = 1_000_000
"""Width of a line where nothing is cut or wrapped: in a file or pipe."""

Format = Literal["text", "json", "table"]
"""Form of a result: lines for people, one JSON object, or a CSV or Parquet table."""


def stdout_console() -> Console:
    """Return the console of results, without a limit of width in a file or pipe."""
    console = Console(highlight=False)
    if not (console.is_terminal or os.environ.get("COLUMNS", "").isdigit()):
        console = Console(highlight=False, width=UNLIMITED)
    return console


def line(text: str, style: str = "") -> Text:
    """Return text that is never broken, so that commands and paths can be copied."""
    return Text(text, style, no_wrap=True, overflow="ignore")


def print_part(console: Console, part: RenderableType) -> None:
    """Print a part of a result; lines of :func:`line` are not broken."""
    is_line = isinstance(part, Text) and bool(part.no_wrap)
    console.print(part, crop=False, soft_wrap=is_line)


class Terminal(Listener):
    """Where a command shows progress and notes, and what its result will look like.

    Progress is shown from the start of a command, so that no command is silent while it loads.

    Args:
        format: Form of the result.
    """

    def __init__(self, format: Format = "text") -> None:
        self.format = format
        self.console = Console(stderr=True, highlight=False)
        self.width = stdout_console().width
        self._status = self.console.status("loading")

    @property
    def is_piped(self) -> bool:
        """Whether lines of any width can be written."""
        return self.width == UNLIMITED

    def __enter__(self) -> "Terminal":
        self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._status.stop()

    def step(self, stage: str, done: int, total: int, **numbers: float) -> None:
        """Show the current step of a stage."""
        self._status.update(step_text(stage, done, total, **numbers))

    def stage(self, text: str) -> None:
        """Show what is being done."""
        self._status.update(text)

    def pause(self) -> None:
        """Remove the line of progress, for a question or another display."""
        self._status.stop()

    def resume(self) -> None:
        """Show the line of progress again."""
        self._status.start()

    def note(self, text: RenderableType) -> None:
        """Print a note about the work on standard error, before the result."""
        print_part(self.console, text)
