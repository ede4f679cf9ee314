"""Terminal output of a command: consoles, line width, and a progress line on standard error."""

import os
from typing import Literal

from rich.console import Console, RenderableType
from rich.text import Text

from nodegraft.base.events import Listener, step_text

UNLIMITED = 1_000_000
"""Line width for output to a file or pipe, so that no line is shortened or wrapped."""

Format = Literal["text", "json", "table"]
"""Output format: text for people, a JSON object, or a CSV or Parquet table."""


def stdout_console() -> Console:
    """Return the console for results; if the output is a file or pipe, its width is unlimited."""
    console = Console(highlight=False)
    if not (console.is_terminal or os.environ.get("COLUMNS", "").isdigit()):
        console = Console(highlight=False, width=UNLIMITED)
    return console


def line(text: str, style: str = "") -> Text:
    """Return text that is printed without line breaks, so that it can be copied as a command."""
    return Text(text, style, no_wrap=True, overflow="ignore")


def print_part(console: Console, part: RenderableType) -> None:
    """Print a part of a result; text from :func:`line` is not wrapped."""
    is_line = isinstance(part, Text) and bool(part.no_wrap)
    console.print(part, crop=False, soft_wrap=is_line)


class Terminal(Listener):
    """Progress line and notes of a command on standard error, and the format of its result.

    The progress line is shown from the start, because importing modules and loading can take long.

    Args:
        format: Output format of the result.
    """

    def __init__(self, format: Format = "text") -> None:
        self.format = format
        self.console = Console(stderr=True, highlight=False)
        self.width = stdout_console().width
        self._status = self.console.status("loading")

    @property
    def is_piped(self) -> bool:
        """Whether the output is a file or pipe, in which lines can have any width."""
        return self.width == UNLIMITED

    def __enter__(self) -> "Terminal":
        self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._status.stop()

    def step(self, stage: str, done: int, total: int, **numbers: float) -> None:
        """Show the current step of a stage in the progress line."""
        self._status.update(step_text(stage, done, total, **numbers))

    def stage(self, text: str) -> None:
        """Show the current stage in the progress line."""
        self._status.update(text)

    def pause(self) -> None:
        """Hide the progress line while a question or another display is shown."""
        self._status.stop()

    def resume(self) -> None:
        """Show the progress line again."""
        self._status.start()

    def note(self, text: RenderableType) -> None:
        """Print a note to standard error, before the result."""

        print_part(self.console, text)
