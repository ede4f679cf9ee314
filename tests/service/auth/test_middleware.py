"""Requests that are refused before anybody reads them."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from nodegraft.service.auth import limits
from nodegraft.service.auth.middleware import Rate
from nodegraft.service.routes import predict
from nodegraft.store.scope import Scope
from tests.service.served import KNOWN, asked
from tests.service.token_help import added, bearer


@pytest.fixture(scope="module")
def client(
    first: tuple[Path, Any], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TestClient]:
    place = tmp_path_factory.mktemp("door") / "shop"
    shutil.copytree(first[0], place)
    secret = added(place, "ci", Scope.ADMIN)
    with asked(place, names=("shop.example",)) as client:
        client.headers |= bearer(secret)
        yield client


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:99", "127.0.0.1:8000", "[::1]:8000", "shop.example"]
)
def test_a_name_of_this_host_is_answered(host: str, client: TestClient) -> None:
    assert client.get("/readyz", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "", "localhost.evil.example", "[::1", "a@b", "*"])
def test_another_name_is_refused(host: str, client: TestClient) -> None:
    answer = client.get("/livez", headers={"Host": host})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "wrong_host")


def test_pages_of_other_sites_are_refused(client: TestClient) -> None:
    for origin in ("http://evil.example", "null", "http://[", ""):
        answer = client.post("/v1/versions/1:promote", headers={"Origin": origin})
        assert answer.status_code == 403
    own = {"Origin": "http://localhost"}
    assert client.post("/v1/versions/1:promote", headers=own).status_code == 200


def test_a_body_that_is_too_large_is_refused(client: TestClient) -> None:
    claimed = client.post("/v1/predict", content=b"x", headers={"Content-Length": str(10**9)})
    assert claimed.status_code == 413
    parts = (b" " * 2**20 for _ in range(limits.MAX_BYTES // 2**20 + 1))
    in_parts = client.post("/v1/predict", content=parts)
    assert (in_parts.status_code, in_parts.json()["error"]["code"]) == (413, "too_large")


def test_paths_without_tokens_take_no_body(client: TestClient) -> None:
    for method, path in (("POST", "/livez"), ("GET", "/readyz"), ("GET", "/"), ("PUT", "/")):
        for content in (b"{}", (b"{" for _ in range(2))):
            answer = client.request(method, path, content=content)
            assert (answer.status_code, answer.headers["connection"]) == (413, "close")
    assert client.get("/livez", headers={"Content-Length": "0"}).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/v1/../livez",
        "/v1/classes/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/v1/predict/",
        "/v2/models/..%2f..%2fetc/infer",
        "/v1/explain?node=/etc/passwd",
        "/v1/explain?node=file:///etc/passwd",
        "/v1/versions/1%00:undo",
    ],
)
def test_no_path_leads_anywhere_else(path: str, client: TestClient) -> None:
    answer = client.get(path)
    assert 400 <= answer.status_code < 500 or answer.text == "ok"
    assert "root:" not in answer.text


def test_a_table_is_never_read_from_a_place_that_a_caller_names(client: TestClient) -> None:
    for place in ("/etc/passwd.csv", "http://evil.example/nodes.csv"):
        assert client.post("/v1/nodes", json={"nodes": place}).status_code == 422
        answer = client.post("/v1/nodes", json={"nodes": [{"key": place}]})
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, "data")


def test_who_asks_too_often_waits(first: tuple[Path, Any]) -> None:
    with asked(first[0], rate=1.0) as client:
        statuses = [client.get("/livez").status_code for _ in range(8)]
    assert statuses[:5] == [200] * 5
    assert 429 in statuses[5:]


def test_a_bucket_fills_again_and_is_ones_own() -> None:
    clock = iter([0.0] * 11 + [0.5, 0.5])
    rate = Rate(2.0, lambda: next(clock))
    assert [rate.allows("ci") for _ in range(11)] == [True] * 10 + [False]
    assert rate.allows("ci")
    assert rate.allows("anna")
    # However slowly it fills, a full bucket holds one request.
    seconds = iter([0.0, 5.0, 10.0])
    slow = Rate(0.1, lambda: next(seconds))
    assert [slow.allows("ci") for _ in range(3)] == [True, False, True]


def test_a_failure_of_ours_is_told_without_its_secrets(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr(predict, "predict_keys", fail)
    answer = client.post("/v1/predict", json={"keys": KNOWN})
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "internal")
    assert "secret" not in answer.text
    assert "secret" in caplog.text


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/classes", 200),
        ("GET", "/readyz", 200),
        ("GET", "/openapi.json", 200),
        ("GET", "/v1/nothing", 404),
        ("POST", "/v1/predict", 422),
        ("POST", "/v2/models/other/infer", 422),
        ("PUT", "/v1/classes", 405),
    ],
)
def test_no_data_is_kept_by_caches(method: str, path: str, status: int, client: TestClient) -> None:
    answer = client.request(method, path)
    assert answer.status_code == status
    assert answer.headers["content-type"].startswith("application/json")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"


def test_refusals_are_not_kept_by_caches_either(client: TestClient) -> None:
    for headers in ({"Host": "evil.example"}, {"Authorization": "Bearer wrong"}):
        answer = client.get("/v1/classes", headers=headers)
        assert answer.status_code in (400, 401)
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
    # Files of the page are asked for again, but may be kept.
    assert client.get("/").headers["cache-control"] == "no-cache"
