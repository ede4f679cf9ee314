"""Tokens at the service: who may do what, revocation, expiry, and a database that is away."""

import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from nodegraft.analysis.version import now
from nodegraft.base.errors import ParameterError, StoreError
from nodegraft.service.app import application
from nodegraft.service.auth import tokens as token_cache
from nodegraft.service.auth.middleware import OPEN
from nodegraft.service.observability import JsonLines
from nodegraft.service.server import check
from nodegraft.service.settings import Settings
from nodegraft.store.access import StoreTokens
from nodegraft.store.scope import Scope
from nodegraft.store.versions import database
from tests.service.served import asked
from tests.service.token_help import added, bearer, revoke


def basic(given: str) -> dict[str, str]:
    return {"Authorization": f"Basic {given}"}


ODD = ("", "x", "Og==", "OjpY", "//79", "nodegraft_", "YW55Ym9keQ==", "=" * 4_000)
"""No text, no colon, no password, no letters, no base64."""


def until(reached: Callable[[], bool], longest: float = 5.0) -> float:
    began = monotonic()
    while not reached():
        assert monotonic() - began < longest
        sleep(0.02)
    return monotonic() - began


def test_a_token_works_at_once_and_a_revoked_one_is_refused_within_seconds(shop: Path) -> None:
    first = added(shop, "first", Scope.ADMIN)
    with asked(shop) as client:

        def status(secret: str) -> int:
            return client.get("/v1/classes", headers=bearer(secret)).status_code

        assert status(first) == 200
        secret = added(shop, "ci", Scope.READ)
        assert status(secret) == 200
        for other in ("", secret[:-1], secret + "x", "é"):
            assert (
                client.get(
                    "/v1/classes", headers={b"Authorization": f"Bearer {other}".encode()}
                ).status_code
                == 401
            )
        revoke(shop, "ci")
        assert until(lambda: status(secret) == 401) < 2.5
        # Whoever revokes the last one does not mean to let everybody in.
        revoke(shop, "first")
        until(lambda: status(first) == 401)
        assert client.get("/v1/classes").status_code == 401


def test_a_store_that_becomes_guarded_is_guarded_while_it_is_served(shop: Path) -> None:
    with asked(shop) as client:
        assert client.get("/v1/classes").status_code == 200
        added(shop, "ci", Scope.READ)
        assert until(lambda: client.get("/v1/classes").status_code == 401) < 2.5


def test_a_token_that_expires_while_it_is_cached_is_refused(shop: Path) -> None:
    with asked(shop) as client:
        # Drawn last: on a busy machine a service takes seconds to start.
        secret = added(shop, "ci", Scope.READ, expires_at=now() + timedelta(seconds=3))
        assert client.get("/v1/classes", headers=bearer(secret)).status_code == 200
        until(lambda: client.get("/v1/classes", headers=bearer(secret)).status_code == 401, 15.0)


def test_the_last_use_is_written_once_a_minute(shop: Path) -> None:
    secret = added(shop, "ci", Scope.READ)

    def last_used() -> datetime | None:
        with StoreTokens.open(shop) as tokens:
            return tokens.read().tokens[0].last_used_at

    with asked(shop) as client:
        client.get("/v1/classes", headers=bearer(secret))
        until(lambda: last_used() is not None)
        used = last_used()
        client.get("/v1/classes", headers=bearer(secret))
    assert last_used() == used


