"""Every change of labels over HTTP: previewed first, then made; and what the page reads."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.service.served import asked, make_of_tables

CHANGES: list[dict[str, Any]] = [
    {"action": "add", "classes": {"caps": ["hats9", "hats10"]}},
    {"action": "label", "more": {"hats": ["hats7"]}},
    {"action": "relabel", "classes": {"shoes": ["hats0"]}},
    {"action": "unlabel", "keys": ["hats1"]},
    {"action": "rename", "old": "hats", "new": "headwear"},
    {"action": "merge", "names": ["headwear", "shoes"], "into": "wear"},
    {"action": "remove", "names": ["caps"]},
    {"action": "add", "classes": {"caps": ["hats9", "hats10"]}, "parent": "goods"},
    {"action": "move", "parents": {"wear": "goods", "caps": "wear"}},
]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    place = tmp_path_factory.mktemp("changes") / "shop"
    make_of_tables(place)
    with asked(place) as client:
        yield client


def test_every_change_is_previewed_and_made(tmp_path: Path) -> None:
    make_of_tables(tmp_path / "shop")
    with asked(tmp_path / "shop") as client:
        for number, change in enumerate(CHANGES, start=2):
            preview = client.post("/v1/changes", json={**change, "dry_run": True})
            assert (preview.status_code, preview.json()["model_version"]) == (200, number - 1)
            assert preview.json()["predictions_compared"] == 24
            sent = {**change, "note": "a test", "override": "a test"}
            made = client.post("/v1/changes", json=sent)
            assert (made.status_code, made.json()["model_version"]) == (201, number)
            assert made.json()["change"]["action"] == change["action"]
        known = client.get("/v1/classes?version=candidate").json()
    assert {own["name"]: own["parent"] for own in known["classes"]} == {
        "wear": "goods",
        "caps": "wear",
    }
    assert known["groups"] == [{"name": "goods", "parent": None}]


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"action": "rename", "old": "socks", "new": "caps"}, 404, "unknown_class"),
        ({"action": "merge", "names": ["hats", "socks"], "into": "hats"}, 404, "unknown_class"),
        ({"action": "rename", "old": "hats", "new": "SHOES"}, 409, "similar_name"),
        ({"action": "move", "parents": {"socks": "wear"}}, 404, "unknown_class"),
        ({"action": "move", "parents": {"hats": "hats"}}, 409, None),
        ({"action": "move", "parents": {}}, 422, "invalid_request"),
        ({"action": "split", "name": "hats", "parts": {}}, 422, "invalid_request"),
        ({"action": "rename", "old": "hats", "new": "caps", "keys": ["hats0"]}, 422, None),
    ],
)
@pytest.mark.parametrize("dry_run", [True, False])
def test_mistakes_change_nothing(
    change: dict[str, Any], status: int, code: str | None, dry_run: bool, client: TestClient
) -> None:
    refused = client.post("/v1/changes", json={**change, "dry_run": dry_run})
    assert refused.status_code == status, refused.text
    assert code in (None, refused.json()["error"]["code"])
    assert client.get("/v1/versions").json()["newest"] == 1


@pytest.mark.parametrize("classes", [{"Hats": ["zz"]}, {"Hats": ["hats7", "hats7"]}])
def test_all_problems_of_a_change_are_shown_with_the_fields_of_requests(
    classes: dict[str, list[str]], client: TestClient
) -> None:
    refused = client.post("/v1/changes", json={"action": "add", "classes": classes}).json()
    message = refused["error"]["message"]
    assert message.startswith("2 problems:")
    assert "differs from 'hats'" in message
    assert ("'zz'" if "zz" in classes["Hats"] else "'hats7' is listed twice") in message
    assert "force_name=True" not in message


def test_neighbours_are_listed_by_edge_type(client: TestClient) -> None:
    found = client.get("/v1/neighbours", params={"node": "hats5"}).json()
    (edge_type,) = found["edge_types"]
    assert edge_type["neighbours"] == 2
    nodes = {node["node"]: node["label"] for node in edge_type["nodes"]}
    assert nodes == {"hats4": "hats", "hats6": None}
    few = client.get("/v1/neighbours", params={"node": "hats5", "limit": 1}).json()
    assert [len(few["edge_types"][0]["nodes"]), few["edge_types"][0]["neighbours"]] == [1, 2]
    assert client.get("/v1/neighbours", params={"node": "p0"}).status_code == 404


def test_labelled_nodes_of_a_class_are_read(client: TestClient) -> None:
    found = client.get("/v1/nodes", params={"label": "hats"}).json()["nodes"]
    assert {node["node"] for node in found} == {f"hats{number}" for number in range(5)}
    assert {node["label"] for node in found} == {"hats"}
    both = client.get("/v1/nodes", params={"label": "hats", "words": "felt"})
    assert both.json()["error"]["code"] == "invalid_request"


def test_an_exact_key_is_found_first(client: TestClient) -> None:
    found = client.get("/v1/nodes", params={"words": "shoes1"}).json()["nodes"]
    assert [node["node"] for node in found] == ["shoes1", "shoes10", "shoes11"]


def test_groups_that_may_be_a_class_are_suggested(client: TestClient) -> None:
    found = client.get("/v1/suggest/classes").json()
    assert (found["model_version"], found["groups"]) == (1, [])


def test_predictions_back_off_over_http(tmp_path: Path) -> None:
    make_of_tables(tmp_path / "shop")
    with asked(tmp_path / "shop") as client:
        keys = [f"hats{number}" for number in range(12)]
        plain = client.post("/v1/predict", json={"keys": keys, "ignore_labels": True}).json()
        assert "leaf" not in plain["predictions"][0]
        move = {"action": "move", "parents": {"hats": "wear", "shoes": "wear"}}
        assert client.post("/v1/changes", json=move).status_code == 201
        known = min(row["known"] or 1.0 for row in plain["predictions"])
        shares = [row["confidence"] for row in plain["predictions"]]
        least = (known + max(shares)) / 2.0
        request = {"keys": keys, "min_confidence": least, "ignore_labels": True}
        found = client.post("/v1/predict?version=2", json=request).json()["predictions"]
    assert {row["leaf"] for row in found} == {row["class"] for row in plain["predictions"]}
    answers = {(row["reason"], row["class"], row["depth"]) for row in found}
    assert ("ancestor", "wear", 0) in answers
    assert answers <= {
        ("ancestor", "wear", 0),
        ("prediction", "hats", 1),
        ("below_confidence", None, None),
    }
