"""Commands for stores whose nodes may have several labels."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from nodegraft.cli.app import PANELS, app

TEXTS = {
    "vim": "text editor in a terminal",
    "emacs": "text editor with windows",
    "ed": "line editor in a terminal",
    "chess": "board game with windows",
    "go": "board game in a terminal",
    "tetris": "falling blocks game with windows",
    "nano": "small editor in a terminal",
    "sudoku": "number game with windows",
}
LABELS = {
    "editor": ["vim", "emacs", "ed"],
    "game": ["chess", "go", "tetris"],
    "graphical": ["emacs", "chess", "tetris"],
}
TERMINAL = ("--class", "terminal", "--nodes", "vim,ed,go")


def invoke(*arguments: str, code: int = 0) -> str:
    """Return what a command prints to standard output, or its error."""
    done = CliRunner().invoke(app, arguments, env={"COLUMNS": "120"})
    assert done.exit_code == code, done.output
    return done.stderr if code else done.stdout


def in_json(*arguments: str) -> Any:
    return json.loads(invoke(*arguments, "--json"))


def write(place: Path, *rows: tuple[str, str]) -> str:
    place.write_text("\n".join(map(",".join, rows)) + "\n")
    return str(place)


@pytest.fixture
def tables(tmp_path: Path) -> list[str]:
    edges = [("vim", "nano"), ("ed", "nano"), ("chess", "sudoku"), ("go", "chess")]
    pairs = [(key, name) for name, keys in LABELS.items() for key in keys]
    places = {
        "nodes": write(tmp_path / "nodes.csv", ("key", "text"), *TEXTS.items()),
        "edges": write(tmp_path / "edges.csv", ("source", "target"), *edges),
        "labels": write(tmp_path / "labels.csv", ("key", "label"), *pairs),
    }
    return [part for name, place in places.items() for part in (f"--{name}", place)]


@pytest.fixture
def store(tables: list[str], tmp_path: Path) -> str:
    place = str(tmp_path / "packages")
    text = invoke("init", place, *tables, "--text", "text", "--several-labels")
    assert "3 classes, 9 labels of 6 nodes" in text
    return place


def test_a_store_is_taught_undone_and_promoted(store: str) -> None:
    preview = in_json("add", store, *TERMINAL, "--dry-run")
    (added,) = [effect for effect in preview["classes"] if effect["name"] == "terminal"]
    assert (added["labels"], added["lost"]) == (3, 0)
    assert added["gained"] == added["predicted"] > 0
    assert "Dry run" in invoke("add", store, *TERMINAL, "--dry-run")
    made = in_json("add", store, *TERMINAL, "--promote")
    assert (made["model_version"], made["live"], made["card"]) == (2, 2, None)
    assert made["change"]["predictions_changed"] == preview["predictions_changed"]
    invoke("label", store, "--class", "editor", "--nodes", "nano")
    invoke("unlabel", store, "--class", "editor", "--nodes", "nano,ed")
    invoke("remove", store, "game")
    assert "Version 5 is live" in invoke("promote", store)
    counts = {known["name"]: known["labels"] for known in in_json("classes", store)["classes"]}
    assert counts == {"editor": 2, "graphical": 3, "terminal": 3}
    assert "graphical" in invoke("classes", store)
    invoke("undo", store)
    invoke("discard", store)
    assert "Version 2 is live again" in invoke("rollback", store)
    history = in_json("history", store)["history"]
    actions = [entry["action"] for entry in reversed(history)]
    assert actions == ["init", "add", "label", "unlabel", "remove", "undo", "discard"]
    invoke("prune", store)
    invoke("verify", store)
    assert "opens" in invoke("doctor", store)


def test_a_prediction_has_several_classes(store: str) -> None:
    (emacs, nobody) = in_json("predict", store, "--nodes", "emacs,x", "--missing", "null")[
        "predictions"
    ]
    assert {found["class"] for found in emacs["classes"]} == {"editor", "graphical"}
    assert all(found["reason"] == "own_label" for found in emacs["classes"])
    assert all(found["probability"] >= found["threshold"] for found in emacs["classes"])
    assert (nobody["found"], nobody["classes"]) == (False, [])
    text = invoke("predict", store, "--nodes", "emacs,nano")
    assert "(label)" in text
    assert "small editor" in text


def test_a_table_has_a_row_for_each_node_and_class(store: str, tmp_path: Path) -> None:
    place = tmp_path / "p.parquet"
    assert "of 8 nodes" in invoke("predict", store, "--all", "--parquet", str(place))
    rows = pq.read_table(place).to_pylist()
    assert list(rows[0]) == ["node", "class", "probability", "threshold", "reason"]
    assert {row["node"] for row in rows} == set(TEXTS)
    own = {(row["node"], row["class"]) for row in rows if row["reason"] == "own_label"}
    assert own == {(key, name) for name, keys in LABELS.items() for key in keys}
    keys = write(tmp_path / "keys.csv", ("key", "note"), ("chess", ""), ("nobody", ""))
    text = invoke("predict", store, "--table", keys, "--csv", "-")
    read = list(csv.DictReader(io.StringIO(text)))
    assert [row["reason"] for row in read] == ["own_label", "own_label", "unknown_key"]


def test_a_table_of_labels_may_name_a_node_twice(store: str, tmp_path: Path) -> None:
    rows = [("vim", "terminal"), ("go", "terminal"), ("vim", "small")]
    table = write(tmp_path / "new.csv", ("key", "label"), *rows)
    invoke("add", store, "--labels", table)
    found = in_json("classes", store, "--version", "2")["classes"]
    assert {known["name"]: known["labels"] for known in found[3:]} == {"small": 1, "terminal": 2}


def test_labels_of_a_table_are_removed(store: str, tmp_path: Path) -> None:
    table = write(
        tmp_path / "old.csv", ("key", "label"), ("emacs", "editor"), ("emacs", "graphical")
    )
    invoke("unlabel", store, "--labels", table)
    found = in_json("classes", store, "--version", "2")["classes"]
    assert {known["name"]: known["labels"] for known in found} == {
        "editor": 2,
        "game": 3,
        "graphical": 2,
    }


def test_a_class_is_renamed(store: str) -> None:
    assert in_json("rename", store, "game", "play")["change"]["predictions_changed"] == 0
    names = [known["name"] for known in in_json("classes", store, "--version", "2")["classes"]]
    assert names == ["editor", "play", "graphical"]


def test_a_store_grows(store: str, tmp_path: Path) -> None:
    nodes = write(
        tmp_path / "more.csv", ("key", "text"), ("pico", "small text editor in a terminal")
    )
    arguments = ("grow", store, "--nodes", nodes)
    assert in_json(*arguments, "--dry-run")["predictions_compared"] == 8
    assert in_json(*arguments, "--promote")["change"]["detail"]["added"] == 1
    assert "editor" in invoke("predict", store, "--nodes", "pico")


def test_tables_with_several_labels_need_the_option(tables: list[str], tmp_path: Path) -> None:
    error = invoke("init", str(tmp_path / "s"), *tables, "--text", "text", code=2)
    assert "labels of nodes with another class" in error
    assert "a new store keeps all with --several-labels" in " ".join(error.split())


def test_classes_with_one_label_are_warned_of(tables: list[str], tmp_path: Path) -> None:
    with (tmp_path / "labels.csv").open("a") as file:
        file.write("vim,single\n")
    arguments = (*tables, "--text", "text", "--several-labels")
    text = invoke("init", str(tmp_path / "a"), *arguments)
    assert "Warning: Class 'single' has only 1 label" in " ".join(text.split())
    (warning,) = in_json("init", str(tmp_path / "b"), *arguments)["warnings"]
    assert "'single'" in warning


SUPPORTED = {
    *(
        "add",
        "classes",
        "discard",
        "doctor",
        "grow",
        "history",
        "init",
        "label",
        "migrate",
        "predict",
    ),
    *("promote", "prune", "remove", "rename", "rollback", "serve", "undo", "unlabel", "verify"),
}
NO_STORE = {"example", "build", "propagate"}
ARGUMENTS = {
    "sync": ("--nodes", "nodes.csv"),
    "relabel": TERMINAL,
    "merge": ("game", "editor", "--into", "x"),
    "split": ("game", "--into", "a=chess", "--into", "b=go,tetris"),
    "move": ("game", "--parent", "x"),
    "explain": ("vim",),
    "purge": ("vim", "--yes"),
}


def test_all_other_commands_refuse(store: str) -> None:
    commands = {name for panel in PANELS.values() for name in panel}
    for name in sorted(commands - SUPPORTED - NO_STORE):
        error = invoke(name, store, *ARGUMENTS.get(name, ()), code=2)
        says = " ".join(error.split())
        assert "is not supported for a store with several labels per node." in says, name
        assert name in says.lower()
    assert [entry["action"] for entry in in_json("history", store)["history"]] == ["init"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("predict", "--all", "--top", "3"), "--top is not supported"),
        (("predict", "--all", "--top", "1"), "--top is not supported"),
        (("remove", "game", "game"), "given twice: 'game'"),
        (("unlabel", "--class", "editor", "--nodes", "vim,vim"), "lists a node twice: 'vim'"),
        (("predict", "--all", "--coverage", "0.9"), "--coverage is not supported"),
        (("predict", "--rows", "x.jsonl"), "--rows is not supported"),
        (("add", *TERMINAL, "--parent", "game"), "'parent' of 'add' is not supported"),
        (("add", *TERMINAL, "--override", "sure"), "No quality gate"),
        (("unlabel", "--nodes", "vim"), "give --class NAME"),
    ],
)
def test_options_without_meaning_are_refused(
    store: str, arguments: tuple[str, ...], says: str
) -> None:
    command, *others = arguments
    assert says in " ".join(invoke(command, store, *others, code=2).split())
