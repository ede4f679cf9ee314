"""A store made of tables with text: it grows, and is asked by keys that are text."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from nodegraft.store.store import Store
from tests.service.served import asked, make_of_tables
from tests.store.test_node_types import KEY
from tests.store.test_node_types import tables as typed_tables


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("tables") / "wear"
    make_of_tables(place)
    return place


@pytest.fixture(scope="module")
def client(tables: Path) -> Iterator[TestClient]:
    with asked(tables) as client:
        yield client


def test_new_nodes_are_taken_in_and_answered(tables: Path, tmp_path: Path) -> None:
    rows = {
        "nodes": [{"key": "x/1", "text": "felt cap wool", "price": 3}, {"key": "x2"}],
        "edges": [{"source": "x/1", "target": "hats3"}],
    }
    shutil.copytree(tables, tmp_path / "wear")
    with asked(tmp_path / "wear") as client:
        before = client.get("/readyz").json()["graph_version"]
        (unknown,) = client.post("/v1/predict", json={"keys": ["x/1"]}).json()["predictions"]
        assert (unknown["class"], unknown["reason"]) == (None, "unknown_key")
        sent: dict[str, Any] = {"json": rows, "params": {"promote": True}}
        key = {"Idempotency-Key": "1"}
        grown = client.post("/v1/nodes", **sent, headers=key)
        assert (grown.status_code, grown.json()["change"]["detail"]["added"]) == (201, 2)
        assert client.post("/v1/nodes", **sent, headers=key).json() == grown.json()
        found = client.post("/v1/predict", json={"keys": ["x/1"]}).json()
        assert found["predictions"][0]["class"] == "hats"
        assert found["graph_version"] == grown.json()["graph_version"] != before
        assert client.get("/v1/explain", params={"node": "x/1"}).json()["node"] == "x/1"
        keys = {"name": "keys", "shape": [1], "datatype": "BYTES", "data": ["x/1"]}
        answer = client.post("/v2/models/wear/infer", json={"inputs": [keys]}).json()
        assert answer["outputs"][0]["data"] == ["hats"]
        taught = {"classes": {"a/b ü": ["hats9", "hats10"]}, "override": "a test"}
        assert client.post("/v1/classes", json=taught).status_code == 201
        assert client.delete("/v1/classes/a%2Fb%20%C3%BC").status_code == 200


def test_nodes_of_several_types_are_added_by_type(tmp_path: Path) -> None:
    read = typed_tables()
    assert read.labels is not None
    Store.init(tmp_path / "typed", read.graph, read.labels, tables={"key": KEY}).close()
    rows = {
        "nodes": {"product": [{"sku": "p60", "text": "sole lace"}]},
        "edges": {"product:in:cart": [{"sku": "p60", "cart": "c4"}, {"sku": "p60", "cart": "x"}]},
    }
    with asked(tmp_path / "typed") as client:
        grown = client.post("/v1/nodes", json=rows, params={"promote": True})
        assert (grown.status_code, grown.json()["change"]["detail"]["added"]) == (201, 2)
        edge = {"type": "product:in:cart", "target": "cart:x"}
        asked_for = {"rows": [{"text": "sole", "edges": [edge]}]}
        (answer,) = client.post("/v1/predict", json=asked_for).json()["predictions"]
        assert answer["class"] == "shoes"
        refused = client.post("/v1/predict", json={"keys": ["cart:x"], "missing": "error"})
        assert refused.status_code == 422
        assert "is a node of type cart" in refused.json()["error"]["message"]
        explained = client.get("/v1/explain", params={"node": "p60"}).json()["explanation"]
        assert ["cart:c4"] in [label["through"] for label in explained["labels"]]


@pytest.mark.parametrize(
    "rows",
    [
        {"nodes": [{"key": "hats1"}]},
        {"nodes": [{"key": "x"}, {"key": 3}]},
        {"nodes": [{"key": "x", "text": [1.0]}]},
        {"nodes": [{"key": "x", "text": 10**30}]},
        {"nodes": [{"text": "felt"}]},
        {"nodes": [{"key": None}]},
        {"nodes": [{}]},
        {"edges": [{"source": "hats1", "target": "nobody"}]},
        {"edges": [{"source": "hats1"}]},
        {"edges": [{"source": 1, "target": 2}]},
        {"edges": [{"source": {"a": 1}, "target": 2}]},
    ],
)
def test_rows_that_fit_nowhere_are_told(rows: dict[str, Any], client: TestClient) -> None:
    answer = client.post("/v1/nodes", json=rows)
    assert answer.status_code == 422
    assert answer.json()["error"]["message"]
    assert client.get("/v1/versions").json()["newest"] == 1


def test_a_key_that_is_there_already_is_refused_in_terms_of_the_request(
    client: TestClient,
) -> None:
    row = {"key": "hats1", "text": "felt cap", "price": 3.0}
    refused = client.post("/v1/nodes", json={"nodes": [row]})
    assert refused.status_code == 422
    assert "hats1" in refused.json()["error"]["message"]
    assert "`nodes`" in refused.json()["error"]["what_to_do"]
    assert "repair" not in refused.text


def test_a_dry_run_says_what_would_come_and_makes_nothing(client: TestClient) -> None:
    rows = {
        "nodes": [{"key": "x1", "text": "felt cap wool", "price": 3}],
        "edges": [{"source": "x1", "target": "hats3"}],
        "dry_run": True,
    }
    key = {"Idempotency-Key": "dry"}
    seen = client.post("/v1/nodes", json=rows, headers=key)
    assert seen.status_code == 200
    told = seen.json()
    assert (told["nodes_added"], told["edges_added"], told["model_version"]) == (1, 1, 1)
    assert told["nodes_removed"] == told["edges_removed"] == told["labels_removed"] == 0
    assert told["labels_lost"] == {}
    assert told["predictions_compared"] == 24
    assert (told["objections"], told["warnings"]) == ([], [])
    assert client.get("/v1/versions").json()["newest"] == 1
    assert client.post("/v1/nodes", json={"nodes": [], "dry_run": True}).status_code == 409
    assert client.post("/v1/nodes", json={**rows, "dry_run": "yes"}).status_code == 422


def test_warnings_are_in_previews_and_changes(tables: Path, tmp_path: Path) -> None:
    shutil.copytree(tables, tmp_path / "wear")
    lesson = {"classes": {"caps": ["hats9"]}, "override": "a test"}
    with asked(tmp_path / "wear") as client:
        seen = client.post("/v1/classes:preview", json=lesson).json()
        assert any("'caps' has only 1 example" in one for one in seen["warnings"])
        key = {"Idempotency-Key": "caps"}
        taught = client.post("/v1/classes", json=lesson, headers=key)
        assert (taught.status_code, taught.json()["warnings"]) == (201, seen["warnings"])
        assert client.post("/v1/classes", json=lesson, headers=key).json() == taught.json()
