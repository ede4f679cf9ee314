"""Pages show what commands say: all are run, in order, in an empty folder."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nodegraft.cli.app import app

ROOT = Path(__file__).parents[2]
FIRST = {"example", "init", "add", "predict", "undo"}
PAGES = {
    "README.md": FIRST,
    "docs/tutorials/first-class.md": FIRST | {"explain", "history", "promote"},
    "docs/how-to/evaluate.md": {"evaluate", "promote", "card"},
}
BLOCK = re.compile(r"^```(?:console|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DATE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d")
DECIMAL = re.compile(r"\d+\.\d+")
USER = "anna"
OMITTED = "…"


@dataclass(frozen=True)
class Step:
    """A command of the page, and what the page says comes out of it."""

    command: str
    shown: tuple[str, ...]


def steps(page: str) -> Iterator[Step]:
    for block in BLOCK.findall(page):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
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


@pytest.mark.parametrize("page", PAGES)
def test_a_page_shows_what_comes_out(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # Whom getpass.getuser finds; the width of a table depends on it.
    monkeypatch.setenv("LOGNAME", USER)
    monkeypatch.setenv("COLUMNS", "80")
    run = [step for step in steps((ROOT / page).read_text()) if not step.command.startswith("pip ")]
    for step in run:
        program, *arguments = shlex.split(step.command)
        assert program == "nodegraft"
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 0, done.output
        wrong = missing(step.shown, lines(done.output))
        assert wrong is None, f"{step.command}\n{wrong}\nis not what comes out:\n{done.output}"
    used = {step.command.split()[1] for step in run}
    assert used >= PAGES[page]


def test_a_line_that_does_not_come_out_is_found() -> None:
    output = ("one 1.50", "two", "three", "four")
    assert missing(("one 1.51", "…", "four"), output) is None
    assert missing(("one 1.50", "t…", "three", "…"), output) is None
    assert missing(("one 1.53", "…"), output) == "one 1.53"
    assert missing(("one 1.50", "three", "…"), output) == "three"
    assert missing(("one 1.50", "two", "three"), output) == "(not shown) four"
    assert missing(("…", "five"), output) == "five"
