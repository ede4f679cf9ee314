"""A change that was asked for under a key is found again by it."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from nodegraft.base.errors import RequestConflictError, StoreChangedError
from nodegraft.graph.keys import Key
from nodegraft.store.intent import IdempotencyKey, Intent
from nodegraft.store.store import Store
from nodegraft.store.versions.journal import REQUEST_KEY
from tests.store.small import made


def check_found_again(store: Store, new: dict[str, list[Key]]) -> None:
    """Ask for changes under keys, whatever the database."""
    first, second = IdempotencyKey("a 'key'", "1", promote=True), IdempotencyKey("ä", "2")
    assert store.parts.versions.made_for(first) is None
    added = store.add(new, intent=Intent(promote=True, idempotency_key=first))
    # Both rows came at once.
    assert (added.number, store.live) == (2, 2)
    undone = store.undo(intent=Intent(idempotency_key=second))
    assert (undone.number, store.live) == (3, 2)
    assert [store.parts.versions.made_for(key) for key in (first, second)] == [added, undone]
    with pytest.raises(RequestConflictError, match="for another change"):
        store.parts.versions.made_for(IdempotencyKey("ä", "1"))
    # Whoever looked before another host wrote it is refused, and finds it the next time.
    with pytest.raises(StoreChangedError, match="version 3 is new"):
        store.undo(intent=Intent(idempotency_key=second))


def test_a_request_is_found_again_by_its_key(tmp_path: Path) -> None:
    store, new = made(tmp_path / "s")
    check_found_again(store, new)
    store.close()
    with Store.open(tmp_path / "s") as again:
        assert again.parts.versions.made_for(IdempotencyKey("ä", "2")) == again.version()


def test_a_key_is_found_without_reading_every_row(tmp_path: Path) -> None:
    made(tmp_path / "s")[0].close()
    with closing(sqlite3.connect(tmp_path / "s" / "store.db")) as database:
        asked = "EXPLAIN QUERY PLAN SELECT * FROM versions WHERE {} = 'key'"
        plan = str(database.execute(asked.format(REQUEST_KEY["sqlite"])).fetchall())
    assert "USING INDEX versions_request" in plan


def test_of_a_version_and_its_promotion_none_or_both_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, new = made(tmp_path / "s")
    # As if another process had promoted something meanwhile.
    stale = replace(store.promotions()[-1], number=0)
    monkeypatch.setattr(store.parts.versions, "last_promotion", lambda _: stale)
    with pytest.raises(StoreChangedError, match="meanwhile"):
        store.add(
            new,
            intent=Intent(promote=True, idempotency_key=IdempotencyKey("key", "1", promote=True)),
        )
    assert (store.newest, len(store.promotions())) == (1, 1)
