"""A store whose process dies: real SIGKILLs at every step that reaches the disk."""

import os
import shutil
import signal
import sqlite3
import stat
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from math import inf
from pathlib import Path
from random import Random
from time import monotonic, sleep
from typing import Any, NoReturn

import pytest
import torch
from sqlalchemy.engine.default import DefaultDialect

from nodegraft.analysis.results.maintenance import Migration
from nodegraft.base.errors import StoreError
from nodegraft.base.files.folder import WriteOnceFolder
from nodegraft.graph.keys import Key
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store
from nodegraft.store.versions.migration import migrated, require_current
from tests.slow_suite import slow
from tests.store.small import add_later_revision, made

# What is tried shares what it starts from.
pytestmark = pytest.mark.xdist_group("store kills")

SECONDS_TO_OPEN = 2.0
LONGEST = 60
HALF, COMMITTED = "half a file", "committed"
FILES = ("mkdir", "fsync", "link", "rename", "replace", "unlink", "remove")

# All files are written by the same six steps: each 23rd is one of each kind.
some_steps = pytest.mark.parametrize("every", [23, pytest.param(1, marks=slow)])

Seen = tuple[object, ...]


class Steps:
    """Names every step of its process that reaches the disk, and ends the process before one."""

    def __init__(self, last: int | None = None) -> None:
        self.names: list[str] = []
        self._last = last

    def watch(self, patch: pytest.MonkeyPatch) -> None:
        for owner, name in (
            *((os, name) for name in FILES),
            (DefaultDialect, "do_execute"),
            (DefaultDialect, "do_commit"),
        ):
            patch.setattr(owner, name, self._before(name, getattr(owner, name)))
        commit: Callable[..., None] = DefaultDialect.do_commit
        write = Path.write_bytes

        def committed(dialect: DefaultDialect, connection: Any) -> None:
            commit(dialect, connection)
            self._reached(COMMITTED)

        def in_two_halves(path: Path, content: bytes) -> int:
            write(path, content[: len(content) // 2])
            self._reached(HALF)
            return write(path, content)

        patch.setattr(DefaultDialect, "do_commit", committed)
        patch.setattr(Path, "write_bytes", in_two_halves)

    def _before(self, name: str, step: Callable[..., Any]) -> Callable[..., Any]:
        def stepped(*given: Any, **options: Any) -> Any:
            self._reached(name)
            return step(*given, **options)

        return stepped

    def _reached(self, name: str) -> None:
        if len(self.names) == self._last:
            os.kill(os.getpid(), signal.SIGKILL)
        self.names.append(name)


def forked(work: Callable[[], object]) -> int:
    """Start a process that does some work and ends; its id."""
    with warnings.catch_warnings():
        # Python 3.12 and later warn of threads; the child uses none of them.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    return child or _worked(work)


def _worked(work: Callable[[], object]) -> NoReturn:
    try:
        # Threads of the parent are not there to be waited for; nor does anybody wait for ever.
        torch.set_num_threads(1)
        signal.alarm(LONGEST)
        work()
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def was_killed(child: int) -> bool:
    """Whether a process ended by SIGKILL; else it must have come to its end."""
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) == 0
    return False


def steps_of(work: Callable[[], object]) -> list[str]:
    """The steps of some work, which is done."""
    steps = Steps()
    with pytest.MonkeyPatch.context() as patch:
        steps.watch(patch)
        work()
    return steps.names


def killed_at(step: int, work: Callable[[], object]) -> bool:
    """Whether some work, done in a process of its own, came as far as a step, where it ends."""

    def watched() -> None:
        Steps(step).watch(pytest.MonkeyPatch())
        work()

    return was_killed(forked(watched))


def chosen(names: list[str], every: int) -> list[int]:
    """Steps to end at: all of the database, some of the files."""
    return [
        step for step, name in enumerate(names) if step % every == 0 or name not in (*FILES, HALF)
    ]


def opened(place: Path) -> Store:
    began = monotonic()
    store = Store.open(place)
    assert monotonic() - began < SECONDS_TO_OPEN
    return store


def seen(place: Path) -> Seen:
    """Which version is the newest, which one answers, and all that both say."""
    with opened(place) as store:
        candidate, champion = store.newest, store.live
        said = [store.predict(version=number, top=3) for number in (candidate, champion)]
        assert [one.number for one in store.history()] == list(range(1, candidate + 1))
        return (
            candidate,
            champion,
            dict(store.state(candidate).labels),
            *((str(one.classes), one.probabilities.tobytes()) for one in said),
        )


def make(place: Path) -> None:
    made(place)[0].close()


@dataclass(frozen=True)
class Operation:
    """One thing that is done to a store, and what is done before."""

    prepare: Callable[[Store, dict[str, list[Key]]], object]
    do: Callable[[Store, dict[str, list[Key]]], object]

    def at(self, place: Path, new: dict[str, list[Key]]) -> None:
        with Store.open(place) as store:
            self.do(store, new)


def add_one_by_one(store: Store, new: dict[str, list[Key]]) -> None:
    for name, nodes in new.items():
        store.add({name: nodes})


OPERATIONS = {
    "add": Operation(lambda store, new: None, lambda store, new: store.add(new)),
    "add and promote": Operation(
        lambda store, new: None, lambda store, new: store.add(new, intent=Intent(promote=True))
    ),
    "undo": Operation(lambda store, new: store.add(new), lambda store, new: store.undo()),
    "undo an older one": Operation(add_one_by_one, lambda store, new: store.undo(2)),
    "discard": Operation(add_one_by_one, lambda store, new: store.discard()),
    "promote": Operation(lambda store, new: store.add(new), lambda store, new: store.promote()),
    "rollback": Operation(
        lambda store, new: (store.add(new), store.promote()), lambda store, new: store.rollback()
    ),
}


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, list[Key]]]:
    place = tmp_path_factory.mktemp("first") / "store"
    store, new = made(place)
    store.close()
    return place, new


