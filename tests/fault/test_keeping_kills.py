"""A store that is pruned or purged by a process that dies: it works, and the next one goes on."""

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from nodegraft.base.errors import StoreError
from nodegraft.store.store import Store
from tests.fault.test_store_kills import (
    COMMITTED,
    killed_at,
    opened,
    some_steps,
    steps_of,
)
from tests.store.maintenance.test_purging import BRAND, KEY, WORD, found_in, tabled
from tests.store.small import made

# What is tried shares what it starts from.
pytestmark = pytest.mark.xdist_group("store kills")

COMMITS = ("do_commit", COMMITTED)

Said = tuple[int, int, bytes, bytes]


def taught(place: Path, database: str | None = None) -> None:
    store, new = made(place, database=database)
    with store:
        for name, nodes in new.items():
            store.add({name: nodes[:4]})
            store.label({name: nodes[4:]})
        store.promote()


def prune(place: Path) -> None:
    with Store.open(place) as store:
        store.prune(keep=1)


def purge(place: Path) -> None:
    with Store.open(place) as store:
        store.purge([KEY])


def purge_again(place: Path) -> None:
    try:
        purge(place)
    except StoreError as error:
        # All was written down: what was left to remove is removed.
        if "it is complete now" not in str(error):
            raise


def said(place: Path) -> Said:
    """What the live version and the candidate say; every version that is not pruned is whole."""
    with opened(place) as store:
        pruned = store.pruned()
        for version in store.history():
            if version.number not in pruned:
                store.parts.states.get(version.names)
        numbers = store.live, store.newest
        one, other = (store.predict(version=number, top=2) for number in numbers)
        return (*numbers, one.probabilities.tobytes(), other.probabilities.tobytes())


def files(place: Path) -> set[str]:
    return {path.name for path in (place / "objects").iterdir()}


def cut_everywhere(
    folder: Path, every: int, do: Callable[[Path], None], again: Callable[[Path], None]
) -> list[Path]:
    """Stores in which something was cut at one step each, and then done again."""
    ready, undisturbed, found = folder / "ready", folder / "undisturbed", []
    shutil.copytree(ready, undisturbed)
    before = said(ready)
    names = steps_of(partial(do, undisturbed))
    after, committed = said(undisturbed), names.index(COMMITTED)
    for step in (at for at, name in enumerate(names) if at % every == 0 or name in COMMITS):
        place = folder / str(step)
        shutil.copytree(ready, place)
        assert killed_at(step, partial(do, place))
        assert said(place) == (before if step < committed else after)
        again(place)
        assert said(place) == after
        assert files(place) == files(undisturbed)
        found.append(place)
    return found


@some_steps
def test_a_prune_that_is_cut_is_finished_by_the_next(every: int, tmp_path: Path) -> None:
    taught(tmp_path / "ready")
    before = files(tmp_path / "ready")
    for place in cut_everywhere(tmp_path, every, prune, prune):
        assert files(place) < before
        with Store.open(place) as store:
            assert sorted(store.pruned()) == [2, 3, 4]
            assert [one.action for one in store.history()].count("prune") == 1


@some_steps
def test_a_purge_that_is_cut_is_finished_by_the_next(every: int, tmp_path: Path) -> None:
    tabled(tmp_path / "ready").close()
    for place in cut_everywhere(tmp_path, every, purge, purge_again):
        assert found_in(place, KEY, WORD, BRAND) == set()
