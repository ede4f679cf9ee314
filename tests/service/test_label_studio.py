"""What Label Studio sends to an ML back end, and what it is answered."""

from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from starlette.testclient import TestClient

from nodegraft.store.scope import Scope
from nodegraft.store.store import Store
from tests.service.served import asked, make_of_tables
from tests.service.token_help import added

CONFIG = """
<View>
  <Text name="description" value="$text"/>
  <Choices name="kind" toName="description" choice="single">
    <Choice value="hats"/><Choice value="shoes"/>
  </Choices>
</View>
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    make_of_tables(tmp_path / "shop")
    return tmp_path / "shop"


@pytest.fixture
def client(place: Path) -> Iterator[TestClient]:
    with asked(place) as client:
        yield client


def tasks(*keys: Any) -> list[dict[str, Any]]:
    """As Label Studio sends them, with much that says nothing here."""
    return [
        {"id": number, "data": {"key": key, "text": "felt"}, "meta": {}, "annotations": []}
        for number, key in enumerate(keys)
    ]


def annotated(name: str, **more: Any) -> dict[str, Any]:
    mark = {
        "id": "x1",
        "type": "choices",
        "from_name": "kind",
        "to_name": "description",
        "value": {"choices": [name]},
    }
    return {"id": 7, "completed_by": 1, "result": [mark], "was_cancelled": False, **more}


def event(action: str, key: Any, name: str, **more: Any) -> dict[str, Any]:
    return {
        "action": action,
        "project": {"id": 1, "title": "shop"},
        "task": tasks(key)[0],
        "annotation": annotated(name, **more),
    }


def labelled(place: Path) -> dict[Any, str]:
    with Store.open(place) as store:
        return store.state(store.newest).labels.owners()


def test_it_says_that_it_is_there(client: TestClient) -> None:
    assert client.get("/label-studio/health").json() == {"status": "UP", "model_class": "graft"}
    sent = {"project": "1.1700000000", "schema": CONFIG, "hostname": "http://localhost:8080"}
    assert client.post("/label-studio/setup", json=sent).json() == {"model_version": "1"}


def test_tasks_are_answered_in_the_form_of_the_project(client: TestClient) -> None:
    sent = {
        "tasks": [*tasks("hats9", "nobody", "shoes9"), {"id": 4, "data": {"text": "no key"}}],
        "project": "1.1700000000",
        "label_config": CONFIG,
        "params": {"login": None, "password": None, "context": None},
    }
    found = client.post("/label-studio/predict", json=sent).json()
    same = client.post("/v1/predict", json={"keys": ["hats9", "shoes9"]}).json()["predictions"]
    assert found["model_version"] == "1"
    first, second, third, fourth = found["results"]
    assert first == {
        "model_version": "1",
        "score": same[0]["confidence"],
        "result": [
            {
                "from_name": "kind",
                "to_name": "description",
                "type": "choices",
                "value": {"choices": ["hats"]},
                "score": same[0]["confidence"],
            }
        ],
    }
    assert third["result"][0]["value"] == {"choices": ["shoes"]}
    assert second == fourth == {"model_version": "1", "score": 0.0, "result": []}
    assert client.post("/label-studio/predict", json={**sent, "tasks": []}).json()["results"] == []


def test_a_project_without_choices_is_told(client: TestClient) -> None:
    sent = {"tasks": tasks("hats9"), "label_config": '<View><Text name="t" value="$t"/></View>'}
    answer = client.post("/label-studio/predict", json=sent)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "no_choices")


@pytest.mark.parametrize(
    "config",
    [
        '<!-- <Choices name="old" toName="old"/> --><Choices name="a kind" toName="text"/>',
        "<Choices name = \"a kind\" toName\n='text'>",
        '<Choices name="a kind" toName="text" data-name="old"/>',
        '<Choices name="old"/><Choices toName="text" name="a kind" hint="a > b"/>',
    ],
)
def test_names_are_those_of_the_first_choices_that_are_there(
    config: str, client: TestClient
) -> None:
    sent = {"tasks": tasks("hats9"), "label_config": f"<View>{config}</View>"}
    (found,) = client.post("/label-studio/predict", json=sent).json()["results"]
    assert [(one["from_name"], one["to_name"]) for one in found["result"]] == [("a kind", "text")]


@pytest.mark.parametrize("part", ["<!--", "<Choices ", "name='", "<Choices name="])
def test_an_interface_that_never_ends_is_read_in_no_time(part: str, client: TestClient) -> None:
    sent = {"tasks": [], "label_config": "<Choices " + part * (4 * 2**20 // len(part))}
    began = monotonic()
    assert client.post("/label-studio/predict", json=sent).status_code == 422
    assert monotonic() - began < 20


def test_an_annotation_becomes_a_label_once(client: TestClient, place: Path) -> None:
    sent = event("ANNOTATION_CREATED", "hats9", "hats")
    for _ in range(2):
        answer = client.post("/label-studio/webhook", json=sent)
        assert (answer.status_code, answer.json()) == (201, {"model_version": "2"})
    assert labelled(place)["hats9"] == "hats"
    # What was said is said again under another number: nothing is to be done.
    again = event("ANNOTATION_CREATED", "hats9", "hats", id=8)
    assert client.post("/label-studio/webhook", json=again).json() == {"model_version": "2"}
    last = client.get("/v1/history").json()["history"][0]
    assert (last["action"], last["note"]) == ("label", "Label Studio")


def test_a_key_of_the_sender_is_that_of_the_request(client: TestClient) -> None:
    key = {"Idempotency-Key": "k1"}
    sent = event("ANNOTATION_CREATED", "hats9", "hats")
    for _ in range(2):
        answer = client.post("/label-studio/webhook", json=sent, headers=key)
        assert answer.json() == {"model_version": "2"}
    other = event("ANNOTATION_CREATED", "hats8", "hats")
    refused = client.post("/label-studio/webhook", json=other, headers=key)
    assert refused.json()["error"]["code"] == "key_used_before"


def test_who_thinks_again_moves_the_label(client: TestClient, place: Path) -> None:
    client.post("/label-studio/webhook", json=event("ANNOTATION_CREATED", "hats9", "hats"))
    # A second opinion of somebody else moves nothing.
    other = event("ANNOTATION_CREATED", "hats9", "shoes", id=9)
    assert client.post("/label-studio/webhook", json=other).json() == {"model_version": "2"}
    update = event("ANNOTATION_UPDATED", "hats9", "shoes")
    assert client.post("/label-studio/webhook", json=update).json() == {"model_version": "3"}
    assert labelled(place)["hats9"] == "shoes"


@pytest.mark.parametrize("has_times", [False, True])
def test_a_return_to_an_earlier_class_is_applied(
    has_times: bool, client: TestClient, place: Path
) -> None:
    client.post("/label-studio/webhook", json=event("ANNOTATION_CREATED", "hats9", "hats"))
    for number, name in enumerate(("shoes", "hats", "shoes", "hats")):
        more = {"updated_at": f"2030-01-01T00:00:0{number}Z"} if has_times else {}
        update = event("ANNOTATION_UPDATED", "hats9", name, **more)
        # Each is delivered twice, which changes nothing more.
        for _ in range(2):
            answer = client.post("/label-studio/webhook", json=update)
            assert (answer.status_code, answer.json()) == (201, {"model_version": f"{3 + number}"})
        assert labelled(place)["hats9"] == name


def test_an_event_that_is_delivered_late_a_second_time_changes_nothing(
    client: TestClient, place: Path
) -> None:
    client.post("/label-studio/webhook", json=event("ANNOTATION_CREATED", "hats9", "hats"))
    first, second = (
        event("ANNOTATION_UPDATED", "hats9", name, updated_at=f"2030-01-01T00:00:0{number}Z")
        for number, name in enumerate(("shoes", "hats"))
    )
    for sent in (first, second, first):
        client.post("/label-studio/webhook", json=sent)
    assert labelled(place)["hats9"] == "hats"


def test_an_event_that_changed_nothing_undoes_no_newer_label_when_it_comes_again(
    place: Path,
) -> None:
    first, second, third = (
        event("ANNOTATION_UPDATED", "hats9", name, updated_at=f"2030-01-01T00:00:0{at}Z")
        for name, at in (("hats", "0"), ("shoes", "0.5"), ("hats", "1"))
    )
    with asked(place) as client:
        client.post("/label-studio/webhook", json=event("ANNOTATION_CREATED", "hats9", "hats"))
        for sent in (first, second):
            assert client.post("/label-studio/webhook", json=sent).status_code == 201
    # The times are in the store: a service that was started again knows them.
    with asked(place) as client:
        again = client.post("/label-studio/webhook", json=first)
        assert (again.status_code, again.json()) == (201, {"model_version": "3"})
        assert labelled(place)["hats9"] == "shoes"
        client.post("/label-studio/webhook", json=third)
        assert labelled(place)["hats9"] == "hats"


@pytest.mark.parametrize(
    "sent",
    [
        {"action": "START_TRAINING", "project": {"id": 1}},
        event("ANNOTATION_CREATED", "hats9", "hats", was_cancelled=True),
        event("ANNOTATION_CREATED", "hats9", "hats", result=[]),
        event("ANNOTATIONS_DELETED", "hats9", "hats"),
        event("ANNOTATION_CREATED", "hats9", "hats", result=None),
        event("ANNOTATION_CREATED", None, "hats"),
        {"action": "ANNOTATION_CREATED"},
    ],
)
def test_what_says_no_class_changes_nothing(sent: dict[str, Any], client: TestClient) -> None:
    answer = client.post("/label-studio/webhook", json=sent)
    assert (answer.status_code, answer.json()) == (201, {"model_version": "1"})


def test_annotations_that_were_made_at_once_are_one_version(
    client: TestClient, place: Path
) -> None:
    sent = {
        "action": "ANNOTATIONS_CREATED",
        "task": tasks("hats8", "shoes9"),
        "annotation": [annotated("hats"), annotated("shoes")],
    }
    for _ in range(2):
        answer = client.post("/label-studio/webhook", json=sent)
        assert (answer.status_code, answer.json()) == (201, {"model_version": "2"})
    assert labelled(place).items() >= {"hats8": "hats", "shoes9": "shoes"}.items()
    # Which one is whose cannot be told.
    answer = client.post("/label-studio/webhook", json={**sent, "task": tasks("hats8")})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "unpaired")


def test_a_class_or_a_node_that_is_not_known_is_refused(client: TestClient) -> None:
    for key, name, status in (("hats9", "boots", 409), ("nobody", "hats", 404)):
        sent = event("ANNOTATION_CREATED", key, name)
        assert client.post("/label-studio/webhook", json=sent).status_code == status


def test_training_makes_one_version_of_all_annotations(client: TestClient, place: Path) -> None:
    told = tasks("hats8", "hats9", "shoes9", "hats0")
    for task, name in zip(told, ("hats", "hats", "shoes", "shoes"), strict=True):
        task["annotations"] = [annotated(name)]
    sent = {"annotations": told, "project": "1.1700000000", "label_config": CONFIG, "params": {}}
    assert client.post("/label-studio/train", json=sent).json() == {"model_version": "2"}
    found = labelled(place)
    assert [found[key] for key in ("hats8", "hats9", "shoes9")] == ["hats", "hats", "shoes"]
    # This one had a label before, which stays.
    assert found["hats0"] == "hats"


def test_a_token_comes_as_the_password_that_label_studio_sends(place: Path) -> None:
    secret = added(place, "studio", Scope.TEACH)

    def basic(password: str) -> dict[str, str]:
        return {"Authorization": f"Basic {b64encode(f'anybody:{password}'.encode()).decode()}"}

    with asked(place) as client:
        sent = event("ANNOTATION_CREATED", "hats9", "hats")
        for wrong in ({}, basic("wrong"), {"Authorization": "Basic ?"}):
            answer = client.post("/label-studio/webhook", json=sent, headers=wrong)
            assert answer.status_code == 401
        answer = client.post("/label-studio/webhook", json=sent, headers=basic(secret))
        assert answer.status_code == 201
        told = client.get("/v1/history", headers=basic(secret)).json()["history"][0]
        assert told["by"] == "studio"
