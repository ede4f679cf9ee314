"""A candidate version that waits for review: every route reads one version, and none refuses."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from nodegraft.base.errors import NoCandidateError
from nodegraft.store.intent import Intent
from nodegraft.store.scope import Scope
from nodegraft.store.store import Store
from nodegraft.store.versions.journal import Heads, Journal
from tests.cli.test_judging import call
from tests.service.served import asked, lesson, make_of_tables, written
from tests.service.test_label_studio import event
from tests.service.token_help import added, bearer

New = dict[str, list[Any]]


@pytest.fixture
def grown(tmp_path: Path) -> Iterator[TestClient]:
    """A service whose candidate version has a node that the live version does not have."""
    make_of_tables(tmp_path / "shop")
    with asked(tmp_path / "shop") as client:
        row = {"key": "hats99", "text": "felt brim wool cap", "price": 1.0}
        edge = {"source": "hats99", "target": "hats1"}
        made = client.post("/v1/nodes", json={"nodes": [row], "edges": [edge]})
        assert (made.status_code, made.json()["promoted"]) == (201, False)
        yield client


def versions(client: TestClient) -> tuple[int, int, int | None]:
    """The numbers of the live version, the newest one, and the one that waits for review."""
    found = client.get("/v1/versions").json()
    return found["live"], found["newest"], found["candidate"]


def test_no_route_promotes_by_default(client_document: dict[str, Any]) -> None:
    defaults = {
        (path, parameter["schema"].get("default"))
        for path, methods in client_document["paths"].items()
        for method in methods.values()
        for parameter in method.get("parameters", [])
        if parameter["name"] == "promote"
    }
    assert {path for path, _ in defaults} >= {"/v1/classes", "/label-studio/webhook"}
    assert {default for _, default in defaults} == {False}


READING = ("/v1/predict", "/v1/explain", "/v1/suggest", "/v1/classes", "/v1/summary", "/v1/map")


def test_every_route_that_reads_a_version_takes_one(client_document: dict[str, Any]) -> None:
    for path in (*READING, "/v1/nodes"):
        (first, *_) = client_document["paths"][path].values()
        (parameter,) = (one for one in first["parameters"] if one["name"] == "version")
        assert parameter["schema"]["default"] == "live", path


@pytest.fixture(scope="module")
def client_document(first: tuple[Path, New]) -> dict[str, Any]:
    with asked(first[0]) as client:
        document: dict[str, Any] = client.get("/openapi.json").json()
        return document


def ask(client: TestClient, path: str, **parameters: Any) -> Any:
    """The answer of a route that reads a version."""
    if path == "/v1/predict":
        return client.post(path, params=parameters, json={"keys": ["hats1"]})
    if path == "/v1/explain":
        parameters["node"] = "hats1"
    if path == "/v1/nodes":
        parameters["words"] = "hats"
    return client.get(path, params=parameters)


@pytest.mark.parametrize("path", [*READING, "/v1/nodes"])
def test_a_route_reads_the_version_that_it_is_asked_for(path: str, grown: TestClient) -> None:
    for name, number in (("live", 1), ("candidate", 2), ("newest", 2), (1, 1), (2, 2)):
        assert ask(grown, path, version=name).json()["model_version"] == number
    assert ask(grown, path).json()["model_version"] == 1
    for name, status in ((3, 404), (0, 422), ("latest", 422)):
        assert ask(grown, path, version=name).status_code == status


def test_no_candidate_is_an_error_where_none_waits(shop: Path, new: New) -> None:
    with asked(shop) as client:
        assert versions(client) == (1, 1, None)
        for path in ("/v1/classes?version=candidate", "/v1/diff?after=candidate"):
            refused = client.get(path)
            assert (refused.status_code, refused.json()["error"]["code"]) == (404, "no_candidate")
        assert client.get("/v1/classes", params={"version": "newest"}).json()["model_version"] == 1
        assert client.get("/v1/diff").json()["predictions_changed"] == 0
        # An undone change leaves a newest version that equals the live one: it does not wait.
        client.post("/v1/classes", json=lesson(new))
        client.post("/v1/versions/2:undo")
        assert versions(client) == (1, 3, None)
        assert client.get("/v1/summary", params={"version": "candidate"}).status_code == 404
    with Store.open(shop) as store:
        assert (store.live, store.newest, store.waiting()) == (1, 3, None)
        for ask_for in (lambda: store.candidate, store.promote, store.discard):
            with pytest.raises(NoCandidateError, match="version 1 is live"):
                ask_for()


def test_what_is_suggested_can_be_read_in_the_same_version(grown: TestClient) -> None:
    wanted = {"version": "candidate"}
    found = grown.get("/v1/suggest", params={**wanted, "count": 20}).json()["suggestions"]
    keys = [one["node"] for one in found]
    assert "hats99" in keys
    read = grown.get("/v1/nodes", params={**wanted, "key": keys}).json()
    assert (read["model_version"], [one["node"] for one in read["nodes"]]) == (2, keys)
    predicted = grown.post("/v1/predict", params=wanted, json={"keys": keys}).json()
    assert (predicted["model_version"], len(predicted["predictions"])) == (2, len(keys))
    refused = grown.get("/v1/nodes", params={"key": "hats99"})
    assert refused.status_code == 404
    assert "version=newest" in refused.json()["error"]["what_to_do"]


def test_a_candidate_is_compared_with_the_live_version(shop: Path, new: New) -> None:
    first, second = lesson(new), lesson(new, 1)
    with asked(shop) as client:
        client.post("/v1/classes", json={**first, "note": "asked for"})
        client.post("/v1/classes", json=second)
        assert versions(client) == (1, 3, 3)
        found = client.get("/v1/diff").json()
        assert (found["compared_with"], found["model_version"]) == (1, 3)
        assert found["classes_added"] == [*first["classes"], *second["classes"]]
        assert found["classes_removed"] == []
        assert [one["version"] for one in found["history"]] == [3, 2]
        assert found["history"][1]["note"] == "asked for"
        assert found["predictions_changed"] == sum(one["nodes"] for one in found["changes"]) > 0
        assert found["held_out"] == 16
        assert found["accuracy_after"] is not None
        back = client.get("/v1/diff", params={"before": 3, "after": "live"}).json()
        assert (back["predictions_changed"], back["history"]) == (found["predictions_changed"], [])
        assert back["classes_removed"] == found["classes_added"]


def test_a_diff_has_the_warnings_of_its_changes(shop: Path, new: New) -> None:
    (name, nodes), *_ = lesson(new)["classes"].items()
    with asked(shop) as client:
        client.post("/v1/classes", json={"classes": {name: nodes[:1]}, "override": "try"})
        client.post("/v1/classes", json=lesson(new, 1))
        warning = f"Class {name!r} has only 1 example"
        assert any(warning in one for one in client.get("/v1/diff").json()["warnings"])
        back = client.get("/v1/diff", params={"before": 3, "after": 1}).json()
        assert not any(warning in one for one in back["warnings"])


def test_teaching_continues_undo_and_discard_work_while_a_candidate_waits(
    shop: Path, new: New
) -> None:
    with asked(shop) as client:
        for place in (0, 1):
            assert client.post("/v1/classes", json=lesson(new, place)).status_code == 201
        undone = client.post("/v1/versions/3:undo")
        assert (undone.status_code, versions(client)) == (200, (1, 4, 4))
        # Somebody has looked at version 3, which is no candidate any more.
        assert client.post("/v1/versions/3:discard").json()["error"]["code"] == "store_refused"
        discarded = client.post("/v1/versions/4:discard", params={"note": "no"}).json()
        assert discarded["change"]["description"] == "discard versions 2-4"
        assert versions(client) == (1, 5, None)
        assert client.post("/v1/versions/5:discard").json()["error"]["code"] == "no_candidate"
        assert client.post("/v1/versions/9:discard").status_code == 404
        # Nothing waits: a change may be promoted again.
        assert client.post("/v1/classes?promote=1", json=lesson(new)).status_code == 201
        assert versions(client) == (6, 6, None)


def test_a_refusal_to_promote_says_what_to_do_and_that_works(shop: Path, new: New) -> None:
    with asked(shop) as client:
        for place in (0, 1):
            client.post("/v1/classes", json=lesson(new, place))
        refused = client.post("/v1/classes?promote=1", json={"classes": {"x": [1, 2]}})
        assert refused.status_code == 409
        error = refused.json()["error"]
        assert error["code"] == "candidate_waits"
        assert "version 3 waits for review" in error["message"]
        assert "POST /v1/versions/3:promote" in error["what_to_do"]
        assert "POST /v1/versions/3:discard" in error["what_to_do"]
        assert client.post("/v1/versions/3:discard?promote=1").status_code == 422
        assert client.post("/v1/versions/3:promote").status_code == 200
        assert versions(client) == (3, 3, None)


def test_only_a_version_that_waits_is_promoted_where_that_is_asked_for(
    shop: Path, new: New, monkeypatch: pytest.MonkeyPatch
) -> None:
    with asked(shop) as client, Store.open(shop) as other:
        client.post("/v1/classes", json=lesson(new))
        other.discard(2, intent=Intent(author="anna"))
        for number in (2, 3):
            refused = client.post(f"/v1/versions/{number}:promote?only_candidate=true")
            assert refused.status_code == 409
            assert "discard by anna" in refused.json()["error"]["message"]
        assert versions(client) == (1, 3, None)
        client.post("/v1/classes", json=lesson(new))
        # Another process makes a version between the check and the write.
        heads, discards = Journal.heads, iter([True])

        def discarded_after(journal: Journal) -> Heads:
            found = heads(journal)
            if next(discards, False):
                other.discard(4)
            return found

        monkeypatch.setattr(Journal, "heads", discarded_after)
        refused = client.post("/v1/versions/4:promote?only_candidate=true")
        assert refused.json()["error"]["code"] == "store_changed"
        assert versions(client) == (1, 5, None)
        client.post("/v1/classes", json=lesson(new))
        for _ in range(2):
            assert client.post("/v1/versions/6:promote?only_candidate=true").status_code == 200
        assert versions(client) == (6, 6, None)


def test_discarding_takes_the_scope_teach_and_is_done_once(shop: Path, new: New) -> None:
    read, teach = (bearer(added(shop, scope.value, scope)) for scope in (Scope.READ, Scope.TEACH))
    with asked(shop) as client:
        client.post("/v1/classes", json=lesson(new), headers=teach)
        assert client.post("/v1/versions/2:discard", headers=read).status_code == 403
        for _ in range(2):
            key = {**teach, "Idempotency-Key": "k"}
            made = client.post("/v1/versions/2:discard", headers=key)
            assert (made.status_code, made.json()["model_version"]) == (201, 3)


def test_label_studio_promotes_only_if_asked_and_never_loses_a_label(tmp_path: Path) -> None:
    make_of_tables(tmp_path / "shop")
    with asked(tmp_path / "shop") as client:

        def annotate(key: str, **parameters: Any) -> None:
            sent = event("ANNOTATION_CREATED", key, "hats")
            answer = client.post("/label-studio/webhook", params=parameters, json=sent)
            assert answer.status_code == 201

        annotate("hats9", promote=True)
        assert versions(client) == (2, 2, None)
        annotate("hats8")
        assert versions(client) == (2, 3, 3)
        # A refusal would lose the label: it is added to the candidate version instead.
        annotate("hats7", promote=True)
        assert versions(client) == (2, 4, 4)


@pytest.mark.parametrize("path", ["/v1/diff", "/v1/drift", "/v1/map"])
def test_what_was_cached_of_a_version_is_forgotten_when_it_is_pruned(
    path: str, tmp_path: Path
) -> None:
    make_of_tables(tmp_path / "shop")
    query = {"version": 1} if path == "/v1/map" else {"before": 1, "after": 2}
    with asked(tmp_path / "shop") as client, Store.open(tmp_path / "shop") as other:
        client.post("/v1/classes", json={"classes": {"bags": ["hats9", "hats8"]}})
        assert client.get(path, params=query).status_code == 200
        service = client.app.state.service  # type: ignore[attr-defined]
        service.live.follow()
        assert service.responses._responses
        other.purge(["hats11"], intent=Intent(author="anna"))
        refused = client.get(path, params=query)
        # The map is that of the live version until that is followed.
        if path != "/v1/map":
            assert refused.status_code == 409
            assert "was pruned" in refused.json()["error"]["message"]
        service.live.follow()
        assert not service.responses._responses
        assert not service.maps.values()
        assert client.get(path, params=query).status_code == 409


def test_a_query_parameter_that_a_route_does_not_know_is_refused(shop: Path, new: New) -> None:
    with asked(shop) as client:
        assert client.post("/v1/classes", json=lesson(new)).status_code == 201
        refused = client.post("/v1/versions/2:promote?only_candidates=true")
        assert refused.status_code == 422
        assert refused.json()["error"]["code"] == "unknown_parameter"
        assert "only_candidate" in refused.json()["error"]["what_to_do"]
        assert client.get("/v1/versions").json()["live"] == 1


def test_a_promotion_over_http_writes_the_card_that_the_command_line_writes(
    shop: Path, new: New, tmp_path: Path
) -> None:
    with asked(shop) as client:
        assert client.post("/v1/classes", json=lesson(new)).status_code == 201
        shutil.copytree(shop, tmp_path / "copy" / shop.name)
        promoted = client.post("/v1/versions/2:promote", params={"note": "looks right"})
        assert promoted.status_code == 200
        assert client.post("/v1/classes?promote=1", json=lesson(new, 1)).status_code == 201
        assert all(written(shop, number) for number in (2, 3))
    command = ["promote", str(tmp_path / "copy" / shop.name), "--by", "local"]
    done = call(*command, "--note", "looks right")
    assert done.exit_code == 0, done.output
    cards = [folder / "cards" for folder in (shop, tmp_path / "copy" / shop.name)]
    over_http, on_command_line = ((card / "version-2.md").read_text() for card in cards)
    minute = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC")
    assert minute.sub("", over_http) == minute.sub("", on_command_line)
    assert "looks right" in over_http
