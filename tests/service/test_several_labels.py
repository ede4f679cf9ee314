"""Service of a store whose nodes may have several labels."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from starlette.testclient import TestClient

from nodegraft.client import Client, ServiceError
from nodegraft.service.app import application
from nodegraft.service.routes.predict import ARROW
from nodegraft.service.settings import Settings
from nodegraft.store.several_labels import SeveralLabelsStore
from nodegraft.store.store import Store
from nodegraft.tables.read import read_tables
from tests.service.running import running
from tests.service.served import EDGES, KEYS, NODES, asked
from tests.store.test_several_labels import GRAPH, LABELS

NEW = {"action": "add", "classes": {"new": ["n1", "n3", "n5"]}}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    Store.init(tmp_path / "tags", GRAPH, LABELS, several_labels=True).close()
    return tmp_path / "tags"


@pytest.fixture
def client(place: Path) -> Iterator[TestClient]:
    with asked(place) as client:
        yield client


def predicted(client: TestClient, *keys: str, **options: Any) -> Any:
    done = client.post("/v1/predict", json={"keys": keys, **options})
    assert done.status_code == 200, done.text
    return done.json()


def test_predictions_are_those_of_the_store(client: TestClient, place: Path) -> None:
    keys = ["n0", "n1", "n2", "nobody"]
    answer = predicted(client, *keys)
    assert answer["model_version"] == 1
    with Store.open(place) as store:
        assert isinstance(store, SeveralLabelsStore)
        expected = store.predict(keys, missing="null")
    rows = answer["predictions"]
    assert [row["node"] for row in rows] == keys
    assert [row["found"] for row in rows] == expected.is_found.tolist() == [True] * 3 + [False]
    assert [[own["class"] for own in row["classes"]] for row in rows] == expected.classes
    assert any(own["reason"] == "own_label" for row in rows for own in row["classes"])
    assert len(predicted(client, "n1", "nobody", missing="skip")["predictions"]) == 1
    refused = client.post("/v1/predict", json={"keys": ["nobody"], "missing": "error"})
    assert refused.status_code == 404


def test_an_arrow_stream_has_a_row_for_each_node_and_class(client: TestClient) -> None:
    done = client.post("/v1/predict", json={"keys": ["n0", "n2"]}, headers={"Accept": ARROW})
    table = pa.ipc.open_stream(done.content).read_all()
    assert table.column_names == ["node", "class", "probability", "threshold", "reason"]
    assert json.loads(table.schema.metadata[b"nodegraft"])["model_version"] == 1


def test_changes_are_previewed_made_once_and_undone(client: TestClient) -> None:
    preview = client.post("/v1/changes", json=NEW | {"dry_run": True})
    assert preview.status_code == 200
    (added,) = [own for own in preview.json()["classes"] if own["name"] == "new"]
    assert (added["labels"], added["lost"]) == (3, 0)
    before = predicted(client, "n1", "n9")["predictions"]
    for _ in range(2):
        made = client.post(
            "/v1/changes", json=NEW, params={"promote": True}, headers={"Idempotency-Key": "a"}
        )
        assert (made.status_code, made.json()["model_version"]) == (201, 2)
    assert "new" in [own["class"] for own in predicted(client, "n1")["predictions"][0]["classes"]]
    more: list[dict[str, Any]] = [
        {"action": "label", "more": {"new": ["n7"]}},
        {"action": "unlabel", "labels": {"new": ["n7", "n5"]}},
        {"action": "remove", "names": ["red"]},
        {"action": "rename", "old": "warm", "new": "hot"},
    ]
    for change in more:
        assert client.post("/v1/changes", json=change).status_code == 201
    listed = client.get("/v1/classes", params={"version": "newest"}).json()["classes"]
    counts = {known["name"]: known["labels"] for known in listed}
    assert counts == {"hot": len(LABELS["warm"]), "big": len(LABELS["big"]), "new": 2}
    assert client.post("/v1/versions/6:discard").status_code == 201
    undone = client.post("/v1/versions/2:undo", params={"promote": True})
    assert undone.status_code == 200, undone.text
    assert predicted(client, "n1", "n9")["predictions"] == before
    history = client.get("/v1/history").json()["history"]
    assert [entry["action"] for entry in history][:2] == ["undo", "discard"]
    assert client.get("/v1/versions").json()["live"] == 8
    assert client.post("/v1/versions/2:promote").json()["model_version"] == 2


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        ({"action": "merge", "names": ["warm", "big"], "into": "x"}, 422, "merge"),
        ({"action": "add", "classes": {"warm": ["n1"]}}, 409, "exists already"),
        ({"action": "label", "more": {"cold": ["n1"]}}, 409, "no class 'cold'"),
        ({"action": "add", "classes": {"x": ["nobody"]}}, 404, "nobody"),
        (NEW | {"override": "sure"}, 422, "No quality gate"),
        (NEW | {"parent": "red"}, 422, "unknown field 'parent'"),
        ({"action": "unlabel", "keys": ["n1"]}, 422, "keys"),
    ],
)
def test_a_change_that_does_not_fit_is_refused(
    client: TestClient, body: dict[str, Any], status: int, says: str
) -> None:
    done = client.post("/v1/changes", json=body)
    assert done.status_code == status
    assert says in done.json()["error"]["message"]
    assert client.get("/v1/versions").json()["newest"] == 1


@pytest.mark.parametrize("action", ["relabel", "merge", "move", "split"])
def test_a_change_that_is_not_supported_is_named(client: TestClient, action: str) -> None:
    done = client.post("/v1/changes", json={"action": action})
    says = f"The change {action!r} is not supported for a store with several labels per node."
    error = done.json()["error"]
    assert (done.status_code, error["code"], error["message"]) == (422, "not_supported", says)
    for body in (b"{", b"[1]", b'{"action": "unknown"}', b'{"action": []}'):
        done = client.post("/v1/changes", content=body)
        assert (done.status_code, done.json()["error"]["code"]) == (422, "invalid_request")


def test_the_python_client_previews_and_removes_labels(place: Path) -> None:
    with running(place) as service, Client(f"http://127.0.0.1:{service.port}") as client:
        preview = client.preview({"new": ["n1", "n3", "n5"]})
        assert [own["labels"] for own in preview["classes"] if own["name"] == "new"] == [3]
        assert client.versions()["newest"] == 1
        first = LABELS["warm"][0]
        assert client.unlabel({"warm": [first]})["change"]["detail"] == {
            "labels": {"warm": [first]}
        }
        with pytest.raises(ServiceError, match="several labels per node"):
            client.merge(["warm", "big"], "both")
        with pytest.raises(ServiceError, match="unknown field 'keys'"):
            client.unlabel([first])


def test_all_other_routes_are_refused_by_name(client: TestClient) -> None:
    own = client.get("/openapi.json").json()["paths"]
    assert set(own) == {
        *("/livez", "/readyz", "/metrics", "/v1/whoami", "/v1/predict", "/v1/classes"),
        *("/v1/changes", "/v1/versions", "/v1/history", "/v1/versions/{number}:promote"),
        *("/v1/versions/{number}:discard", "/v1/versions/{number}:undo", "/v1/labels"),
        *("/v1/classes/{name}", "/v1/nodes"),
    }
    refused = 0
    for path, methods in application(Settings(Path("nowhere"))).openapi()["paths"].items():
        for method in methods.keys() - own.get(path, {}).keys():
            filled = re.sub(r"\{.*?\}", "1", path)
            done = client.request(method, filled)
            assert done.status_code == 422, (method, path)
            says = f"{method.upper()} {filled} is not supported for a store with several labels"
            assert says in done.text
            refused += 1
    assert refused > 20
    page = client.get("/")
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "Labelling in the browser is not supported" in page.text
    assert 'href="docs"' in page.text
    assert client.get("/v1/nothing").status_code == 404


def test_shorter_routes_make_the_same_changes(client: TestClient) -> None:
    """Call the routes that the Python client uses, with the fields that it sends."""
    reasons = {"note": "why", "override": ""}
    new = {"classes": NEW["classes"], "force_name": False} | reasons
    assert client.post("/v1/classes", json=new).status_code == 201
    assert client.post("/v1/labels", json={"labels": {"new": ["n7"]}} | reasons).status_code == 201
    listed = client.get("/v1/classes", params={"version": "newest"}).json()["classes"]
    assert listed[-1] == {"name": "new", "labels": 4}
    assert client.delete("/v1/classes/new", params=reasons).status_code == 200
    history = client.get("/v1/history").json()["history"]
    assert [entry["note"] for entry in history] == ["why"] * 3 + [""]


def test_nodes_are_added(tmp_path: Path) -> None:
    graph = read_tables(pa.table(NODES), pa.table(EDGES), text="text", features="price").graph
    labels = {"worn": ["hats1", "hats2", "shoes1"], "hats": ["hats1", "hats3"]}
    Store.init(tmp_path / "tags", graph, labels, several_labels=True).close()
    rows = [{"key": "hats99", "text": "felt brim", "price": 3.0}]
    new = {"nodes": rows, "edges": [{"source": "hats99", "target": "hats1"}]}
    with asked(tmp_path / "tags") as client:
        preview = client.post("/v1/nodes", json=new | {"dry_run": True})
        assert preview.json()["predictions_compared"] == len(KEYS)
        made = client.post("/v1/nodes", json=new, params={"promote": True}).json()
        assert made["change"]["detail"]["added"] == 1
        (found,) = predicted(client, "hats99")["predictions"]
        assert found["found"]


def test_probes_and_the_page_about_the_routes_work(client: TestClient) -> None:
    for path in ("/livez", "/readyz", "/metrics", "/v1/whoami", "/docs"):
        assert client.get(path).status_code == 200, path


def test_refused_routes_need_a_token_too(place: Path) -> None:
    from nodegraft.store.access import StoreTokens
    from nodegraft.store.scope import Scope

    with StoreTokens.open(place) as tokens:
        tokens.add("reader", Scope.READ)
    with asked(place) as client:
        assert client.get("/v1/map").status_code == 401
        assert client.post("/v1/predict", json={"keys": ["n1"]}).status_code == 401