def test_who_may_only_read_the_database_serves_and_logs_once(
    shop: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    secrets = [added(shop, name, Scope.READ) for name in ("a", "b")]
    monkeypatch.setattr(database, "_only_readable", lambda file: True)
    monkeypatch.setattr(token_cache, "TOKEN_SECONDS", 0.05)
    with asked(shop) as client:
        for secret in secrets:
            assert client.get("/v1/classes", headers=bearer(secret)).status_code == 200
            sleep(0.3)
    lines = [line for line in caplog.messages if "last use" in line]
    assert len(lines) == 1


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        ("DROP TABLE tokens", r"no such table: tokens\. Check"),
        ("UPDATE tokens SET scope = 'root'", r"'root' is not a valid Scope\. The store is not"),
    ],
)
def test_tokens_that_cannot_be_read_let_nobody_in(
    damage: str, reason: str, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = added(shop, "ci", Scope.READ)
    monkeypatch.setattr(token_cache, "TOKEN_STALE_SECONDS", 1.5)
    with asked(shop) as client:
        with closing(sqlite3.connect(shop / "store.db")) as file, file:
            file.execute(damage)
        # What is known holds for a while, and then for nobody.
        assert client.get("/v1/classes", headers=bearer(secret)).status_code == 200
        until(lambda: client.get("/v1/classes", headers=bearer(secret)).status_code == 503)
        for headers in ({}, bearer("wrong")):
            answer = client.get("/v1/classes", headers=headers)
            assert answer.json()["error"]["code"] == "tokens_unavailable"
        assert client.get("/livez").status_code == 200
    with pytest.raises(
        StoreError, match=f"tokens of this store cannot be read: .*{reason}"
    ) as refused:
        check(Settings(shop))
    assert "delete" not in str(refused.value)


def test_a_service_for_others_stays_shut_without_tokens(shop: Path) -> None:
    with asked(shop, host="192.0.2.7") as client:
        assert client.get("/v1/classes").status_code == 401
    with asked(shop, names=("shop.example",)) as client:
        assert client.get("/v1/classes").status_code == 401
    # So does a replica on a node of a cluster.
    with asked(shop, behind_proxy=True) as client:
        assert client.get("/v1/classes").status_code == 401


def routes() -> list[tuple[str, str]]:
    """All of the OpenAPI document."""
    paths = application(Settings(Path("nowhere"))).openapi()["paths"]
    return [(method.upper(), path) for path, methods in paths.items() for method in methods]


ROUTES = routes()
PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "serve.md"


def documented() -> dict[tuple[str, str], Scope | None]:
    """Return route -> scope, from the tables of the page on the service."""
    scopes: dict[tuple[str, str], Scope | None] = {}
    rows = re.findall(r"^\| (`[A-Z]+ /.*?) \| (\w+) \|", PAGE.read_text(), re.MULTILINE)
    for named, scope in rows:
        for method, path in re.findall(r"`([A-Z]+) (/[^`?]*)[^`]*`", named):
            path = path.replace("/NAME", "/{name}").replace("/N:", "/{number}:")
            scopes[method, path] = None if scope == "none" else Scope(scope)
    return scopes


DOCUMENTED = documented()


def needed(method: str, path: str) -> Scope | None:
    """Return the scope that a route needs; the inference protocol, from /v2 on, only reads."""
    if path.startswith("/v2"):
        return None if path in OPEN else Scope.READ
    return DOCUMENTED[method, path]


def test_every_route_is_documented_and_only_health_checks_are_open() -> None:
    assert [route for route in ROUTES if needed(*route) is None] == [
        ("GET", path) for _, path in ROUTES if path in OPEN
    ]


def test_every_route_lets_in_those_who_may_and_nobody_else(shop: Path) -> None:
    secrets = {scope: added(shop, scope.value, scope) for scope in Scope}
    with asked(shop) as client:
        for method, pattern in ROUTES:
            # Nothing that exists, and no body: whoever is let in is told of a mistake.
            path = re.sub(r"\{[^}]*\}", "999", pattern)
            wanted = needed(method, pattern)
            for shown in ({}, bearer("wrong"), bearer(""), *map(basic, ODD)):
                status = client.request(method, path, headers=shown).status_code
                assert (status == 401) == (wanted is not None), (method, pattern)
            for scope, secret in secrets.items():
                answer = client.request(method, path, headers=bearer(secret))
                refused = wanted is not None and not scope.allows(wanted)
                assert (answer.status_code == 403) == refused, (method, pattern, scope)
                assert answer.status_code != 401
                assert answer.status_code < 500


def test_letting_a_version_answer_at_once_takes_more_than_teaching(
    shop: Path, new: dict[str, list[Any]]
) -> None:
    teach, admin = (added(shop, scope.value, scope) for scope in (Scope.TEACH, Scope.ADMIN))
    with asked(shop) as client:
        sent: dict[str, Any] = {"json": {"classes": new}, "params": {"promote": True}}
        assert client.post("/v1/classes", **sent, headers=bearer(teach)).status_code == 403
        made = client.post("/v1/classes", **sent, headers=bearer(admin))
        assert made.json()["change"]["by"] == "admin"


def test_a_service_is_open_to_others_only_with_tokens_and_a_name(shop: Path) -> None:
    check(Settings(shop))
    check(Settings(shop, host="localhost"))
    for host in ("0.0.0.0", "192.0.2.7", "shop.example"):  # noqa: S104
        with pytest.raises(ParameterError, match=r"no API token.*nodegraft token add"):
            check(Settings(shop, host=host))
    with pytest.raises(ParameterError, match=r"no API token.*nodegraft token add.*omit --name"):
        check(Settings(shop, names=("shop.example",)))
    secret = added(shop, "ci", Scope.READ)
    check(Settings(shop, host="192.0.2.7"))
    check(Settings(shop, names=("shop.example",)))
    with pytest.raises(ParameterError, match="--name"):
        check(Settings(shop, host="0.0.0.0"))  # noqa: S104
    check(Settings(shop, host="0.0.0.0", names=("shop.example",)))  # noqa: S104
    revoke(shop, "ci")
    with pytest.raises(
        ParameterError, match=r"All API tokens of this store were revoked.*nodegraft token add"
    ):
        check(Settings(shop))
    assert secret.startswith("nodegraft_")


def test_the_log_names_neither_tokens_nor_nodes(
    shop: Path, caplog: pytest.LogCaptureFixture
) -> None:
    secret = added(shop, "ci", Scope.READ)
    with asked(shop) as client, caplog.at_level("INFO", "nodegraft.service"):
        client.get("/v1/explain", params={"node": "987654"}, headers=bearer(secret))
        client.get("/v1/strange/987654", headers=bearer("987654"))
    lines = [json.loads(JsonLines().format(record)) for record in caplog.records]
    assert [(line["status"], line["caller"]) for line in lines] == [(404, "ci"), (401, "")]
    assert lines[0]["route"] == "/v1/explain"
    assert secret not in str(lines)
    assert "987654" not in str(lines)
