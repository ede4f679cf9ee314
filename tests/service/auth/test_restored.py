"""A database that is restored, emptied or deleted under a service opens and mixes nothing."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from fastapi import APIRouter
from starlette.testclient import TestClient

from nodegraft.base.errors import ParameterError
from nodegraft.service.app import require_scopes
from nodegraft.service.auth import tokens as token_cache
from nodegraft.service.server import check
from nodegraft.service.settings import Settings
from nodegraft.store.access import MARKER
from nodegraft.store.intent import Intent
from nodegraft.store.scope import Scope
from nodegraft.store.store import Store
from nodegraft.store.versions import journal
from tests.service.served import asked, lesson
from tests.service.token_help import added, bearer

New = dict[str, list[Any]]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_cache, "TOKEN_SECONDS", 0.05)
    monkeypatch.setattr(token_cache, "TOKEN_STALE_SECONDS", 2.0)


def copy_database(place: Path, copy: Path) -> None:
    with closing(sqlite3.connect(place)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)


def restore(shop: Path, copy: Path) -> None:
    """Put a copy in the place of a database, as a user does who restores a backup."""
    shutil.copy(copy, shop / "draft")
    for name in ("store.db-wal", "store.db-shm"):
        (shop / name).unlink(missing_ok=True)
    (shop / "draft").replace(shop / "store.db")


def statuses(client: TestClient, seconds: float, **headers: str) -> set[int]:
    """Status of a route that reads, and of one that changes, for some seconds."""
    found, end = set[int](), monotonic() + seconds
    while monotonic() < end:
        found.add(client.get("/v1/classes", headers=headers).status_code)
        found.add(client.post("/v1/versions/1:promote", headers=headers).status_code)
        sleep(0.05)
    return found


def test_a_copy_from_before_the_first_token_opens_nothing(shop: Path, tmp_path: Path) -> None:
    copy_database(shop / "store.db", tmp_path / "copy.db")
    secret = added(shop, "ci", Scope.ADMIN)
    with asked(shop) as client:
        assert client.get("/v1/classes", headers=bearer(secret)).status_code == 200
        restore(shop, tmp_path / "copy.db")
        # The token is not in the copy; until that is noticed, it is still accepted.
        assert statuses(client, 1.5) == {401}
        assert client.get("/v1/classes", headers=bearer(secret)).status_code == 401
    # Nor does a service that is started later; the file says what to do.
    with pytest.raises(ParameterError, match="restored from a copy without them"):
        check(Settings(shop))
    with asked(shop) as client:
        assert client.get("/v1/classes").status_code == 401
    assert b"Delete this file" in (shop / MARKER).read_bytes()


def test_a_running_service_stays_closed_without_the_file(shop: Path, tmp_path: Path) -> None:
    copy_database(shop / "store.db", tmp_path / "copy.db")
    added(shop, "ci", Scope.ADMIN)
    with asked(shop) as client:
        (shop / MARKER).unlink()
        restore(shop, tmp_path / "copy.db")
        assert statuses(client, 1.5) == {401}


def test_emptied_tables_open_nothing(shop: Path) -> None:
    added(shop, "ci", Scope.ADMIN)
    with asked(shop) as client:
        with closing(sqlite3.connect(shop / "store.db")) as file, file:
            file.executescript("DELETE FROM tokens; DELETE FROM audit;")
        assert statuses(client, 1.5) == {401}
    with asked(shop) as client:
        assert client.get("/v1/classes").status_code == 401


@pytest.mark.parametrize("guarded", [True, False])
def test_a_database_that_is_deleted_opens_nothing(guarded: bool, shop: Path) -> None:
    if guarded:
        added(shop, "ci", Scope.ADMIN)
    with asked(shop) as client:
        for name in ("store.db", "store.db-wal", "store.db-shm"):
            (shop / name).unlink(missing_ok=True)
        sleep(2.5)
        # Without tokens to check, nobody is let in; a deleted database is not made again.
        assert statuses(client, 0.5) == {503}
        assert client.get("/livez").status_code == 200
        assert not (shop / "store.db").exists()


def test_another_version_of_the_same_number_has_no_cached_response(
    shop: Path, new: New, tmp_path: Path
) -> None:
    copy_database(shop / "store.db", tmp_path / "copy.db")
    (first,), (second,) = lesson(new)["classes"], lesson(new, 1)["classes"]

    def classes(client: TestClient, path: str) -> set[str]:
        response = client.get(path).json()
        return {entry["name"] for entry in response["classes"]}

    with asked(shop) as client:
        client.post("/v1/classes?promote=1", json=lesson(new))
        assert first in classes(client, "/v1/summary")
        assert client.get("/v1/diff?before=1&after=2").json()["classes_added"] == [first]
        restore(shop, tmp_path / "copy.db")
        made = client.post("/v1/classes?promote=1", json=lesson(new, 1))
        assert made.json()["model_version"] == 2
        assert classes(client, "/v1/summary") >= {second}
        assert first not in classes(client, "/v1/summary")
        assert client.get("/v1/diff?before=1&after=2").json()["classes_added"] == [second]


def test_a_promotion_meanwhile_makes_no_candidate(
    shop: Path, new: New, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_newest, pending = journal.newest_in, [lesson(new)["classes"]]

    def newest_in(connection: Any) -> int | None:
        # After the live version was read, another process adds a version that is live at once.
        if pending:
            with Store.open(shop) as other:
                other.add(pending.pop(), intent=Intent(promote=True))
        return read_newest(connection)

    with Store.open(shop) as store:
        monkeypatch.setattr(journal, "newest_in", newest_in)
        heads, versions = store.parts.journal.overview()
        assert (heads.live.number, heads.candidate, len(versions)) == (1, None, 1)
        monkeypatch.undo()
        assert (store.live, store.waiting()) == (2, None)


def test_a_caller_behind_a_proxy_needs_a_token(shop: Path) -> None:
    with asked(shop) as client:
        assert client.get("/v1/classes").status_code == 200
        for name in ("X-Forwarded-For", "Forwarded", "X-Real-IP", "Via"):
            assert client.get("/v1/classes", headers={name: "203.0.113.9"}).status_code == 401


def test_a_route_that_checks_no_scope_is_not_served() -> None:
    router = APIRouter()
    router.delete("/v1/everything")(lambda: None)
    with pytest.raises(ValueError, match="/v1/everything checks no scope"):
        require_scopes(router)
