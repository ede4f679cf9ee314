"""The service and the command line predict rows that are not in the graph; nothing is logged."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from nodegraft.cli.app import app
from nodegraft.store.store import Store
from nodegraft.tables.read import read_graph
from tests.service.served import EDGES, NODES, WORDS, asked, make_of_tables

ROW = {"text": "felt brim secretword", "price": 4.0, "edges": [{"target": "hats3"}]}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("rows") / "wear"
    make_of_tables(place)
    return place


@pytest.fixture(scope="module")
def client(place: Path) -> Iterator[TestClient]:
    with asked(place) as client:
        yield client


def test_the_command_prints_what_the_service_sends(
    place: Path, client: TestClient, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        sent = client.post("/v1/predict", json={"rows": [ROW], "top": 2})
        refused = client.post(
            "/v1/predict", json={"rows": [{**ROW, "edges": [{"target": "secretkey"}]}]}
        )
    assert (sent.status_code, refused.status_code) == (200, 422)
    assert "row 1: 'secretkey'" in refused.json()["error"]["message"]
    assert "secret" not in caplog.text
    (found,) = sent.json()["predictions"]
    assert (found["node"], found["class"], found["reason"]) == ("row 1", "hats", "prediction")
    file = tmp_path / "new.jsonl"
    file.write_text(json.dumps(ROW) + "\n")
    call = ["predict", str(place), "--rows", str(file)]
    printed = CliRunner().invoke(app, [*call, "--json", "--top", "2"])
    assert json.loads(printed.stdout)["predictions"] == sent.json()["predictions"]
    shown = CliRunner().invoke(app, call).output
    assert "row 1" in shown
    assert "hats" in shown
    written = CliRunner().invoke(app, [*call, "--csv", str(tmp_path / "found.csv")])
    assert "predictions for 1 node" in written.output
    assert (tmp_path / "found.csv").read_text().count("\n") == 2


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "either `keys` or `rows`"),
        ({"keys": ["hats1"], "rows": [ROW]}, "either `keys` or `rows`"),
        ({"rows": []}, "at least 1"),
        ({"rows": [{**ROW, "price": "dear"}]}, "must hold numbers"),
        ({"rows": [{"text": "a"}]}, "missing columns: row 1: 'price'"),
    ],
)
def test_rows_that_cannot_be_used_are_refused(
    client: TestClient, body: dict[str, object], words: str
) -> None:
    response = client.post("/v1/predict", json=body)
    assert response.status_code == 422
    assert words in response.json()["error"]["message"]


def test_options_that_are_about_nodes_are_refused(place: Path, tmp_path: Path) -> None:
    (tmp_path / "new.jsonl").write_text(json.dumps(ROW))
    call = ["predict", str(place), "--rows", str(tmp_path / "new.jsonl")]
    for options, words in (
        (["--missing", "skip"], "no effect on --rows"),
        (["--all"], "one of --nodes"),
    ):
        refused = CliRunner().invoke(app, [*call, *options])
        assert refused.exit_code == 2
        assert words in " ".join(refused.output.split())


def test_a_value_that_the_store_has_never_seen_is_noted(tmp_path: Path) -> None:
    nodes = pa.table(NODES | {"brand": ["acme", "best"] * 12})
    graph = read_graph(nodes, pa.table(EDGES), text="text", categories="brand")
    labels = {name: [f"{name}{number}" for number in range(5)] for name in WORDS}
    known = {"text": "felt brim", "brand": "acme"}
    new = {"text": "qqqq", "brand": "zenith", "key": "mine"}
    note = (
        "1 row whose text is missing or has no known word (for example mine). "
        "1 row with a new value of 'brand', treated as missing (for example zenith)."
    )
    with Store.init(tmp_path / "wear", graph, labels, method="nearest-centroid") as store:
        assert store.predict(rows=[known]).rows_note is None
        assert store.predict(rows=[known, new]).rows_note == note
    file = tmp_path / "new.jsonl"
    file.write_text(f"{json.dumps(known)}\n{json.dumps(new)}\n")
    call = ["predict", str(tmp_path / "wear"), "--rows", str(file)]
    assert json.loads(CliRunner().invoke(app, [*call, "--json"]).stdout)["rows_note"] == note
    written = CliRunner().invoke(app, [*call, "--csv", str(tmp_path / "found.csv")])
    for output in (written.output, CliRunner().invoke(app, call).output):
        assert "zenith" in output
    with asked(tmp_path / "wear") as client:
        sent = client.post("/v1/predict", json={"rows": [new]}).json()
    assert sent["rows_note"] == note
