"""A copy of a store that is taken while it is served and taught, as the pages say."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from nodegraft.base.errors import StoreError
from nodegraft.store.access import Scope
from nodegraft.store.store import Store
from tests.service.running import running
from tests.service.served import asked, lesson
from tests.service.token_help import added

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