@some_steps
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_change_that_is_cut_anywhere_leaves_the_version_before_or_after(
    name: str, every: int, first: tuple[Path, dict[str, list[Key]]], tmp_path: Path
) -> None:
    operation, (template, new) = OPERATIONS[name], first
    ready, undisturbed = tmp_path / "ready", tmp_path / "undisturbed"
    shutil.copytree(template, ready)
    with Store.open(ready) as store:
        operation.prepare(store, new)
    shutil.copytree(ready, undisturbed)
    before = seen(ready)
    names = steps_of(lambda: operation.at(undisturbed, new))
    after = seen(undisturbed)
    assert before != after
    for step in chosen(names, every):
        place = tmp_path / str(step)
        shutil.copytree(ready, place)
        assert killed_at(step, partial(operation.at, place, new))
        if COMMITTED not in names[: step + 1]:
            assert seen(place) == before
            operation.at(place, new)
        assert seen(place) == after
        shutil.rmtree(place)


@some_steps
def test_an_init_that_is_cut_leaves_a_store_or_is_done_again(every: int, tmp_path: Path) -> None:
    assert list(inits_cut(make, every, tmp_path))


def inits_cut(make: Callable[[Path], None], every: int, folder: Path) -> Iterator[Path]:
    """Stores whose making was cut; done again where there was none, each is what it should be."""
    names = steps_of(partial(make, folder / "undisturbed"))
    whole = seen(folder / "undisturbed")
    for step in range(0, len(names), every):
        place = folder / str(step)
        assert killed_at(step, partial(make, place))
        try:
            Store.open(place).close()
        except StoreError:
            make(place)
        assert seen(place) == whole
        yield place


def test_tables_whose_making_is_cut_are_made_the_next_time(tmp_path: Path) -> None:
    names = steps_of(lambda: migrated(f"sqlite:///{tmp_path / 'undisturbed'}"))
    for step in range(len(names)):
        url = f"sqlite:///{tmp_path / str(step)}"
        assert killed_at(step, partial(migrated, url))
        journal = migrated(url)
        require_current(journal)
        assert (journal.versions(), journal.promotions()) == ([], [])
        journal.close()


