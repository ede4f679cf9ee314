"""What the commands of a store show, and what they say of input that does not fit."""

import csv
import json
import shlex
import shutil
from pathlib import Path

import pytest
from pyarrow import parquet
from pyarrow.csv import read_csv
from rich.console import Console
from typer.testing import CliRunner, Result

from nodegraft.analysis.results.nodes import NewClass
from nodegraft.cli.app import app
from nodegraft.cli.render.explanation import explanation_lines
from nodegraft.cli.render.inspect import new_class_lines
from nodegraft.cli.render.values import likely
from nodegraft.methods.graft import Graft
from nodegraft.model import best_classes
from tests.store.small import add_later_revision

NODES = {
    **{f"cap{n}": f"a soft cap with a brim number {n}" for n in range(12)},
    **{f"boot{n}": f"a hard boot with a heel number {n}" for n in range(12)},
    **{f"lamp{n}": f"a bright lamp for a room number {n}" for n in range(6)},
    "odd, one": "a bright thing number 9",
}


def call(*arguments: str, columns: int = 80) -> Result:
    return CliRunner().invoke(app, arguments, env={"COLUMNS": str(columns)})


def table(place: Path, head: str, rows: list[tuple[str, str]]) -> str:
    cells = [f'"{first}","{second}"' for first, second in rows]
    place.write_text("\n".join([head, *cells, ""]))
    return str(place)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A store, and tables by name."""
    folder = tmp_path_factory.mktemp("shop")
    known = [(key, key.rstrip("0123456789")) for key in NODES if key.startswith(("cap", "boot"))]
    edges = [(key, f"{name}0") for key, name in known if key != f"{name}0"]
    places = {
        "store": str(folder / "store"),
        "nodes": table(folder / "nodes.csv", "key,text", list(NODES.items())),
        "edges": table(folder / "edges.csv", "source,target", edges),
        "labels": table(folder / "labels.csv", "key,label", known),
        "empty": table(folder / "empty.csv", "key,label", []),
    }
    done = call("init", places["store"], *tables(places), "--text", "text")
    assert done.exit_code == 0, done.output
    assert "2 classes, 24 labels" in " ".join(done.output.split())
    assert "World: open." in " ".join(done.output.split())
    return places


def tables(places: dict[str, str], labels: str = "labels") -> list[str]:
    parts = {"nodes": "nodes", "edges": "edges", "labels": labels}
    return [word for option, name in parts.items() for word in (f"--{option}", places[name])]


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_all_answers_are_written_block_by_block(
    shop: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    monkeypatch.setattr(Graft, "block_rows", 8)
    monkeypatch.setattr(best_classes, "BLOCK_ROWS", 8)
    out = tmp_path / f"answers.{ending}"
    asked = (
        "--all",
        "--top",
        "2",
        "--min-confidence",
        "1.0",
        f"--{ending}",
        str(out),
        "--version",
        "1",
    )
    done = call("predict", shop["store"], *asked)
    read = {"parquet": parquet.read_table, "csv": read_csv}[ending](str(out))
    assert read["node"].to_pylist() == list(NODES)
    assert read.column_names[-2:] == ["class_2", "probability_2"]
    assert not any(read["prediction"].to_pylist())
    labelled = [name for name in NODES if name.startswith(("cap", "boot"))]
    assert [bool(name) for name in read["class"].to_pylist()] == [
        node in labelled for node in NODES
    ]
    told = " ".join(done.output.split())
    assert f"predictions for {len(NODES)} nodes (24 with a label, " in told
    assert f"{len(NODES) - 24} below --min-confidence)." in told
    assert [one.name for one in tmp_path.iterdir()] == [out.name]
    if ending == "parquet":
        assert parquet.ParquetFile(out).num_row_groups == 4


def test_answers_say_who_gave_them_and_who_is_newer(shop: dict[str, str]) -> None:
    assert call("predict", shop["store"], "--nodes", "cap1").output.endswith(
        "by version 1 (live).\n"
    )
    lamps = ("add", shop["store"], "--class", "lamp", "--nodes", "lamp0,lamp1,lamp2")
    assert call(*lamps).exit_code == 0
    old = call("predict", shop["store"], "--nodes", "lamp3", "--top", "3").output
    assert "Version 2 waits for review: try it with --version 2" in " ".join(old.split())
    new = call("predict", shop["store"], "--nodes", '"odd, one",lamp3', "--version", "2").output
    assert "odd, one" in new
    assert "Predicted by version 2." in new
    assert call("undo", shop["store"]).exit_code == 0
    told = call("history", shop["store"]).output
    assert "1 live" in told
    assert "add lamp (3)" in told


def test_what_is_kept_back_is_named_beside(shop: dict[str, str]) -> None:
    told = call("predict", shop["store"], "--nodes", "cap1,lamp3", "--min-confidence", "1").output
    row = next(line for line in told.splitlines() if "lamp3" in line)
    assert "abstains" in row
    assert "cap" in row or "boot" in row


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_an_explanation_fits_its_place(shop: dict[str, str], columns: int) -> None:
    told = call("explain", shop["store"], "cap3", columns=columns).output
    assert told.startswith("cap3 is predicted to be cap")
    assert "Its label is cap." in " ".join(told.split())
    assert max(map(len, told.splitlines())) <= columns
    assert "-0.00" not in told


def test_a_node_is_explained_where_there_is_one_class_only() -> None:
    said = {"signal": "diffusion, time 2", "for": 1.0, "for_runner_up": 1.0}
    told = {
        **{"answer": "cap", "probability": 1.0, "runner_up": "cap", "runner_up_probability": 1.0},
        **{"signals": [said], "labels": [], "unlabelled_nodes": 0.0, "relations": []},
        **{"confidence": 0.4, "known": 0.4, "world": "open", "note": "The estimate moves it."},
    }
    console = Console(width=80)
    with console.capture() as seen:
        console.print(explanation_lines("a", "boot", None, told))
    words = " ".join(seen.get().split())
    assert words.startswith("a is predicted to be cap, the only class there is. Confidence 40 %: ")
    assert "probability 100 % × known 40 %. It probably belongs to no known class: 60 %." in words
    assert "Its label is boot, which the prediction contradicts. The estimate moves it." in words

    told["world"] = "closed"
    with console.capture() as seen:
        console.print(explanation_lines("a", "boot", None, told))
    assert "belongs to no known class" not in " ".join(seen.get().split())


def test_a_method_without_an_open_set_score_is_closed(shop: dict[str, str], tmp_path: Path) -> None:
    place = str(tmp_path / "mean")
    line = ("init", place, *tables(shop), "--text", "text", "--method", "sgc-mean")
    refused = call(*line, "--world", "open")
    assert refused.exit_code != 0
    assert "sgc-mean has no open-set score" in " ".join(refused.output.split())
    told = " ".join(call(*line).output.split())
    assert "World: closed (sgc-mean has no open-set score)." in told
    shown = call("settings", place).output
    assert "closed" in next(line for line in shown.splitlines() if "world" in line)
    assert call("settings", place, "world=open").exit_code != 0


def test_a_table_with_unknown_keys_is_answered(shop: dict[str, str], tmp_path: Path) -> None:
    asked = tmp_path / "asked.csv"
    asked.write_text("key\ncap1\nnowhere\nlamp3\n")
    said = call("predict", shop["store"], "--table", str(asked)).output
    assert "unknown key" in next(line for line in said.splitlines() if "nowhere" in line)
    assert "cap (label)" in next(line for line in said.splitlines() if "cap1" in line)
    for name in ("confidence", "probability", "known"):
        assert name in said
    out = tmp_path / "answers.csv"
    done = call("predict", shop["store"], "--table", str(asked), "--csv", str(out))
    assert "1 not in the graph" in " ".join(done.output.split())
    rows = read_csv(str(out)).to_pylist()
    assert [row["reason"] for row in rows] == ["own_label", "unknown_key", "prediction"]
    skipped = call("predict", shop["store"], "--table", str(asked), "--missing", "skip")
    assert "nowhere" not in skipped.output
    refused = call("predict", shop["store"], "--table", str(asked), "--missing", "error")
    assert refused.exit_code == 2
    assert "'nowhere'" in refused.stderr


def test_all_unknown_keys_of_a_command_are_named(shop: dict[str, str]) -> None:
    refused = call("predict", shop["store"], "--nodes", "here,cap1,there")
    assert refused.exit_code == 2
    assert "2 of 3 nodes are not in this graph: 'here', 'there'" in refused.stderr
    told = call("predict", shop["store"], "--nodes", "here,cap1", "--missing", "null").output
    assert "unknown key" in told


def test_json_is_that_of_the_service(shop: dict[str, str]) -> None:
    done = call("predict", shop["store"], "--nodes", "cap1,lamp3", "--top", "2", "--json")
    found = json.loads(done.output)
    assert (found["model_version"], found["world"]) == (1, "open")
    first, second = found["predictions"]
    assert (first["class"], first["label"], first["reason"]) == ("cap", "cap", "own_label")
    # Of so few classes there is no estimate of how many nodes belong to them.
    assert (second["confidence"], second["known"]) == (second["probability"], None)
    assert second["top"][0] == {"class": second["class"], "probability": second["probability"]}
    ignoring = ("predict", shop["store"], "--nodes", "cap1", "--ignore-labels", "--json")
    assert json.loads(call(*ignoring).output)["predictions"][0]["reason"] == "prediction"
    assert call("predict", shop["store"], "--all", "--json", "--csv", "x.csv").exit_code == 2


def test_a_store_is_made_in_a_declared_world(shop: dict[str, str], tmp_path: Path) -> None:
    place = str(tmp_path / "closed")
    done = call("init", place, *tables(shop), "--text", "text", "--world", "closed")
    told = " ".join(done.output.split())
    assert "World: closed." in told
    assert "world=open" in told
    found = json.loads(call("predict", place, "--nodes", "lamp3", "--json").output)
    (answer,) = found["predictions"]
    assert (found["world"], answer["confidence"]) == ("closed", answer["probability"])
    card = " ".join(call("card", place).output.split())
    assert "World when this card was written: closed" in card
    assert "because the world is closed" in " ".join(call("explain", place, "lamp3").output.split())


@pytest.mark.parametrize("columns", [80, 120])
def test_texts_are_shown_on_one_line_each(shop: dict[str, str], columns: int) -> None:
    lamps = ("--class", "lamp", "--nodes", "lamp0,lamp1,lamp2", "--dry-run")
    for arguments, node in (
        (("add", shop["store"], *lamps), "lamp3"),
        (("predict", shop["store"], "--nodes", "lamp3", "--top", "2"), "lamp3"),
        (("predict", shop["store"], "--nodes", "lamp3"), "lamp3"),
        (("explain", shop["store"], "lamp3"), ""),
        (("suggest", shop["store"], "--count", "7"), "lamp"),
    ):
        told = call(*arguments, columns=columns).output.splitlines()
        assert [line for line in told if node in line and "a bright lamp" in line], told
        assert max(map(len, told)) <= columns


def test_an_older_store_is_migrated_when_asked_to(
    shop: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = str(tmp_path / "old")
    shutil.copytree(shop["store"], old)
    add_later_revision(tmp_path / "scripts", monkeypatch)
    refused = call("predict", old, "--nodes", "cap1")
    assert refused.exit_code == 2
    assert "run `nodegraft migrate STORE`" in refused.stderr
    assert call("migrate", old).output == "Updated the tables from revision 0100 to 0101.\n"
    assert "Nothing to do" in call("migrate", old).output
    told = call("predict", old, "--nodes", "cap1").output
    assert "cap1" in told


def test_a_group_is_shown_with_the_command_that_teaches_it() -> None:
    group = NewClass(21, ("desk", "lamp"), ("lamp1", "odd, one"))
    console = Console(width=60)
    with console.capture() as seen:
        for groups in ({group: ["a bright lamp", None]}, {}):
            for lines in new_class_lines(Path("my shop"), groups):
                console.print(lines, soft_wrap=True)
    told = seen.get()
    assert "21 nodes: desk, lamp" in told
    command = next(line for line in told.splitlines() if "nodegraft add" in line)
    _, _, place, _, _, _, nodes, _ = shlex.split(command)
    assert place == "my shop"
    assert next(csv.reader([nodes])) == ["lamp1", "odd, one"]
    assert told.endswith("No group of nodes looks like an unknown class.\n")


def test_shares_are_never_rounded_to_certainty() -> None:
    shown = [likely(share) for share in (0.0, 0.001, 0.006, 0.5, 0.994, 0.9999, 1.0)]
    assert shown == ["0 %", "<1 %", "1 %", "50 %", "99 %", ">99 %", "100 %"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["predict", "{store}", "--nodes", "cap1,Cap2"], "no node 'Cap2' in this graph. Did you"),
        (["predict", "{store}", "--nodes", "xyzzy"], "There is no node 'xyzzy' in this graph."),
        (["predict", "{store}", "--nodes", " , "], "No node key was given"),
        (["predict", "{store}", "--nodes", "cap1", "--all"], "one of --nodes"),
        (["explain", "{store}", "cap1,cap2"], "There is no node 'cap1,cap2'"),
        (["add", "{store}", "--labels", "{empty}"], "empty.csv has no label: its column 'label'"),
        (
            ["split", "{store}", "cap", "--into", "a=cap1", "--into", "b"],
            "must have the form CLASS=",
        ),
    ],
)
def test_errors_say_what_to_do(shop: dict[str, str], arguments: list[str], sentence: str) -> None:
    done = call(*(word.format(**shop) for word in arguments))
    assert done.exit_code == 2
    assert sentence in done.stderr


def test_a_store_needs_labels(shop: dict[str, str], tmp_path: Path) -> None:
    done = call("init", str(tmp_path / "s"), *tables(shop, labels="empty"), "--text", "text")
    assert done.exit_code == 2
    assert "empty.csv has no label" in done.stderr


@pytest.mark.parametrize("command", ["label", "relabel"])
def test_known_classes_have_no_name_to_force(shop: dict[str, str], command: str) -> None:
    line = (command, shop["store"], "--class", "cap", "--nodes", "lamp1", "--dry-run")
    done = call(*line, "--force-name")
    assert done.exit_code == 2
    assert "No such option" in done.output


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_no_word_is_cut_in_a_narrow_terminal(shop: dict[str, str], columns: int) -> None:
    line = ("predict", shop["store"], "--nodes", "cap1,lamp3", "--top", "2")
    head, *rows = call(*line, columns=columns).output.strip().splitlines()
    assert head.split()[:5] == ["node", "class", "confidence", "probability", "known"]
    assert {row.split()[0] for row in rows if row.strip()} >= {"cap1", "lamp3"}
    assert ("text" in head.split()) <= (columns > 60)
