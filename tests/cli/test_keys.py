"""Keys on the command line and in tables of a store keep their type."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

from nodegraft.cli.app import app
from nodegraft.store.store import Store
from tests.service.served import asked


def call(*arguments: object, code: int = 0) -> str:
    done = CliRunner().invoke(app, [str(part) for part in arguments], env={"COLUMNS": "200"})
    assert done.exit_code == code, done.output
    return " ".join(done.output.split())


def tables(folder: Path, spelt: Any) -> dict[str, Path]:
    """Nodes 1 to 24 in two classes, keys spelt by a function."""
    keys = [spelt(number) for number in range(1, 25)]
    columns = {
        "nodes": {"id": keys, "x": [float(place < 12) for place in range(24)]},
        "edges": {"from": keys[:-1], "to": keys[1:]},
        "labels": {"node": keys, "label": ["a"] * 12 + ["b"] * 12},
        "more": {"id": [spelt(25)], "x": [1.0]},
        "ask": {"key": [spelt(3)]},
        "new": {"node": [spelt(25)], "label": ["c"]},
    }
    places = {name: folder / f"{name}.csv" for name in columns}
    for name, content in columns.items():
        pa.csv.write_csv(pa.table(content), places[name])
    return places


def made(folder: Path, spelt: Any, *options: str) -> tuple[Path, dict[str, Path]]:
    files, store = tables(folder, spelt), folder / "store"
    named = [word for name in ("nodes", "edges", "labels") for word in (f"--{name}", files[name])]
    columns = ("--key", "id", "--label-key", "node", "--source-key", "from", "--target-key", "to")
    call("init", store, *named, *columns, "--features", "x", *options)
    return store, files


@pytest.mark.parametrize(
    ("spelt", "options", "key_type", "key"),
    [
        (lambda number: f"{number:03}", (), "text", "003"),
        (int, (), "integer", 3),
        (int, ("--key-type", "text"), "text", "3"),
    ],
    ids=["padded", "integers", "text"],
)
def test_all_tables_of_a_store_follow_its_key_type(
    spelt: Any, options: tuple[str, ...], key_type: str, key: Any, tmp_path: Path
) -> None:
    store, files = made(tmp_path, spelt, *options)
    out = tmp_path / "answers.parquet"
    call("predict", store, "--table", files["ask"], "--parquet", out)
    assert pa.parquet.read_table(out)["node"].to_pylist() == [key]
    call("predict", store, "--nodes", f"{key},{spelt(12)}")
    call("sync", store, "--nodes", files["nodes"], "--edges", files["edges"])
    call("grow", store, "--nodes", files["more"])
    call("add", store, "--labels", files["new"], "--label-key", "node", "--override", "test")
    with Store.open(store) as opened:
        assert opened.version(1).detail["tables"]["key_type"] == key_type
        assert opened.graph().keys_of([2]) == [key]
        assert opened.graph().num_nodes == 25


def test_an_integer_is_typed_in_one_way(tmp_path: Path) -> None:
    store, _ = made(tmp_path, int)
    assert "'007' is not one" in call("predict", store, "--nodes", "007", code=2)
    assert "'007' is not one" in call("explain", store, "007", code=2)
    message = call("purge", store, "007", "--yes", code=2)
    assert "keys of this graph are integers" in message
    with asked(store) as client:
        assert client.get("/v1/explain", params={"node": "007"}).status_code == 422
        answer = client.post("/v1/predict", json={"keys": ["7"]}).json()
        assert "keys of this graph are of type integer" in answer["error"]["message"]


def test_a_number_for_a_text_key_is_refused(tmp_path: Path) -> None:
    store, _ = made(tmp_path, int, "--key-type", "text")
    with asked(store) as client:
        answer = client.post("/v1/predict", json={"keys": [7]}).json()
        assert "keys of this graph are of type text, and 7" in answer["error"]["message"]
        answer = client.post("/v1/classes", json={"classes": {"c": [7]}}).json()
        assert "keys of this graph are of type text" in answer["error"]["message"]


def test_a_row_that_is_no_integer_is_named(tmp_path: Path) -> None:
    files = tables(tmp_path, lambda number: f"{number:02}")
    named = [word for name in ("nodes", "edges", "labels") for word in (f"--{name}", files[name])]
    columns = ("--key", "id", "--label-key", "node", "--source", "from", "--target", "to")
    message = call(
        "init",
        tmp_path / "store",
        *named,
        *columns,
        "--features",
        "x",
        "--key-type",
        "integer",
        code=2,
    )
    assert "Row 1 of" in message
    assert "has '01' in column 'id'" in message
    assert "--key-type text" in message


def test_another_spelling_of_a_class_needs_force_name(tmp_path: Path) -> None:
    store, files = made(tmp_path, int)
    call("grow", store, "--nodes", files["more"])
    named = ("add", store, "--class", "A", "--nodes", "25", "--override", "test")
    assert "'A' differs from 'a' only by case" in call(*named, code=2)
    body: dict[str, Any] = {"classes": {"A": [25]}, "override": "test"}
    with asked(store) as client:
        refused = client.post("/v1/classes:preview", json=body)
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "similar_name")
        assert '"force_name": true' in refused.json()["error"]["what_to_do"]
        assert "--" not in refused.text
        body["force_name"] = True
        assert client.post("/v1/classes:preview", json=body).status_code == 200
        for name in ("x" * 201, "a\0b", " x"):
            answer = client.post("/v1/classes", json={"classes": {name: [25]}})
            assert answer.status_code in (409, 422), name
            assert answer.json()["error"]["code"] in ("class_name", "parameter")
        answer = client.post("/v1/classes", json={"classes": {"c": [25]}, "note": "a\0b"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, "parameter")
    call(*named, "--force-name")
    call("rename", store, "A", "c")
    assert "--force-name" in call("rename", store, "c", "B", code=2)
    call("rename", store, "c", "B", "--force-name")
    call("undo", store)


def test_keys_that_are_no_integers_do_not_end_a_batch(tmp_path: Path) -> None:
    store, _ = made(tmp_path, int)
    batch = tmp_path / "batch.csv"
    batch.write_text("id\n7\n007\nabc\n" + "3\n" * 60)
    out = tmp_path / "out.parquet"
    call("predict", store, "--table", batch, "--key", "id", "--parquet", out)
    rows = pa.parquet.read_table(out).to_pylist()
    assert [row["node"] for row in rows[:3]] == ["7", "007", "abc"]
    assert [row["reason"] for row in rows[1:3]] == ["unknown_key"] * 2
    assert rows[0]["class"] == "a"
    assert "unknown key" in call("predict", store, "--table", batch, "--key", "id")
    named = call("predict", store, "--nodes", "7,abc", "--missing", "null", "--json")
    assert '"reason": "unknown_key"' in named
    said = call("predict", store, "--table", batch, "--key", "id", "--missing", "error", code=2)
    assert "2 of 63 nodes are not in this graph: '007', 'abc'" in said
    with asked(store) as client:
        body = {"keys": [7, "007"]}
        answers = client.post("/v1/predict", json=body).json()["predictions"]
        assert answers[1]["reason"] == "unknown_key"
        assert client.post("/v1/predict", json={"keys": ["7", "8"]}).status_code == 422
        answer = client.post("/v1/labels", json={"labels": {"a": ["7"]}}).json()
        assert "keys of this graph are of type integer" in answer["error"]["message"]
