"""Terminal output of a command: consoles, line width, and a progress line on standard error."""

import os
import re
import textwrap
from typing import Any, Literal

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.text import Text

from nodegraft.base.events import Listener, step_text

UNLIMITED = 1_000_000
"""Line width for output to a file or pipe, so that no line is shortened or wrapped."""

Format = Literal["text", "json", "table"]
"""Output format: text for people, a JSON object, or a CSV or Parquet table."""


_COMMAND = re.compile(r"(?P<before>\s*|.*: )(?P<command>nodegraft (?:'[^']*'|(?!, ).)*[^.])")
"""Pattern of a line that ends in a command, such as ``Serve it: nodegraft serve my-store``."""

_SHELL_WORD = re.compile(r"(?:'[^']*'|\"[^\"]*\"|\S)+")
"""Pattern of a word of a command, which can contain spaces between quotation marks."""

_LINE_BREAK_IN_COMMAND = re.compile(r"nodegraft (?:[^'\n]|'[^'\n]*')*'[^'\n]*\n")
"""Pattern of a command with a line break in a node key, which is printed as it is."""

_ONE_WORD = re.compile(r"(?<= )'[^'\n]*'|\d %")
"""Pattern of text with blanks that stays on one line: a quoted name, a number of percent."""

_BLANK = "\N{OBJECT REPLACEMENT CHARACTER}"
"""Character that stands for a blank while lines are broken."""

_SECOND_CELL = "\N{FUNCTION APPLICATION}"
"""Character that follows each character of two cells while lines are broken by characters."""


def stdout_console() -> Console:
    """Return the console for results; if the output is a file or pipe, its width is unlimited."""
    console = Console(highlight=False)
    if not (console.is_terminal or os.environ.get("COLUMNS", "").isdigit()):
        console = Console(highlight=False, width=UNLIMITED)
    return console


def line_width(console: Console) -> int:
    """Return the maximum length of a line of text: the terminal's, or unlimited elsewhere."""
    return console.width if console.is_terminal else UNLIMITED


def line(text: str, style: str = "") -> Text:
    """Return text whose commands and paths can be copied after :func:`print_part` printed it."""
    return Text(text, style, no_wrap=True, overflow="ignore")


def print_part(console: Console, part: RenderableType) -> None:
    """Print a part of a result; text from :func:`line` is broken only between words."""
    if not (isinstance(part, Text) and part.no_wrap and part.overflow == "ignore"):
        console.print(part, crop=False)
        return
    text = Text(between_words(part.plain, line_width(console)), part.style)
    console.print(text, crop=False, soft_wrap=True)


def between_words(text: str, width: int) -> str:
    """Break lines between words, never within a word, so that no path or node key is broken.

    A command at the end of a long line gets its own lines, which end in ``\\`` for the shell.

    >>> print(between_words("Compare: nodegraft diff my-store 1 2 --json", 30))
    Compare:
      nodegraft diff my-store 1 \\
        2 --json

    Args:
        width: Maximum width of a line in terminal cells, of which Chinese, Japanese and Korean
            characters take two; only longer words exceed it.
    """
    if _LINE_BREAK_IN_COMMAND.search(text):
        return text
    return "\n".join(_broken(long, width) for long in text.split("\n"))


def _broken(text: str, width: int) -> str:
    if cell_len(text) <= width:
        return text
    if found := _COMMAND.fullmatch(text):
        before = _filled(found["before"].rstrip(), width)
        return "\n".join([before, *_command_lines(found["command"], width)]).lstrip("\n")
    indent = " " * (len(text) - len(text.lstrip(" -")))
    one_word = _ONE_WORD.sub(lambda found: found[0].replace(" ", _BLANK), text)
    lines = _filled(one_word, width, subsequent_indent=indent, break_on_hyphens=False)
    return lines.replace(_BLANK, " ")


def _filled(text: str, width: int, **options: Any) -> str:
    cells = "".join(letter + _SECOND_CELL * (cell_len(letter) == 2) for letter in text)
    lines = textwrap.fill(cells, width, break_long_words=False, **options)
    return lines.replace(_SECOND_CELL, "")


def _command_lines(command: str, width: int) -> list[str]:
    # Two characters of a line are for the space and the backslash at its end.
    first, *words = _SHELL_WORD.findall(command)
    lines = ["  " + first]
    for word in words:
        if cell_len(lines[-1]) + 1 + cell_len(word) > width - 2:
            lines[-1] += " \\"
            lines.append("    " + word)
        else:
            lines[-1] += " " + word
    return lines


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
