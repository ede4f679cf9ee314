"""A class tree on the command line."""

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.test_wrong_inputs import invoke, made, tables
from tests.store.small import made as small_store

__all__ = ["made"]


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_evaluate_shows_the_class_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store, _ = small_store(tmp_path / "small")
    store.move({"class-00": "one", "class-01": "one"})
    store.close()
    line = "evaluate small --method sgc-mean --seeds 1"
    shown = run(tmp_path, line)
    assert "In the class tree" in shown
    assert "branch, %" in shown
    (method,) = json.loads(run(tmp_path, f"{line} --json"))["methods"]
    assert set(method["tree"]) == {
        *("leaf_accuracy", "wrong_branch", "coverage", "ancestor_accuracy")
    }


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


def test_predictions_back_off_to_a_parent(folder: Path) -> None:
    run(folder, "settings shop world=closed")
    plain = json.loads(run(folder, "predict shop --all --ignore-labels --json"))["predictions"]
    assert "leaf" not in plain[0]
    run(folder, "move shop hats shoes --parent wear --promote")
    # No class reaches this threshold alone, and together they have all of the probability.
    least = (1.0 + max(row["confidence"] for row in plain)) / 2.0
    line = f"predict shop --all --ignore-labels --min-confidence {least}"
    found = json.loads(run(folder, f"{line} --json"))["predictions"]
    reasons = [row["reason"] for row in found]
    assert {(row["reason"], row["class"], row["depth"]) for row in found} == {
        ("ancestor", "wear", 0)
    }
    assert [row["leaf"] for row in found] == [row["class"] for row in plain]
    shown = run(folder, f"{line} --top 2")
    assert "wear" in shown
    told = run(folder, f"{line} --csv out.csv")
    assert f"{reasons.count('ancestor')} with an ancestor of the best class" in told
    assert (folder / "out.csv").read_text().splitlines()[0].endswith('"leaf","depth"')
