"""Versions that answer as soon as they are made, and those that must not."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from nodegraft.base.errors import GateError, StoreError
from nodegraft.store.intent import Intent
from nodegraft.store.versions.lineage import versions_to_compare
from tests.store.maintenance.test_purging import EDGES, TABLE, tabled
from tests.store.small import Small, drawn, made


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Small]:
    store, new = made(tmp_path / "s", method="graft")
    with store:
        yield store, new


def test_a_change_answers_at_once(small: Small) -> None:
    store, new = small
    version = store.add(new, intent=Intent(promote=True, author="anna", note="asked for"))
    move = store.promotions()[-1]
    assert (store.newest, store.live) == (version.number, version.number)
    assert (move.action, move.by, move.note, move.at) == (
        "promote",
        "anna",
        "asked for",
        version.at,
    )
    assert set(new) <= set(store.predict().predictions)
    assert store.rollback().version == 1


def test_a_change_that_is_refused_does_not_answer(small: Small) -> None:
    store, _ = small
    everything, labelled = drawn()[1], store.state().labels.owners()
    one, two = (
        [key for key in everything[name] if key not in labelled]
        for name in ("class-00", "class-01")
    )
    poison = {"poison": [*one[:3], *two[:3]]}
    with pytest.raises(GateError, match="Check that they belong to one class"):
        store.add(poison, intent=Intent(promote=True))
    with pytest.raises(StoreError, match=r"without promote=True \(--promote\)"):
        store.add(poison, intent=Intent(promote=True, override="a test"))
    assert (store.newest, store.live) == (1, 1)
    # Nor does it with the next change that nothing speaks against.
    store.add(poison, intent=Intent(override="a test"))
    with pytest.raises(StoreError, match="version 2 waits for review"):
        store.rename("class-00", "first", intent=Intent(promote=True))
    store.undo()
    assert store.rename("class-00", "first", intent=Intent(promote=True)).number == store.live == 4


def test_tables_that_change_answer_at_once(tmp_path: Path) -> None:
    with tabled(tmp_path / "s") as store:
        store.promote()
        grown = store.grow(
            TABLE.slice(0, 1).set_column(0, "key", [["m1"]]), intent=Intent(promote=True)
        )
        assert store.live == grown.number
        assert store.predict(["m1"]).predictions == ["hats"]
        assert store.sync(TABLE, EDGES, intent=Intent(promote=True)).number == store.live


def test_tables_that_spoil_answers_do_not_answer_at_once(tmp_path: Path) -> None:
    with tabled(tmp_path / "s") as store:
        store.promote()
        texts = TABLE["text"].to_pylist()
        mixed = TABLE.set_column(1, "text", [texts[20:40] + texts[:20] + texts[40:]])
        with pytest.raises(GateError, match=r"omit promote=True \(--promote\)"):
            store.sync(mixed, intent=Intent(promote=True))
        assert store.live == store.newest == 3
        assert store.sync(mixed).number == 4
        assert store.live == 3


def test_versions_are_compared_with_the_live_one_or_the_one_before(tmp_path: Path) -> None:
    store, new = made(tmp_path / "s")
    with pytest.raises(StoreError, match="first live version"):
        versions_to_compare(store, None, None)
    for name, nodes in new.items():
        store.add({name: nodes})

    def compared(*numbers: int | None) -> tuple[int, ...]:
        return tuple(version.number for version in versions_to_compare(store, *numbers))

    assert compared(None, None) == (1, 3)
    assert compared(2, None) == (2, 3)
    store.promote()
    assert compared(None, None) == (1, 3)
    assert compared(None, 2) == (3, 2)
    first, *_ = new.values()
    store.unlabel(first[:1])
    assert compared(None, None) == (3, 4)
    store.discard()
    assert compared(None, None) == (1, 3)
    store.prune(keep=1)
    assert compared(None, None) == (1, 3)
