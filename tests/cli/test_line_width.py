"""Text of commands is broken only between words, and its commands can be copied."""

import re
import shlex
from pathlib import Path

import pytest
from rich.cells import cell_len
from typer.testing import CliRunner

from nodegraft.cli.app import app
from nodegraft.cli.terminal import between_words

COMMANDS = [
    ("lab", "methods"),
    ("lab", "datasets", "--data", "nothing-here"),
    ("lab", "info", "synthetic"),
    ("lab", "run", "--dataset", "synthetic", "--method", "sgc-mean"),
    ("lab", "run", "--dataset", "sinthetic"),
    ("history", "no-such-store"),
    ("init", "store", "--nodes", "a.csv", "--edges", "b.csv", "--labels", "c.csv"),
    ("doctor",),
]
STYLE = re.compile(r"\x1b\[[0-9;]*m")
CURSOR = re.compile(r"\x1b\[[0-9;?]*[A-Za-ln-z]|\r")
PROGRESS = re.compile("[\u2800-\u28ff] ")
SHORT_LINE_NOTE = {"Not", "shown,", "because", "the", "line", "is", "short:", "also,", "(--json)."}


def words_in_terminal(arguments: tuple[str, ...], columns: int) -> tuple[set[str], int]:
    """Return the words that a command prints in a terminal, and the length of the longest line."""
    places = {"COLUMNS": str(columns), "TTY_COMPATIBLE": "1", "TERM": "xterm", "NO_COLOR": "1"}
    shown = CliRunner().invoke(app, arguments, env=places).output
    shown = CURSOR.sub("\n", STYLE.sub("", shown))
    lines = [line for line in shown.splitlines() if not PROGRESS.match(line)]
    return {word for line in lines for word in line.split()}, max(map(len, lines))


@pytest.mark.parametrize("columns", [60, 100])
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_no_word_is_broken_in_a_terminal(
    arguments: tuple[str, ...], columns: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    narrow, longest = words_in_terminal(arguments, columns)
    wide, _ = words_in_terminal(arguments, 400)
    assert longest <= columns
    # Durations differ between calls, and lines of tables have another length.
    new = {word for word in narrow - wide if not re.search(r"\d", word) and word.strip("─━")}
    assert new <= SHORT_LINE_NOTE


def test_a_long_command_gets_its_own_lines_for_the_shell() -> None:
    nodes = "'odd, one,lamp1',lamp2"
    command = f"nodegraft add 'my shop' --class lamp --nodes {nodes} --dry-run"
    before, *lines = between_words(f"Add labels: {command}", 40).splitlines()
    assert before == "Add labels:"
    assert len(lines) > 1
    assert max(map(len, lines)) <= 40
    assert shlex.split("\n".join(lines).replace("\\\n", "")) == shlex.split(command)


def test_short_and_unlimited_lines_stay_as_they_are() -> None:
    text = "To go back: nodegraft rollback my-store\n- one\n  two   three"
    assert between_words(text, 60) == text
    assert between_words("a " * 500, 1_000_000) == "a " * 500


def test_lists_are_indented_and_numbers_stay_with_their_percent_sign() -> None:
    lines = between_words("- Class lamp has 98.5 % of all nodes, which is much.", 20).splitlines()
    assert lines == ["- Class lamp has", "  98.5 % of all", "  nodes, which is", "  much."]


def test_names_in_quotes_stay_on_one_line() -> None:
    told = (
        "To do: nodegraft promote 'my store, a copy of it', or nodegraft discard 'my store, a copy'"
    )
    assert between_words(told, 46).splitlines() == [
        "To do: nodegraft promote",
        "'my store, a copy of it', or nodegraft discard",
        "'my store, a copy'",
    ]


def test_characters_of_two_cells_count_twice() -> None:
    told = "The class '日本語の本' differs from 帽子 and 靴 and テント by case only."
    lines = between_words(told, 30).splitlines()
    assert max(map(cell_len, lines)) <= 30
    assert " ".join(lines) == told
    command = "Next: nodegraft add 店 --class 日本語の本 --nodes 帽子一,帽子二,帽子三 --dry-run"
    _, *lines = between_words(command, 34).splitlines()
    assert max(map(cell_len, lines)) <= 34
    assert shlex.split("\n".join(lines).replace("\\\n", "")) == shlex.split(command)[1:]


def test_blanks_and_line_breaks_of_keys_are_kept() -> None:
    for command in (
        "nodegraft promote 's\u00a0%x'",
        "Next: nodegraft explain s 'a\nb' --version 3",
    ):
        for width in (20, 200):
            assert between_words(command, width).replace(" \\\n    ", " ").endswith(command[-10:])
    assert between_words("Next: nodegraft explain s 'a\nb' --version 3", 20) == (
        "Next: nodegraft explain s 'a\nb' --version 3"
    )
