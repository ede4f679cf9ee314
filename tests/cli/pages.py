"""Pages that show commands, and what comes out of them."""

import re
import shlex
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from nodegraft.cli.app import app

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(console|sh|python|pycon)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DATE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d")
DECIMAL = re.compile(r"\d+\.\d+")
OMITTED = "…"


@dataclass(frozen=True)
class Step:
    """A command of the page, and what the page says comes out of it."""

    command: str
    shown: tuple[str, ...]


def steps(page: str) -> Iterator[Step]:
    """The commands of a page."""
    for kind, block in BLOCK.findall(page):
        if kind in ("console", "sh"):
            yield from steps_of(block, "$ ")


def steps_of(block: str, prompt: str) -> Iterator[Step]:
    for part in re.split(f"^{re.escape(prompt)}", block, flags=re.MULTILINE)[1:]:
        command, _, output = part.replace("\\\n", " ").partition("\n")
        yield Step(command, lines(output))


def lines(output: str) -> tuple[str, ...]:
    """Without what differs from day to day, blanks at the end, and blank lines."""
    dated = DATE.sub("(date)", output.replace("\xa0", " "))
    return tuple(line.rstrip() for line in dated.splitlines() if line.strip())


def missing(shown: tuple[str, ...], output: tuple[str, ...]) -> str | None:
    """The first line that is shown and does not come out where it is shown; None if all do."""
    place, skipping = 0, False
    for line in shown:
        if line.strip() == OMITTED:
            skipping = True
            continue
        rest = output[place:] if skipping else output[place : place + 1]
        found = next((offset for offset, one in enumerate(rest) if alike(line, one)), None)
        if found is None:
            return line
        place, skipping = place + found + 1, False
    return None if skipping or place == len(output) else f"(not shown) {output[place]}"


def alike(shown: str, line: str) -> bool:
    """The same, but for what is left out, and for the last digit of what was computed."""
    left_out = re.escape(DECIMAL.sub("#", shown)).replace(OMITTED, ".*")
    if not re.fullmatch(left_out, DECIMAL.sub("#", line)):
        return False
    if OMITTED in shown:
        return True
    pairs = zip(DECIMAL.findall(shown), DECIMAL.findall(line), strict=True)
    return all(abs(float(a) - float(b)) < 1.5 * 10 ** -len(a.split(".")[1]) for a, b in pairs)


def check(step: Step) -> None:
    """Run a command of a page, in the working folder; what comes out must be what is shown."""
    program, *arguments = shlex.split(step.command)
    assert program == "nodegraft"
    done = CliRunner().invoke(app, arguments)
    refused = any(line.startswith("Error:") for line in step.shown)
    assert done.exit_code == (2 if refused else 0), done.output
    compare(step, done.output)


def compare(step: Step, output: str) -> None:
    wrong = missing(step.shown, lines(output))
    assert wrong is None, f"{step.command}\n{wrong}\nis not what comes out:\n{output}"


def run_page(page: str) -> None:
    """Run every block of a page, in order, in the working folder: commands and Python."""
    names: dict[str, Any] = {}
    for kind, block in BLOCK.findall(page):
        if kind == "python":
            exec(block, names)  # noqa: S102
        elif kind == "pycon":
            for step in steps_of(block, ">>> "):
                with redirect_stdout(StringIO()) as said:
                    exec(compile(step.command, "page", "single"), names)  # noqa: S102
                compare(step, said.getvalue())
        else:
            for step in steps_of(block, "$ "):
                check(step)
