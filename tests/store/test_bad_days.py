"""A full disk, a folder that may only be read, two at once: a sentence, and nothing half done."""

import errno
import os
import pwd
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from nodegraft.base.errors import NodegraftError, StoreError, StoreUnreachableError
from nodegraft.store.intent import Intent
from nodegraft.store.model_cards import ModelCards
from nodegraft.store.store import Store
from nodegraft.store.versions import database
from tests.fault.test_store_kills import forked, seen, was_killed
from tests.store.small import made
from tests.store.versions.test_postgresql import (
    Made,
    both_at_once,
    check_none_is_lost,
)

OPERATIONS: dict[str, Callable[[Store, dict[str, list[Any]]], object]] = {
    "add": lambda store, new: store.add(new),
    "add and promote": lambda store, new: store.add(new, intent=Intent(promote=True)),
    "purge": lambda store, new: store.purge([next(iter(new.values()))[0]]),
}


@pytest.fixture
def kept(tmp_path: Path) -> Made:
    store, new = made(tmp_path / "store")
    store.close()
    return tmp_path / "store", new


def no_space(*_: object) -> NoReturn:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def full_at(number: int, patch: pytest.MonkeyPatch, owner: object, name: str) -> list[int]:
    """From a certain write on the disk is full; the list gets an item for each write."""
    written, write = list[int](), getattr(owner, name)

    def counted(*given: Any) -> Any:
        written.append(1)
        return no_space() if len(written) > number else write(*given)

    patch.setattr(owner, name, counted)
    return written


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(("owner", "name"), [(Path, "write_bytes"), (os, "fsync")])
def test_a_full_disk_is_told_and_changes_nothing(
    operation: str,
    owner: object,
    name: str,
    kept: Made,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place, new = kept
    twin, before = tmp_path / "twin", seen(place)
    # A card is written after the promotion, which it cannot undo.
    monkeypatch.setattr(ModelCards, "write_promoted", lambda *_: None)
    shutil.copytree(place, twin)
    with Store.open(twin) as store, pytest.MonkeyPatch.context() as patch:
        written = full_at(10**6, patch, owner, name)
        OPERATIONS[operation](store, new)
    for number in {0, 1, len(written) // 2, len(written) - 1}:
        with Store.open(place) as store, pytest.MonkeyPatch.context() as patch:
            full_at(number, patch, owner, name)
            with pytest.raises(StoreError, match="cannot be written to: No space left on device"):
                OPERATIONS[operation](store, new)
        assert seen(place) == before
        assert not list((place / "objects").glob(".*"))
    with Store.open(place) as store:
        OPERATIONS[operation](store, new)
    assert seen(place) == seen(twin)


def test_a_card_on_a_full_disk_does_not_undo_the_promotion(
    kept: Made, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    place, new = kept
    with Store.open(place) as store:
        store.add(new)
        monkeypatch.setattr(Path, "write_bytes", no_space)
        assert store.promote().version == store.live == 2
        (record,) = caplog.records
        assert "No space left" in record.message
        assert record.message.endswith(f"nodegraft card {place} --version 2")
        with pytest.raises(OSError, match="No space left"):
            store.write_card()
        monkeypatch.undo()
        assert store.write_card() == place / "cards" / "version-2.md"


def test_a_database_without_room_is_told_and_changes_nothing(kept: Made) -> None:
    place, new = kept
    before = seen(place)
    with Store.open(place) as store:
        with store.parts.journal.connection() as connection:
            (pages,) = connection.exec_driver_sql("PRAGMA page_count").one()
            connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")
        with pytest.raises(StoreError, match=r"The disk is full\. Nothing was written"):
            store.add(new, intent=Intent(note="x" * 100_000))
    assert seen(place) == before
    with Store.open(place) as store:
        store.add(new, intent=Intent(note="x" * 100_000))


def test_an_init_on_a_full_disk_is_told_and_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes = full_at(10**6, monkeypatch, Path, "write_bytes")
    made(tmp_path / "undisturbed")[0].close()
    monkeypatch.undo()
    for number in range(len(writes)):
        full_at(number, monkeypatch, Path, "write_bytes")
        with pytest.raises(NodegraftError, match="No space left"):
            made(tmp_path / "store")
        monkeypatch.undo()
    made(tmp_path / "store")[0].close()
    assert seen(tmp_path / "store") == seen(tmp_path / "undisturbed")


@pytest.fixture
def shared() -> Iterator[Made]:
    """A store that others may read; nobody may look into a folder of pytest's."""
    with tempfile.TemporaryDirectory(prefix="store-") as folder:
        Path(folder).chmod(0o755)
        store, new = made(Path(folder) / "store")
        with store:
            store.add(new)
        yield store.place, new


def reader(work: Callable[[], object]) -> int:
    """Start a process that may write nowhere; its id."""
    if os.geteuid() != 0:
        pytest.skip("only root can be somebody else")
    nobody = pwd.getpwnam("nobody")

    def weaker() -> None:
        os.setgroups([])
        os.setgid(nobody.pw_gid)
        os.setuid(nobody.pw_uid)
        work()

    return forked(weaker)


def by_a_reader(work: Callable[[], object]) -> None:
    """Do some work in a process that may write nowhere."""
    assert not was_killed(reader(work))


def check_reader(place: Path, versions: int) -> None:
    with Store.open(place) as store:
        assert len(store.history()) == versions
        assert (store.newest, store.live) == (versions, 1)
        assert len(store.predict(version=2)) == 240
        some = store.predict(version=2).nodes[-1:]
        with pytest.raises(StoreError, match="Permission denied"):
            store.add({"hats": some}, intent=Intent(override="a test"))
        for work in (lambda: store.promote(2), store.undo, lambda: store.prune(keep=1)):
            with pytest.raises(StoreError, match="This store is read-only for you"):
                work()


def test_who_may_only_read_is_answered(shared: Made) -> None:
    by_a_reader(lambda: check_reader(shared[0], 2))
    assert {path.name for path in shared[0].iterdir()} == {"objects", "store.db", "store.json"}


def test_who_may_only_read_sees_what_others_write(shared: Made) -> None:
    place, _ = shared
    with Store.open(place) as store:
        store.undo()
        # What was written is still in the log.
        assert (place / "store.db-wal").stat().st_size
        by_a_reader(lambda: check_reader(place, 3))
        store.undo()
    by_a_reader(lambda: check_reader(place, 4))


def test_a_reader_goes_on_while_others_write(shared: Made) -> None:
    place, _ = shared
    told, tell = os.pipe()

    def read() -> None:
        with Store.open(place) as store:
            assert store.newest == 2
            os.write(tell, b".")
            while store.newest < 5:
                store.history()

    child = reader(read)
    os.read(told, 1)
    with Store.open(place) as store:
        for _ in range(3):
            store.undo()
    assert not was_killed(child)


def test_who_is_kept_out_is_told(shared: Made) -> None:
    place, _ = shared
    (place / "store.json").chmod(0o600)

    def check() -> None:
        with pytest.raises(StoreError, match=r"store\.json cannot be read: .*Permission denied"):
            Store.open(place)

    by_a_reader(check)


def test_a_database_that_somebody_holds_is_told(
    kept: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, new = kept
    monkeypatch.setattr(database, "WAIT_SECONDS", 0)
    holding = sqlite3.connect(place / "store.db", isolation_level=None)
    holding.execute("BEGIN IMMEDIATE")
    with Store.open(place) as store:
        store.predict()
        with pytest.raises(StoreError, match="Another process has been writing"):
            store.add(new)
        holding.execute("ROLLBACK")
        holding.close()
        assert store.add(new).number == 2


@pytest.mark.parametrize("together", [False, True], ids=["as it comes", "from the same version"])
def test_of_two_that_add_at_once_none_is_lost(
    together: bool, kept: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_none_is_lost(*kept, together, tmp_path, monkeypatch)


def test_a_prune_and_a_writer_at_once_leave_no_version_without_files(
    kept: Made, tmp_path: Path
) -> None:
    place, new = kept

    def work(name: str) -> None:
        with Store.open(place) as store:
            for _ in range(10):
                if name == "prune":
                    store.prune(keep=1)
                    continue
                known = set(new) <= set(store.state(store.newest).labels)
                store.remove(list(new)) if known else store.add(new)

    both_at_once(work, ["prune", "teach"], tmp_path)
    with Store.open(place) as store:
        assert len(store.history()) > 1
        pruned = store.pruned()
        for version in store.history():
            if version.number not in pruned:
                store.state(version.number)


def test_a_copy_of_a_store_is_a_store(kept: Made, tmp_path: Path) -> None:
    place, new = kept
    with Store.open(place) as store:
        store.add(new)
        # Database first: it names no object that is not there yet.
        copy = tmp_path / "copy"
        copy.mkdir()
        with (
            sqlite3.connect(place / "store.db") as source,
            sqlite3.connect(copy / "store.db") as target,
        ):
            source.backup(target)
        target.close()
        source.close()
        store.undo()
        shutil.copytree(place / "objects", copy / "objects")
        shutil.copy(place / "store.json", copy)
    with Store.open(copy) as store:
        assert store.newest == 2
        for version in store.history():
            store.state(version.number)


def test_a_database_that_is_moved_is_noticed_and_never_created_empty(tmp_path: Path) -> None:
    place, away = tmp_path / "shop", tmp_path / "away.db"
    with made(place)[0] as store:
        (place / "store.db").rename(away)
        with pytest.raises(StoreUnreachableError, match=r"store\.db was moved or deleted"):
            store.version()
        assert not (place / "store.db").exists()
        away.rename(place / "store.db")
        assert store.version().number == 1
