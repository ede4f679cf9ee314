import os
from datetime import timedelta
from time import time

import pytest

from nodegraft.base.errors import ParameterError, StoreError
from nodegraft.graph.keys import Key
from nodegraft.store.intent import Intent
from nodegraft.store.maintenance import pruning
from nodegraft.store.store import Store
from tests.store.small import Small


def teach(store: Store, new: dict[str, list[Key]]) -> None:
    """Versions 2 to 5, each with labels and a model of its own."""
    for name, nodes in new.items():
        store.add({name: nodes[:4]})
        store.label({name: nodes[4:]})


def files(store: Store) -> set[str]:
    return {path.name for path in (store.place / "objects").iterdir()}


def size(store: Store) -> int:
    return sum(path.stat().st_size for path in (store.place / "objects").iterdir())


def test_old_versions_go_and_stay_listed(small: Small) -> None:
    store, new = small
    teach(store, new)
    store.promote()
    wanted, before = store.predict(top=3).probabilities, size(store)
    found = store.prune(keep=1, intent=Intent(author="anna", note="tidy"))
    assert (found.versions, found.kept) == ((2, 3, 4), (1, 5))
    assert before - size(store) == found.size > 0
    assert [one.action for one in store.history()][-1] == "prune"
    assert sorted(store.pruned()) == [2, 3, 4]
    assert (store.newest, store.live) == (5, 5)
    assert store.predict(top=3).probabilities.tobytes() == wanted.tobytes()
    told = r"Version 3 was pruned on \d{4}-\d\d-\d\d \d\d:\d\d UTC by anna \(version 6"
    for asked in (store.predict, store.state, store.graph, store.promote):
        with pytest.raises(StoreError, match=told):
            asked(version=3)
    assert store.rollback().version == 1


def test_what_would_go_is_what_goes(small: Small) -> None:
    store, new = small
    teach(store, new)
    there = files(store)
    would = store.prune(keep=2, dry_run=True)
    assert (files(store), store.pruned(), len(store.history())) == (there, {}, 5)
    assert store.prune(keep=2) == would
    assert len(there - files(store)) == would.files > 0
    again = store.prune(keep=2)
    assert (again.versions, again.files, again.size) == ((), 0, 0)
    # Nothing was pruned, so nothing is written down.
    assert len(store.history()) == 6


def test_prunes_do_not_count_as_versions(small: Small) -> None:
    store, new = small
    teach(store, new)
    store.prune(keep=3)
    (name, nodes), _ = new.items()
    assert store.unlabel(nodes[:1]).number == 7
    assert store.prune(keep=3).versions == (3,)
    assert store.undo().detail == {"version": 7}
    assert set(store.state(store.newest).labels[name].all) == set(nodes)


def test_versions_that_rollbacks_lead_to_are_kept(small: Small) -> None:
    store, new = small
    teach(store, new)
    for number in (2, 3, 5):
        store.promote(number)
    assert store.prune(keep=1).versions == (1, 2, 4)
    assert store.rollback().version == 3
    with pytest.raises(StoreError, match="Version 2 was pruned"):
        store.rollback()
    assert store.live == 3


def test_what_was_before_a_pruned_version_is_not_undone(small: Small) -> None:
    store, new = small
    teach(store, new)
    store.prune(keep=2)
    with pytest.raises(StoreError, match="Version 3 was pruned"):
        store.undo(4)
    assert store.undo().number == 7


def test_files_of_killed_writers_go_when_they_are_old(small: Small) -> None:
    store, _ = small
    folder = store.place / "objects"
    half, whole, young = (
        folder / f".{'a' * 64}.{'d' * 32}",
        folder / ("b" * 64),
        folder / ("c" * 64),
    )
    for path in (half, whole, young):
        path.write_bytes(b"left")
    before = time() - 2 * pruning.ABANDONED.total_seconds()
    for path in (half, whole):
        os.utime(path, (before, before))
    found = store.prune()
    assert (found.files, found.size, found.versions) == (2, 8, ())
    assert young.exists()
    assert not half.exists()


def test_a_writer_whose_files_are_pruned_is_refused(
    small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, new = small
    name, nodes = next(iter(new.items()))
    store.add({name: nodes})
    first, put = store.undo(), store.parts.states.put
    store.prune(keep=1)
    monkeypatch.setattr(pruning, "ABANDONED", timedelta(0))

    def pruned_after(*given: object, **how: object) -> object:
        names = put(*given, **how)  # type: ignore[arg-type]
        with Store.open(store.place) as other:
            other.prune()
        return names

    monkeypatch.setattr(store.parts.states, "put", pruned_after)
    with pytest.raises(StoreError, match="try again"):
        store.add({name: nodes})
    monkeypatch.undo()
    assert store.newest == first.number
    assert store.add({name: nodes}).number == 5
    store.predict(nodes, version=5)


def test_one_version_at_least_is_kept(small: Small) -> None:
    with pytest.raises(ParameterError, match="keep"):
        small[0].prune(keep=0)


def test_a_graph_that_somebody_writes_for_hours_is_left_alone(small: Small) -> None:
    derived = small[0].place / "derived"
    busy, left = derived / "unfinished-busy", derived / "unfinished-left"
    long_ago = time() - 2 * pruning.ABANDONED.total_seconds()
    for place in (busy, left):
        (place / "work").mkdir(parents=True)
        (place / "work" / "rows").touch()
        for one in (place / "work" / "rows", place / "work", place):
            os.utime(one, (long_ago, long_ago))
    with (busy / "work" / "rows").open("ab") as file:
        file.write(b"more")
    small[0].prune()
    assert busy.exists()
    assert not left.exists()
