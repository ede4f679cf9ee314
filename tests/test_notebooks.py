"""The code of every notebook runs, cell by cell, and what is saved beside it came out of it."""

import ast
import json
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from tests.cli.pages import ROOT

NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))


def code_cells(notebook: Path) -> list[dict[str, Any]]:
    cells = json.loads(notebook.read_text())["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def test_there_is_a_notebook() -> None:
    assert NOTEBOOKS


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "notebook"}
    for cell in code_cells(notebook):
        *statements, last = ast.parse("".join(cell["source"])).body
        with redirect_stdout(StringIO()) as said:
            exec(compile(ast.Module(statements, []), notebook.name, "exec"), names)  # noqa: S102
            if isinstance(last, ast.Expr):
                value = ast.Expression(last.value)
                eval(compile(value, notebook.name, "eval"), names)  # noqa: S307
            else:
                exec(compile(ast.Module([last], []), notebook.name, "exec"), names)  # noqa: S102
        saved = [one for one in cell["outputs"] if one.get("name") == "stdout"]
        # Numbers of a trained network differ from machine to machine in their last digits.
        lines = ["".join(one["text"]).count("\n") for one in saved]
        assert sum(lines) == said.getvalue().count("\n")
        assert not any(one["output_type"] == "error" for one in cell["outputs"])
