"""A copy of a store that is taken while it is served and taught, as the pages say."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from nodegraft.base.errors import StoreError
from nodegraft.service.auth import tokens as token_cache
from nodegraft.store.scope import Scope
from nodegraft.store.store import Store
from tests.service.running import running
from tests.service.served import asked, lesson
from tests.service.token_help import added, revoke

pytestmark = pytest.mark.xdist_group("server")

QUESTION = {"keys": list(range(20)), "top": 2}


def test_a_copy_of_a_store_that_is_taught_meanwhile_answers_as_it_did(
    shop: Path, new: dict[str, list[Any]], tmp_path: Path
) -> None:
    copy = tmp_path / "copy" / "shop"
    copy.mkdir(parents=True)
    bearer = {"Authorization": f"Bearer {added(shop, 'ci', Scope.ADMIN)}"}
    with running(shop) as life:
        life.ask("POST", "/v1/classes?promote=1", lesson(new), **bearer)
        wanted = life.ask("POST", "/v1/predict", QUESTION, **bearer)
        with (
            closing(sqlite3.connect(shop / "store.db")) as source,
            closing(sqlite3.connect(copy / "store.db")) as target,
        ):
            source.backup(target)
        # Objects that no row of the copy names do no harm.
        assert life.ask("POST", "/v1/classes?promote=1", lesson(new, 1), **bearer)[0] == 201
        shutil.copytree(shop / "objects", copy / "objects")
        # Tokens are in the database.
        shutil.copy(shop / "store.json", copy)
    verified = Store.verify(copy)
    # The objects of the version that came after the copy of the database.
    assert (verified.is_clean, verified.unused > 0) == (True, True)
    with asked(copy) as client:
        assert client.post("/v1/predict", json=QUESTION).status_code == 401
        found = client.post("/v1/predict", json=QUESTION, headers=bearer)
        assert (found.status_code, found.json()) == wanted
        again = client.post("/v1/classes", json=lesson(new, 1), headers=bearer)
        assert again.json()["model_version"] == 3


def test_a_damaged_store_is_restored_from_its_copy(
    shop: Path, new: dict[str, list[Any]], tmp_path: Path
) -> None:
    copy, restored = tmp_path / "copy", tmp_path / "restored"
    bearer = {"Authorization": f"Bearer {added(shop, 'ci', Scope.ADMIN)}"}
    with asked(shop) as client:
        client.post("/v1/classes?promote=1", json=lesson(new), headers=bearer)
        wanted = client.post("/v1/predict", json=QUESTION, headers=bearer).json()
    copy.mkdir()
    with (
        closing(sqlite3.connect(shop / "store.db")) as source,
        closing(sqlite3.connect(copy / "store.db")) as target,
    ):
        source.backup(target)
    shutil.copytree(shop / "objects", copy / "objects")
    for path in shop.glob("*.json"):
        shutil.copy(path, copy)
    with Store.open(shop) as store:
        damaged = shop / "objects" / store.version().model
    damaged.unlink()
    assert [one.file for one in Store.verify(shop).findings] == [str(damaged)]
    with pytest.raises(StoreError, match="This store is damaged"):
        Store.open(shop)
    # One file is brought back, or the whole store.
    shutil.copy(copy / "objects" / damaged.name, damaged)
    shutil.copytree(copy, restored)
    for place in (shop, restored):
        assert Store.verify(place).is_clean
        with asked(place) as client:
            assert client.post("/v1/predict", json=QUESTION).status_code == 401
            found = client.post("/v1/predict", json=QUESTION, headers=bearer)
            assert found.json() == wanted


def test_a_database_that_is_moved_or_restored_is_noticed_by_a_running_service(
    shop: Path, new: dict[str, list[Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = {"Authorization": f"Bearer {added(shop, 'ci', Scope.ADMIN)}"}
    shutil.copytree(shop, tmp_path / "copy")
    monkeypatch.setattr(token_cache, "TOKEN_SECONDS", 0.05)
    monkeypatch.setattr(token_cache, "TOKEN_STALE_SECONDS", 0.5)
    with asked(shop) as client:

        def has_status(status: int) -> bool:
            return client.get("/v1/classes", headers=secret).status_code == status

        assert has_status(200)
        shop.rename(tmp_path / "damaged")
        wait_until(lambda: has_status(503))
        assert not shop.exists()
        shutil.copytree(tmp_path / "copy", shop)
        wait_until(lambda: has_status(200))
        # What is done to the store that was put in its place counts, and changes go there.
        revoke(shop, "ci")
        wait_until(lambda: has_status(401))
        secret["Authorization"] = f"Bearer {added(shop, 'new', Scope.ADMIN)}"
        made = client.post("/v1/classes", json=lesson(new), headers=secret)
        assert made.status_code == 201
    with Store.open(shop) as store:
        assert store.version().number == 2
    with Store.open(tmp_path / "damaged") as store:
        assert store.version().number == 1


def wait_until(reached: Callable[[], bool]) -> None:
    began = monotonic()
    while not reached():
        assert monotonic() - began < 10
        sleep(0.05)
