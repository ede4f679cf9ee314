"""A class tree on the command line."""

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.test_wrong_inputs import invoke, made, tables

__all__ = ["made"]


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path


def run(folder: Path, line: str) -> str:
    code, output = invoke(folder, line)
    assert code == 0, output
    return output


def test_classes_are_listed_below_their_parent(folder: Path) -> None:
    (folder / "classes.csv").write_text("class,parent\nhats,headwear\nheadwear,wear\nshoes,wear\n")
    run(folder, f"init tree {tables()} --classes classes.csv")
    lines = [line for line in run(folder, "classes tree").splitlines() if line.strip()][-4:]
    indents = {line.split()[0]: len(line) - len(line.lstrip()) for line in lines}
    assert list(indents) == ["wear", "headwear", "hats", "shoes"]
    assert [own - indents["wear"] for own in indents.values()] == [0, 2, 4, 2]
    found = json.loads(run(folder, "classes tree --json"))
    assert {own["name"]: own["parent"] for own in found["classes"]} == {
        "hats": "headwear",
        "shoes": "wear",
    }
    assert found["groups"] == [
        {"name": "headwear", "parent": "wear"},
        {"name": "wear", "parent": None},
    ]
    assert run(folder, "classes tree --csv -").splitlines()[1].startswith('"hats","headwear"')


def test_move_and_add_below_a_parent(folder: Path) -> None:
    told = run(folder, "move shop hats --parent headwear --dry-run")
    assert "0 of 24 predictions change." in told
    run(folder, "move shop hats --parent headwear")
    run(folder, "add shop --class caps --nodes hats7,hats8 --parent headwear --override test")
    assert "move hats below headwear" in run(folder, "history shop")
    assert "add caps (2) below headwear" in run(folder, "history shop")
    run(folder, "undo shop")
    run(folder, "move shop hats --no-parent")
    found = json.loads(run(folder, "classes shop --version 5 --json"))
    assert [own["parent"] for own in found["classes"]] == [None, None]
    assert found["groups"] == []
