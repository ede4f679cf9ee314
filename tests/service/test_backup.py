"""A copy of a store that is taken while it is served and taught, as the pages say."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from nodegraft.store.access import Scope
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
    with asked(copy) as client:
        assert client.post("/v1/predict", json=QUESTION).status_code == 401
        found = client.post("/v1/predict", json=QUESTION, headers=bearer)
        assert (found.status_code, found.json()) == wanted
        again = client.post("/v1/classes", json=lesson(new, 1), headers=bearer)
        assert again.json()["model_version"] == 3
