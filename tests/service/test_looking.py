"""Routes for who looks at a whole version: its classes, a map of its nodes, what has moved."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from nodegraft.service.service import ResponseCache
from nodegraft.store.scope import Scope
from nodegraft.store.store import Store
from tests.service.served import asked, lesson, make_of_tables
from tests.service.token_help import added

New = dict[str, list[Any]]


@pytest.fixture(scope="module")
def client(first: tuple[Path, New]) -> Iterator[TestClient]:
    with asked(first[0]) as client:
        yield client


def test_a_summary_is_that_of_the_card(client: TestClient, first: tuple[Path, New]) -> None:
    found = client.get("/v1/summary").json()
    with Store.open(first[0]) as store:
        card, answers = store.card(), store.predict()
    assert (found["nodes"], found["nodes_predicted"], found["model_version"]) == (240, 240, 1)
    assert (found["held_out"], found["accuracy"]) == (card.held_out.total, card.held_out.share)
    for one, wanted in zip(found["classes"], card.classes, strict=True):
        assert (one["name"], one["labels"], one["since"]) == (wanted.name, wanted.labels, 1)
        assert one["accuracy"] == wanted.held_out.share
        sure = [
            confidence
            for answer, confidence in zip(answers.predictions, answers.confidence, strict=True)
            if answer == wanted.name
        ]
        assert (one["predicted"], one["low_confidence"]) == (
            len(sure),
            sum(one < 0.9 for one in sure),
        )


def test_nodes_stay_on_the_map_while_classes_come_and_go(shop: Path, new: New) -> None:
    with asked(shop) as client:
        before = client.get("/v1/map").json()
        assert client.post("/v1/classes?promote=1", json=lesson(new)).status_code == 201
        after = client.get("/v1/map").json()
    assert (before["model_version"], after["model_version"]) == (1, 2)
    places = [
        [(one["node"], one["x"], one["y"]) for one in some["nodes"]] for some in (before, after)
    ]
    assert places[0] == places[1]
    (name,) = lesson(new)["classes"]
    assert name not in {one["prediction"] for one in before["nodes"]}
    assert name in {one["prediction"] for one in after["nodes"]}
    with Store.open(shop) as store:
        nodes = [one["node"] for one in after["nodes"]]
        assert [one["prediction"] for one in after["nodes"]] == store.predict(nodes).predictions


def test_drift_is_told_between_any_two_versions(shop: Path, new: New) -> None:
    with asked(shop) as client:
        client.post("/v1/classes", json=lesson(new))
        found = client.get("/v1/drift").json()
        assert (found["compared_with"], found["model_version"]) == (1, 2)
        with Store.open(shop) as store:
            wanted = store.drift()
        assert [one["distance"] for one in found["shifts"]] == [one.distance for one in wanted]
        assert [one["alarm"] for one in found["shifts"]] == [one.alarm for one in wanted]
        still = client.get("/v1/drift", params={"before": 2}).json()
        assert {one["distance"] for one in still["shifts"]} == {0.0}
        # Where the newest answers, all that has come since the first is told.
        client.post("/v1/versions/2:promote")
        assert client.get("/v1/drift").json() == found


def test_nodes_are_found_by_words_and_read_by_key(tmp_path: Path) -> None:
    place = tmp_path / "shop"
    make_of_tables(place)
    with asked(place) as client:
        found = client.get("/v1/nodes", params={"words": "HATS1"}).json()["nodes"]
        assert [one["node"] for one in found] == ["hats1", "hats10", "hats11"]
        assert [one["label"] for one in found] == ["hats", None, None]
        read = client.get("/v1/nodes", params={"key": ["shoes9", "hats0"]}).json()["nodes"]
        assert [(one["node"], one["label"]) for one in read] == [
            ("shoes9", None),
            ("hats0", "hats"),
        ]
        assert len(client.get("/v1/nodes", params={"words": "s", "limit": 2}).json()["nodes"]) == 2


def test_more_labels_make_a_version(shop: Path, first: tuple[Path, New]) -> None:
    with asked(shop) as client:
        found = client.get("/v1/suggest", params={"count": 1}).json()["suggestions"][0]
        sent = {"labels": {found["prediction"]: [found["node"]]}, "note": "one key"}
        made = client.post("/v1/labels?promote=1", json=sent)
        assert made.status_code == 201
        assert made.json()["change"]["description"] == f"label {found['prediction']} (1)"
        labelled = client.get("/v1/nodes", params={"key": found["node"]}).json()["nodes"]
        assert labelled == [{"node": found["node"], "text": None, "label": found["prediction"]}]


def test_a_caller_is_told_who_they_are(shop: Path) -> None:
    with asked(shop) as client:
        assert client.get("/v1/whoami").json() == {
            "name": "local",
            "scope": "admin",
            "store": "shop",
        }
        secret = added(shop, "ci", Scope.TEACH)
        told = client.get("/v1/whoami", headers={"Authorization": f"Bearer {secret}"}).json()
        assert (told["name"], told["scope"]) == ("ci", "teach")


def test_what_takes_long_is_made_once_whoever_asks() -> None:
    made: list[str] = []

    async def all_at_once() -> list[str]:
        cache = ResponseCache()

        async def get(kind: str, about: int) -> str:
            def make() -> str:
                made.append(f"{kind} {about}")
                return made[-1]

            return await cache.get(kind, about, make)

        first = await asyncio.gather(*(get("map", 1) for _ in range(5)), get("drift", 1))
        return [*first, await get("map", 2), await get("map", 2)]

    found = asyncio.run(all_at_once())
    assert found == ["map 1"] * 5 + ["drift 1", "map 2", "map 2"]
    assert sorted(made) == ["drift 1", "map 1", "map 2"]