def test_a_migration_that_is_cut_anywhere_leaves_the_old_tables_or_the_new(
    first: tuple[Path, dict[str, list[Key]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, whole = first[0], seen(first[0])
    add_later_revision(tmp_path / "scripts", monkeypatch)
    undisturbed = spoilt(old, tmp_path / "undisturbed")
    names = steps_of(partial(Store.migrate, undisturbed))
    assert seen(undisturbed) == whole
    assert Store.verify(undisturbed).is_clean
    for step in range(len(names)):
        place = spoilt(old, tmp_path / str(step))
        assert killed_at(step, partial(Store.migrate, place))
        if COMMITTED not in names[: step + 1]:
            with pytest.raises(StoreError, match="run `nodegraft migrate STORE`"):
                Store.open(place)
            assert Store.migrate(place) == Migration("0100", "0101")
        assert seen(place) == whole
        assert Store.migrate(place) == Migration("0101", "0101")


def change_again_and_again(place: Path, new: dict[str, list[Key]], until: float) -> None:
    with Store.open(place) as store:
        while store.newest < until:
            if store.live != store.newest:
                store.promote()
            known = set(new) <= set(store.state(store.newest).labels)
            store.undo() if known else store.add(new)


@pytest.mark.parametrize("times", [10, pytest.param(200, marks=slow)])
def test_a_store_killed_again_and_again_stays_whole(
    times: int, first: tuple[Path, dict[str, list[Key]]], tmp_path: Path
) -> None:
    template, new = first
    place, moments, said = tmp_path / "store", Random(0), dict[str, bytes]()  # noqa: S311
    shutil.copytree(template, place)
    began, newest = monotonic(), 3
    assert not was_killed(forked(partial(change_again_and_again, place, new, newest)))
    took = monotonic() - began
    for _ in range(times):
        child = forked(partial(change_again_and_again, place, new, inf))
        sleep(moments.uniform(0.0, 2 * took))
        os.kill(child, signal.SIGKILL)
        assert was_killed(child)
        with opened(place) as store:
            assert store.newest >= newest
            newest = store.newest
            check_all_there(store)
            for number in (newest, newest - 1, store.live):
                version = store.history()[number - 1]
                answers = store.predict(version=number, top=6).probabilities.tobytes()
                # The same labels have the same model and give the same answers, in every life.
                assert said.setdefault(version.labels + version.model, answers) == answers
    assert newest > 3
    assert len(said) == 2


def check_all_there(store: Store) -> None:
    history = store.history()
    assert [one.number for one in history] == list(range(1, len(history) + 1))
    assert all(move.version <= len(history) for move in store.promotions())
    for names in {one.names for one in history}:
        store.parts.states.get(names)


def flushed_folders(work: Callable[[], object]) -> set[int]:
    """The inodes of folders whose list of files some work brought to the disk."""
    found, flush = set[int](), os.fsync

    def noted(handle: int) -> None:
        about = os.fstat(handle)
        if stat.S_ISDIR(about.st_mode):
            found.add(about.st_ino)
        flush(handle)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", noted)
        work()
    return found


def test_a_file_that_a_killed_process_left_is_flushed_by_the_next_one(tmp_path: Path) -> None:
    folder = WriteOnceFolder(tmp_path / "folder")
    names = steps_of(lambda: WriteOnceFolder(tmp_path / "undisturbed").write("file", b"content"))
    flush = names.index("link") + 1
    assert names[flush] == "fsync"
    assert killed_at(flush, lambda: folder.write("file", b"content"))
    assert folder.read("file") == b"content"
    found = flushed_folders(lambda: folder.write("file", b"content"))
    assert (tmp_path / "folder").stat().st_ino in found


def test_a_new_store_is_flushed_up_to_the_folder_it_is_in(tmp_path: Path) -> None:
    found = flushed_folders(partial(make, tmp_path / "store"))
    assert {one.stat().st_ino for one in (tmp_path, tmp_path / "store")} <= found


def spoilt(template: Path, place: Path, *commands: str) -> Path:
    shutil.copytree(template, place)
    with sqlite3.connect(place / "store.db") as database:
        for command in commands:
            database.execute(command)
    database.close()
    return place


@pytest.mark.parametrize(
    "commands",
    [
        ["DROP TABLE promotions"],
        ["DELETE FROM promotions", "DELETE FROM versions"],
        ["DELETE FROM alembic_version"],
        ["UPDATE alembic_version SET version_num = '9999'"],
    ],
)
def test_a_database_that_lacks_something_is_told(
    commands: list[str], first: tuple[Path, dict[str, list[Key]]], tmp_path: Path
) -> None:
    place = spoilt(first[0], tmp_path / "store", *commands)
    with pytest.raises(StoreError, match=r"database|was interrupted"), Store.open(place) as store:
        store.predict()


def test_tables_of_tomorrow_are_not_touched(
    first: tuple[Path, dict[str, list[Key]]], tmp_path: Path
) -> None:
    newer = "UPDATE alembic_version SET version_num = '9999'"
    place = spoilt(first[0], tmp_path / "store", newer)
    for work in (Store.open, Store.migrate):
        with pytest.raises(StoreError, match="revision 9999, which is newer"):
            work(place)


def test_tables_from_before_the_first_release_are_refused(
    first: tuple[Path, dict[str, list[Key]]], tmp_path: Path
) -> None:
    older = "UPDATE alembic_version SET version_num = '0004'"
    place = spoilt(first[0], tmp_path / "store", older)
    for work in (Store.open, Store.migrate, Store.verify):
        with pytest.raises(StoreError, match=r"revision 0004, from before .* create the store"):
            work(place)


def test_a_database_that_is_gone_is_told_and_not_made(
    first: tuple[Path, dict[str, list[Key]]], tmp_path: Path
) -> None:
    place = spoilt(first[0], tmp_path / "store")
    (place / "store.db").rename(tmp_path / "away")
    with pytest.raises(StoreError, match=r"store\.db"):
        Store.open(place)
    with pytest.raises(StoreError, match="already exists"):
        make(place)
    (tmp_path / "away").rename(place / "store.db")
    assert seen(place) == seen(first[0])
