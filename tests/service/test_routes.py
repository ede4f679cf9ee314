"""What every route answers, and what it says when it cannot."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from nodegraft.store.store import Store
from tests.service.served import KNOWN, asked, lesson
from tests.store.small import drawn

New = dict[str, list[Any]]

JSON = {"content-type": "application/json"}

STRICT = {"missing": "error"}


def test_answers_are_those_of_the_store_and_name_their_versions(shop: Path) -> None:
    with Store.open(shop) as store:
        wanted, graph = store.predict(KNOWN, top=3), store.version().graph
    with asked(shop) as client:
        found = client.post("/v1/predict", json={"keys": KNOWN, "top": 3}).json()
    assert (found["model_version"], found["graph_version"]) == (1, graph)
    assert [one["node"] for one in found["predictions"]] == KNOWN
    for column in ("class", "label", "prediction", "reason"):
        attribute = {"class": "classes"}.get(column, f"{column}s")
        assert [one[column] for one in found["predictions"]] == getattr(wanted, attribute)
    for number in ("confidence", "probability", "known"):
        assert [one[number] for one in found["predictions"]] == getattr(wanted, number).tolist()
    best = [[likely["class"] for likely in one["top"]] for one in found["predictions"]]
    assert best == wanted.top
    assert all(one["top"][0]["probability"] == one["probability"] for one in found["predictions"])


def test_a_batch_survives_unknown_keys(shop: Path) -> None:
    keys = [KNOWN[0], 99_999, "p1", 10**30]
    with asked(shop) as client:
        found = client.post("/v1/predict", json={"keys": keys, "top": 2}).json()["predictions"]
        assert [one["node"] for one in found] == keys
        assert [one["reason"] for one in found] == ["own_label", *["unknown_key"] * 3]
        nothing = {one["class"] for one in found[1:]} | {one["confidence"] for one in found[1:]}
        assert (nothing, found[1]["top"]) == ({None}, [])
        skipped = client.post("/v1/predict", json={"keys": keys, "missing": "skip"}).json()
        assert [one["node"] for one in skipped["predictions"]] == KNOWN[:1]
        refused = client.post("/v1/predict", json={"keys": keys, "missing": "error"})
        assert refused.status_code == 404
        assert all(repr(key) in refused.json()["error"]["message"] for key in keys[1:])


def test_predictions_stand_beside_labels_and_can_replace_them(shop: Path) -> None:
    with asked(shop) as client:
        (found,) = client.post("/v1/predict", json={"keys": KNOWN[:1]}).json()["predictions"]
        assert found["class"] == found["label"] is not None
        assert found["reason"] == "own_label"
        question = {"keys": KNOWN[:1], "ignore_labels": True}
        (ignoring,) = client.post("/v1/predict", json=question).json()["predictions"]
        assert (ignoring["class"], ignoring["reason"]) == (found["prediction"], "prediction")
        assert ignoring["label"] == found["label"]


def test_a_service_follows_the_world_of_its_store(shop: Path) -> None:
    keys = list(range(50))
    with asked(shop) as client, Store.open(shop) as store:
        before = client.post("/v1/predict", json={"keys": keys}).json()
        assert before["world"] == client.get("/v1/summary").json()["world"] == "open"
        store.set_setting("world", "closed")
        client.app.state.service.live.follow()  # type: ignore[attr-defined]
        after = client.post("/v1/predict", json={"keys": keys}).json()
        assert after["world"] == client.get("/v1/summary").json()["world"] == "closed"
        about = client.get("/v1/explain?node=1").json()
        assert about["explanation"]["world"] == "closed"
        on_map = client.get("/v1/map").json()["nodes"]
    assert all(one["confidence"] == one["probability"] for one in (*after["predictions"], *on_map))
    assert any(one["confidence"] < one["probability"] for one in before["predictions"])
    classes = [[one["class"] for one in found["predictions"]] for found in (before, after)]
    assert classes[0] == classes[1]


def test_answers_that_are_less_sure_are_kept_back(shop: Path) -> None:
    with asked(shop) as client:
        question = {"keys": list(range(50)), "min_confidence": 0.9}
        found = client.post("/v1/predict", json=question).json()["predictions"]
    withheld = [one for one in found if one["confidence"] < 0.9]
    assert withheld
    assert {one["prediction"] for one in withheld} == {None}
    assert {one["reason"] for one in withheld if not one["label"]} == {"below_confidence"}
    assert any(one["prediction"] for one in found)


def test_sets_hold_the_class_with_the_coverage_asked_for(shop: Path) -> None:
    with asked(shop) as client:
        found = client.post("/v1/predict", json={"keys": KNOWN, "coverage": 0.9}).json()
        plain = client.post("/v1/predict", json={"keys": KNOWN}).json()
        wrong = client.post("/v1/predict", json={"keys": KNOWN, "coverage": 1})
    with Store.open(shop) as store:
        wanted = store.predict(KNOWN, coverage=0.9)
    assert [one["set"] for one in found["predictions"]] == [
        list(some) for some in wanted.sets or ()
    ]
    assert found["sets_note"] == wanted.sets_note
    assert plain["sets_note"] is None
    assert {one["set"] for one in plain["predictions"]} == {None}
    assert wrong.status_code == 422


def test_a_class_is_previewed_taught_promoted_and_undone(shop: Path, new: New) -> None:
    taught = lesson(new)
    (name, nodes) = next(iter(taught["classes"].items()))
    with asked(shop) as client:
        seen = client.post("/v1/classes:preview", json=taught).json()
        assert (seen["model_version"], seen["objections"]) == (1, [])
        assert {flip["after"] for flip in seen["changes"]} == {name}
        made = client.post("/v1/classes", json=taught)
        assert made.status_code == 201
        assert made.json()["model_version"] == 2
        assert made.json()["change"]["predictions_changed"] == sum(
            flip["nodes"] for flip in seen["changes"]
        )
        # Only promoting chooses who answers.
        assert name not in {one["name"] for one in client.get("/v1/classes").json()["classes"]}
        assert client.post("/v1/versions/2:promote").json()["model_version"] == 2
        listed = client.get("/v1/classes").json()
        assert listed["model_version"] == 2
        assert {"name": name, "parent": None, "labels": 5, "held_out": 0, "session": 1} in listed[
            "classes"
        ]
        answers = client.post("/v1/predict", json={"keys": nodes}).json()["predictions"]
        assert [one["class"] for one in answers].count(name) >= 4
        undone = client.post("/v1/versions/2:undo", params={"promote": True}).json()
        assert (undone["model_version"], undone["promoted"]) == (3, True)
        assert client.get("/readyz").json()["model_version"] == 3
        actions = [one["action"] for one in client.get("/v1/history").json()["history"]]
        assert actions == ["undo", "add", "init"]
        versions = client.get("/v1/versions", params={"limit": 1}).json()
        assert (versions["live"], versions["newest"]) == (3, 3)
        assert [one["number"] for one in versions["versions"]] == [3]


def test_a_class_is_removed(shop: Path) -> None:
    with asked(shop) as client:
        made = client.delete("/v1/classes/class-00", params={"promote": True, "note": "old"})
        assert made.json()["change"]["note"] == "old"
        names = {one["name"] for one in client.get("/v1/classes").json()["classes"]}
        assert names == {"class-01", "class-02", "class-03"}


def test_promoting_the_one_that_answers_changes_nothing(shop: Path) -> None:
    with asked(shop) as client:
        assert client.post("/v1/versions/1:promote").status_code == 200
    with Store.open(shop) as store:
        assert len(store.promotions()) == 1


def test_why_and_what_next(shop: Path) -> None:
    with asked(shop) as client:
        told = client.get("/v1/explain", params={"node": "3"}).json()
        assert (told["node"], told["model_version"]) == (3, 1)
        assert told["explanation"]["answer"]
        found = client.get("/v1/suggest", params={"count": 4}).json()
        assert len(found["suggestions"]) == 4
        assert found["model_version"] == 1


def test_who_watches_is_told_the_version(shop: Path) -> None:
    with asked(shop) as client:
        assert client.get("/livez").text == "ok"
        assert client.get("/readyz").json()["ready"]
        assert "nodegraft_model_version 1.0" in client.get("/metrics").text
        assert 'route="/readyz",status="200"' in client.get("/metrics").text


def test_the_gate_refuses_and_says_what_speaks_against_it(shop: Path) -> None:
    everything = drawn()[1]
    poison = [*everything["class-00"][20:23], *everything["class-01"][20:23]]
    with asked(shop) as client:
        refused = client.post("/v1/classes", json={"classes": {"poison": poison}})
        assert refused.status_code == 409
        error = refused.json()["error"]
        assert error["code"] == "gate_refused"
        assert "Check that they belong to one class" in error["objections"][0]
        forced = {"classes": {"poison": poison}, "override": "a test"}
        assert client.post("/v1/classes", json=forced).status_code == 201


_INVALID = "invalid_request"
WRONG: dict[str, tuple[str, str, Any, int, str]] = {
    "unknown key": ("POST", "/v1/predict", {"keys": ["p1"], **STRICT}, 404, "unknown_node"),
    "huge key": ("POST", "/v1/predict", {"keys": [10**30], **STRICT}, 404, "unknown_node"),
    "no key": ("POST", "/v1/predict", {"keys": []}, 422, "invalid_request"),
    "true": ("POST", "/v1/predict", {"keys": [True]}, 422, "invalid_request"),
    "strange field": ("POST", "/v1/predict", {"keys": [1], "x": 1}, 422, "invalid_request"),
    "many keys": ("POST", "/v1/predict", {"keys": [1] * 10_001}, 422, "invalid_request"),
    "no confidence": (
        "POST",
        "/v1/predict",
        {"keys": [1], "min_confidence": 2},
        422,
        "invalid_request",
    ),
    "coverage as text": ("POST", "/v1/predict", {"keys": [1], "coverage": "0.9"}, 422, _INVALID),
    "top as text": ("POST", "/v1/predict", {"keys": [1], "top": "3"}, 422, _INVALID),
    "boolean as text": (
        "POST",
        "/v1/predict",
        {"keys": [1], "ignore_labels": "yes"},
        422,
        _INVALID,
    ),
    "confidence as text": (
        "POST",
        "/v1/predict",
        {"keys": [1], "min_confidence": "0.9"},
        422,
        _INVALID,
    ),
    "known class": ("POST", "/v1/classes", {"classes": {"class-00": [1]}}, 409, "class_name"),
    "class of none": ("POST", "/v1/classes", {"classes": {"x": [9_999]}}, 404, "unknown_node"),
    "half a letter": ("POST", "/v1/classes", {"classes": {"\ud800": [1]}}, 422, "parameter"),
    "empty name": ("POST", "/v1/classes", {"classes": {"": [1]}}, 409, "class_name"),
    "unknown class": ("DELETE", "/v1/classes/no/such", None, 404, "unknown_class"),
    "undo the first": ("POST", "/v1/versions/1:undo", None, 409, "store_refused"),
    "undo nothing": ("POST", "/v1/versions/9:undo", None, 404, "unknown_version"),
    "promote nothing": ("POST", "/v1/versions/9:promote", None, 404, "unknown_version"),
    "version 0": ("POST", "/v1/versions/0:promote", None, 422, "invalid_request"),
    "explain a word": ("GET", "/v1/explain?node=joy", None, 422, "data"),
    "explain a stranger": ("GET", "/v1/explain?node=99999", None, 404, "unknown_node"),
    "many labels": (
        "POST",
        "/v1/labels",
        {"labels": {"class-00": [1] * 9_000, "class-01": [1] * 9_000}},
        422,
        "invalid_request",
    ),
    "label of no class": ("POST", "/v1/labels", {"labels": {"x": [2]}}, 409, "class_name"),
    "label of nobody": ("POST", "/v1/labels", {"labels": {"class-00": []}}, 422, "invalid_request"),
    "read about a stranger": ("GET", "/v1/nodes?key=99999", None, 404, "unknown_node"),
    "read about a word": ("GET", "/v1/nodes?key=joy", None, 422, "data"),
    "read about nobody": ("GET", "/v1/nodes?words=+", None, 422, "invalid_request"),
    "read in two ways": ("GET", "/v1/nodes?words=a&key=1", None, 422, "invalid_request"),
    "drift to nothing": ("GET", "/v1/drift?after=9", None, 404, "unknown_version"),
    "grow by nothing": ("POST", "/v1/nodes", {}, 409, "store_refused"),
    "no route": ("GET", "/v1/predictions", None, 404, "not_found"),
    "no method": ("GET", "/v1/predict", None, 405, "method_not_allowed"),
}


@pytest.fixture(scope="module")
def client(first: tuple[Path, New]) -> Iterator[TestClient]:
    with asked(first[0]) as client:
        yield client


@pytest.mark.parametrize("case", WRONG)
def test_mistakes_are_told_and_change_nothing(
    case: str, client: TestClient, first: tuple[Path, New]
) -> None:
    method, path, body, status, code = WRONG[case]
    content = None if body is None else json.dumps(body)
    answer = client.request(method, path, content=content, headers=JSON)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert answer.json()["error"]["message"]
    assert answer.json()["error"]["what_to_do"]
    with Store.open(first[0]) as store:
        assert store.newest == 1


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("predict", {"nodes": ["p1"]}, "unknown field 'nodes', the fields are keys, rows, top,"),
        ("predict", {"key": ["p1"]}, "unknown field 'key', did you mean 'keys'? the fields are"),
        ("changes", {"action": "remove", "name": ["x"]}, "did you mean 'names'? the fields are"),
        ("predict", {"{hint}": 1}, "unknown field '{hint}', the fields are"),
        ("predict", {"{message}": 1}, "unknown field '{message}', the fields are"),
    ],
)
def test_an_unknown_field_is_answered_with_the_known_fields(
    path: str, body: Any, message: str, client: TestClient
) -> None:
    answer = client.post(f"/v1/{path}", json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, _INVALID)
    assert message in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    "content",
    ["", "[" * 100_000, '{"keys": [' + "9" * 5_000 + "]}", "null", '{"keys": NaN}', b"\xff\xfe{"],
)
def test_what_is_no_json_is_told(content: str | bytes, client: TestClient) -> None:
    answer = client.post("/v1/predict", content=content, headers=JSON)
    assert answer.status_code in (400, 422)
    assert answer.json()["error"]["what_to_do"]


def test_json_under_another_content_type_names_the_header(shop: Path) -> None:
    with asked(shop) as client:
        sent = client.post(
            "/v1/predict",
            content=b'{"keys": ["p1"]}',
            headers={"content-type": "application/x-www-form-urlencoded"},
        )
    assert sent.status_code == 422
    assert "Content-Type: application/json" in sent.json()["error"]["what_to_do"]
