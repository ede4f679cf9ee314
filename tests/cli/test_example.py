"""Tables to try things on, and what to type next."""

import shlex
from pathlib import Path

from studies.excerpt import FOLDER
from typer.testing import CliRunner, Result

from nodegraft.cli.app import app


def example(folder: Path) -> Result:
    # Narrow: the command to copy must stay on one line all the same.
    return CliRunner().invoke(app, ["example", str(folder)], env={"COLUMNS": "40"})


def test_the_tables_and_their_licence_are_written(tmp_path: Path) -> None:
    folder = tmp_path / "some" / "words"
    assert example(folder).exit_code == 0
    written = {file.name: file.read_bytes() for file in folder.iterdir()}
    assert written == {file.name: file.read_bytes() for file in FOLDER.iterdir()}


def test_the_last_line_is_the_next_command(tmp_path: Path) -> None:
    done = example(tmp_path / "my words")
    program, command, *options = shlex.split(done.output.splitlines()[-1])
    assert (program, command) == ("nodegraft", "init")
    given = dict(zip(options[1:-1:2], options[2:-1:2], strict=True))
    for name in ("nodes", "edges", "labels"):
        assert Path(given[f"--{name}"]).is_file()
    assert (given["--text"], given["--type"], options[-1]) == ("description", "kind", "--directed")


def test_an_empty_folder_is_filled_and_a_full_one_refused(tmp_path: Path) -> None:
    assert example(tmp_path).exit_code == 0
    again = example(tmp_path)
    assert again.exit_code == 2
    assert "is not empty: choose a new or an empty folder" in again.stderr


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    assert "is not empty" in example(file).stderr
    below = example(file / "below")
    assert below.exit_code == 2
    assert "cannot be written" in below.stderr
