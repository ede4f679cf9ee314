"""A store whose versions are written down in a real PostgreSQL."""

import gc
import os
import stat
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from threading import Timer
from time import monotonic, sleep

import pytest
from sqlalchemy import make_url

from nodegraft.analysis.results.maintenance import Migration
from nodegraft.base.errors import StoreError
from nodegraft.graph.keys import Key
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store
from nodegraft.store.versions import database as database_room
from nodegraft.store.versions.audit import add_audit_entry
from nodegraft.store.versions.journal import Journal
from nodegraft.store.versions.migration import migrated, require_current
from tests.fault.test_keeping_kills import files, prune, purge, purge_again, said, taught
from tests.fault.test_store_kills import COMMITTED, forked, killed_at, seen, steps_of, was_killed
from tests.store.maintenance.test_purging import BRAND, KEY, WORD, found_in, tabled
from tests.store.postgresql import LONGEST, Server, running, url_of
from tests.store.small import add_later_revision, made
from tests.store.versions.test_request import check_found_again

# One server for all of them.
pytestmark = pytest.mark.xdist_group("postgresql")

Made = tuple[Path, dict[str, list[Key]]]


def make(place: Path, database: str) -> None:
    made(place, database=database)[0].close()


def refused(work: Callable[[], None]) -> tuple[str, list[str]]:
    """What some work is refused with, empty if it is not, and what it leaves open."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", ResourceWarning)
        message = ""
        try:
            work()
        except StoreError as error:
            message = str(error)
        gc.collect()
    return message, [str(warning.message) for warning in told]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running() as server:
        yield server


@pytest.fixture
def database(server: Server) -> str:
    return server.url(server.new_database())


@pytest.fixture
def kept(database: str, tmp_path: Path) -> Made:
    """A store with a first version, and what to teach it."""
    store, new = made(tmp_path / "store", database=database)
    store.close()
    return tmp_path / "store", new


def test_a_store_lives_its_life(kept: Made) -> None:
    place, new = kept
    assert not (place / "store.db").exists()
    with Store.open(place) as store:
        first, added = (
            store.history()[0],
            store.add(new, intent=Intent(author="änna", note="a 'new' shelf;")),
        )
        assert (added.number, added.parent, added.by, added.note) == (
            2,
            1,
            "änna",
            "a 'new' shelf;",
        )
        assert store.promote().version == store.live == 2
        undone = store.undo()
        assert (undone.labels, undone.model) == (first.labels, first.model)
        store.rollback()
        written, moves = store.history(), store.promotions()
        answers = store.predict(version=2, top=3)
    assert written[1:] == [added, undone]
    assert added.at < undone.at
    with Store.open(place) as again:
        assert (again.history(), again.promotions()) == (written, moves)
        assert (again.newest, again.live) == (3, 1)
        back = again.predict(version=2, top=3)
    assert back.classes == answers.classes
    assert back.probabilities.tobytes() == answers.probabilities.tobytes()


def set_often(place: Path, by: str, first: float) -> None:
    with Store.open(place) as store:
        for number in range(10):
            share = first + number / 10
            store.set_setting("max_removed_share", share, intent=Intent(author=by))


def test_settings_of_two_writers_are_kept_in_one_history(kept: Made) -> None:
    place, _ = kept
    # Different values: setting the value that the other one has just set writes nothing.
    writers = [
        get_context("spawn").Process(target=set_often, args=(place, by, first))
        for by, first in (("anna", 0.0), ("ben", 0.05))
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(LONGEST)
    assert [writer.exitcode for writer in writers] == [0, 0]
    with Store.open(place) as store:
        history = store.settings_history()
        assert store.setting("max_removed_share") == history[-1].detail["after"]
    assert len(history) == 20
    # Each replaced the value that the one before it set.
    befores = [entry.detail["before"] for entry in history]
    assert befores == [None, *(entry.detail["after"] for entry in history[:-1])]


def test_a_request_is_found_again_by_its_key(kept: Made) -> None:
    with Store.open(kept[0]) as store:
        check_found_again(store, kept[1])


def test_a_store_is_the_same_in_both_databases(kept: Made, tmp_path: Path) -> None:
    place, new = kept
    made(tmp_path / "file")[0].close()
    written = []
    for one in (place, tmp_path / "file"):
        with Store.open(one) as store:
            store.add(new)
            store.undo()
            written.append(
                [
                    (version.detail, version.measures, version.graph, version.labels, version.model)
                    for version in store.history()
                ]
            )
    for versions in written:
        # How long the fit took is the one thing that differs.
        assert versions[0][1].pop("seconds") >= 0
    assert written[0] == written[1]


def both_at_once(work: Callable[[str], object], names: list[str], told: Path) -> list[str]:
    """Do some work with each name, in a process each; the names of those that were refused."""

    def one(name: str) -> None:
        try:
            work(name)
        except StoreError as error:
            (told / name).write_text(str(error))

    children = [forked(partial(one, name)) for name in names]
    assert [was_killed(child) for child in children] == [False] * len(names)
    return [name for name in names if (told / name).exists()]


def write_together(patch: pytest.MonkeyPatch) -> None:
    """Of two processes neither adds a row before the other wants to."""
    meet, write = get_context("fork").Barrier(2, timeout=LONGEST), Journal.add
    patch.setattr(Journal, "add", lambda *given, **how: (meet.wait(), write(*given, **how)))


def check_none_is_lost(
    place: Path,
    new: dict[str, list[Key]],
    together: bool,
    folder: Path,
    patch: pytest.MonkeyPatch,
) -> None:
    """Two processes add a class each; where both have read the same version, one is refused."""
    if together:
        write_together(patch)

    def add(name: str) -> None:
        with Store.open(place) as store:
            store.add({name: new[name]}, intent=Intent(author=name, promote=True))

    refused = both_at_once(add, list(new), folder)
    patch.undo()
    assert len(refused) == 1 if together else len(refused) < 2
    with Store.open(place) as store:
        done = [version.by for version in store.history()[1:]]
        assert sorted(done + refused) == sorted(new)
        assert [name for name in new if name in store.state().labels] == sorted(done)
        assert store.live == store.newest == 1 + len(done)
        for name in refused:
            message = (folder / name).read_text()
            assert f"has changed meanwhile: version 2 is new (add by {done[0]}" in message
            store.add({name: new[name]}, intent=Intent(promote=True))
        assert set(new) <= set(store.state().labels)


@pytest.mark.parametrize("together", [False, True], ids=["as it comes", "from the same version"])
def test_of_two_that_add_at_once_none_is_lost(
    together: bool, kept: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_none_is_lost(*kept, together, tmp_path, monkeypatch)


def test_of_two_that_promote_at_once_one_is_refused(
    kept: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, new = kept
    with Store.open(place) as store:
        for name, nodes in new.items():
            store.add({name: nodes})
    write_together(monkeypatch)

    def promote(version: str) -> None:
        with Store.open(place) as store:
            store.promote(int(version))

    (refused,) = both_at_once(promote, ["2", "3"], tmp_path)
    assert "The live version has changed meanwhile" in (tmp_path / refused).read_text()
    with Store.open(place) as store:
        assert str(store.live) == {"2": "3", "3": "2"}[refused]


OPERATIONS: dict[str, Callable[[Store, dict[str, list[Key]]], object]] = {
    "add": lambda store, new: store.add(new),
    "promote": lambda store, new: store.promote(2),
    "undo": lambda store, new: store.undo(),
}


def done(name: str, place: Path, new: dict[str, list[Key]]) -> None:
    with Store.open(place) as store:
        OPERATIONS[name](store, new)


def test_a_change_that_is_cut_at_its_commit_leaves_the_version_before_or_after(
    kept: Made, server: Server
) -> None:
    place, new = kept
    for name in OPERATIONS:
        undisturbed, before = server.twin(place), seen(place)
        names = steps_of(partial(done, name, undisturbed, new))
        after, commit = seen(undisturbed), names.index("do_commit")
        assert names[commit - 1 : commit + 2] == ["do_execute", "do_commit", COMMITTED]
        for step in (commit - 1, commit, commit + 1):
            twin = server.twin(place)
            assert killed_at(step, partial(done, name, twin, new))
            if names[step] != COMMITTED:
                assert seen(twin) == before
                done(name, twin, new)
            assert seen(twin) == after
        done(name, place, new)


def test_tables_whose_making_is_cut_are_made_the_next_time(server: Server) -> None:
    names = steps_of(lambda: migrated(server.url(server.new_database())).close())
    for step in range(len(names)):
        url = server.url(server.new_database())
        assert killed_at(step, partial(migrated, url))
        journal = migrated(url)
        require_current(journal)
        assert (journal.versions(), journal.promotions()) == ([], [])
        journal.close()


def test_a_migration_that_is_cut_anywhere_leaves_the_old_tables_or_the_new(
    kept: Made, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, _ = kept
    whole = seen(place)
    add_later_revision(tmp_path / "scripts", monkeypatch)
    names = steps_of(partial(Store.migrate, server.twin(place)))
    for step in range(len(names)):
        twin = server.twin(place)
        assert killed_at(step, partial(Store.migrate, twin))
        if COMMITTED not in names[: step + 1]:
            with pytest.raises(StoreError, match="run `nodegraft migrate STORE`"):
                Store.open(twin)
            assert Store.migrate(twin) == Migration("0100", "0101")
        assert seen(twin) == whole
        assert Store.migrate(twin) == Migration("0101", "0101")


def test_processes_that_migrate_at_once_take_turns(
    kept: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, _ = kept
    add_later_revision(tmp_path / "scripts", monkeypatch)
    names = ["anna", "ben", "carl", "dora"]
    assert both_at_once(lambda _: Store.migrate(place), names, tmp_path) == []
    assert Store.verify(place).is_clean


def test_processes_that_verify_at_once_take_turns(kept: Made, tmp_path: Path) -> None:
    place, _ = kept
    with Store.open(place) as store:
        model = place / "objects" / store.version().model
    model.rename(tmp_path / "model")
    names = ["anna", "ben", "carl", "dora"]
    assert both_at_once(lambda by: Store.verify(place, author=by), names, tmp_path) == []
    (tmp_path / "model").rename(model)
    assert both_at_once(lambda by: Store.verify(place, author=by), names, tmp_path) == []
    Store.open(place).close()


def test_an_init_that_is_cut_leaves_a_store_or_is_done_again(
    server: Server, tmp_path: Path
) -> None:
    url = server.url(server.new_database())
    names = steps_of(partial(make, tmp_path / "undisturbed", url))
    last = max(step for step, name in enumerate(names) if name == COMMITTED)
    for step in range(last - 2, len(names)):
        url, place = server.url(server.new_database()), tmp_path / str(step)
        assert killed_at(step, partial(make, place, url))
        try:
            Store.open(place).close()
        except StoreError:
            make(place, url)
        assert seen(place) == seen(tmp_path / "undisturbed")


def test_a_database_that_stops_is_told_and_comes_back(kept: Made, server: Server) -> None:
    place, new = kept
    with Store.open(place) as store:
        began = monotonic()
        server.stop()
        try:
            for work in (store.history, store.predict, store.undo, partial(store.add, new)):
                with pytest.raises(StoreError, match=r"(?s)did not respond.*Check that it runs"):
                    work()
            with pytest.raises(StoreError, match="did not respond"):
                Store.open(place)
            assert monotonic() - began < database_room.WAIT_SECONDS
        finally:
            server.start()
        assert store.add(new).number == store.newest == 2
        assert set(new) <= set(store.predict(version=2).predictions)


def test_a_database_that_pauses_is_waited_for(
    kept: Made, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, new = kept
    with server.paused():
        back = Timer(2.0, server.go_on)
        back.start()
        with Store.open(place) as store:
            assert store.add(new).number == 2
        back.join()
    # The shortest that its driver knows is two seconds.
    monkeypatch.setattr(database_room, "WAIT_SECONDS", 2)
    with server.paused(), pytest.raises(StoreError, match="did not respond"):
        Store.open(place)
    with Store.open(place) as store:
        assert store.newest == 2


def test_old_versions_are_pruned(kept: Made) -> None:
    place, new = kept
    with Store.open(place) as store:
        for name, nodes in new.items():
            store.add({name: nodes})
        store.promote()
        found = store.prune(keep=1)
        assert (found.versions, found.kept, store.newest) == ((2,), (1, 3), 3)
        with pytest.raises(StoreError, match="Version 2 was pruned"):
            store.promote(2)
        assert set(new) <= set(store.predict().predictions)


def test_no_row_names_a_node_that_was_purged(database: str, server: Server, tmp_path: Path) -> None:
    rows = (
        "SELECT row_to_json(v)::text FROM versions v "
        "UNION ALL SELECT row_to_json(p)::text FROM promotions p"
    )

    def written() -> str:
        with server.connect(database) as connection:
            return str(connection.execute(rows).fetchall())

    with tabled(tmp_path / "store", database) as store:
        assert KEY in written()
        store.purge([KEY], intent=Intent(note=f"{KEY} asked"))
        assert KEY not in written()
        assert found_in(tmp_path / "store", KEY, WORD, BRAND) == set()
        with server.connect(database) as connection:
            dead = "SELECT pg_relation_size('versions') + pg_relation_size('promotions')"
            pages = connection.execute(dead).fetchone()
        assert pages == (2 * 8192,)
        # Two rows are still written together or not at all.
        last = store.history()[-1]
        with pytest.raises(StoreError, match="has changed meanwhile"):
            store.parts.journal.add(replace(last, number=last.number + 1), last)
        assert store.history()[-1] == last
        assert set(store.predict().predictions) == {"hats", "shoes"}


def found_by_server(server: Server, database: str, word: str) -> set[str]:
    """Files of the server, but for its log of changes and other databases, that hold a word."""
    with server.connect(database) as connection:
        own = connection.execute(
            "SELECT oid FROM pg_database WHERE datname = current_database()"
        ).fetchone()
        assert own is not None
    with server.connect() as connection:
        # What is in memory is written, and files that were replaced are removed.
        connection.execute("CHECKPOINT")
    data = server.folder / "data"
    return {
        str(path.relative_to(data))
        for path in data.rglob("*")
        if path.is_file()
        and "pg_wal" not in path.parts
        and (path.parts[len(data.parts)] != "base" or str(own[0]) in path.parts)
        and word.encode() in path.read_bytes()
    }


def test_no_file_of_the_server_holds_a_node_that_was_purged(
    database: str, server: Server, tmp_path: Path
) -> None:
    with tabled(tmp_path / "store", database) as store:
        for _ in range(6):
            # A value that is common is sampled.
            store.unlabel([KEY], intent=Intent(note=f"{KEY} again", override=f"{KEY} asked"))
            store.label({"hats": [KEY]}, intent=Intent(note=f"{KEY} again", override="a test"))
        with store.parts.journal.transaction() as connection:
            intent = Intent(author="tests", note=f"{KEY} asked")
            add_audit_entry(connection, "test", {"nodes": [KEY]}, intent)
        with server.connect(database) as connection:
            connection.execute("ANALYZE")
            connection.commit()
            sampled = connection.execute(
                "SELECT count(*) FROM pg_stats WHERE most_common_vals::text LIKE %s",
                (f"%{KEY}%",),
            ).fetchone()
        assert sampled is not None
        assert sampled[0] > 0
        assert found_by_server(server, database, KEY)
        store.purge([KEY], intent=Intent(note=f"{KEY} asked"))
        assert found_by_server(server, database, KEY) == set()


KEEPING = {
    "prune": (taught, prune, prune),
    "purge": (lambda *given: tabled(*given).close(), purge, purge_again),
}


@pytest.mark.parametrize("name", KEEPING)
def test_what_is_cut_at_a_commit_is_finished_by_the_next(
    name: str, database: str, server: Server, tmp_path: Path
) -> None:
    place, (start, do, again) = tmp_path / "store", KEEPING[name]
    start(place, database)
    before, undisturbed = said(place), server.twin(place)
    names = steps_of(partial(do, undisturbed))
    after, committed = said(undisturbed), names.index(COMMITTED)
    for step in (at for at, one in enumerate(names) if one in ("do_commit", COMMITTED)):
        twin = server.twin(place)
        assert killed_at(step, partial(do, twin))
        assert said(twin) == (before if step < committed else after)
        again(twin)
        assert said(twin) == after
        assert files(twin) == files(undisturbed)


PASSWORD = "s3:cr@t"  # noqa: S105


def test_a_password_is_shown_to_nobody(server: Server, tmp_path: Path) -> None:
    name, place = server.new_database(), tmp_path / "store"
    address = make_url(server.url(name)).set(password=PASSWORD)
    url = address.render_as_string(hide_password=False)
    make(place, url)
    assert stat.S_IMODE((place / "store.json").stat().st_mode) == 0o600
    wrong = (
        f"postgresql+psycopg://tests:{PASSWORD}/x@host/store",
        f"postgres+psycopg://tests:{PASSWORD}@host/store",
        f"postgresql+psycopg://tests@/store?host={tmp_path}&password={PASSWORD}",
        f"postgresql+psycopg://tests@/store?host={tmp_path}&passwort={PASSWORD}",
    )
    told = [refused(partial(make, tmp_path / "other", one))[0] for one in wrong]
    assert all(told)
    server.stop()
    try:
        told.append(refused(lambda: Store.open(place).close())[0])
    finally:
        server.start()
    assert "did not respond" in told[-1]
    assert [one for one in told if PASSWORD in one or "cr@t" in one] == []


def test_a_writer_does_not_wait_for_ever_for_one_that_hangs(
    kept: Made, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, new = kept
    monkeypatch.setattr(database_room, "WAIT_SECONDS", 1)

    def add(name: str) -> None:
        with Store.open(place) as store:
            store.add(new)

    with server.connect(url_of(place)) as other:
        other.execute(
            "INSERT INTO versions SELECT 2, 1, action, detail, by, note, at, graph, labels, "
            "model, measures FROM versions"
        )
        child = forked(partial(both_at_once, add, ["late"], tmp_path))
        ended = 0
        for _ in range(40):
            ended, _ = os.waitpid(child, os.WNOHANG)
            if ended:
                break
            sleep(0.1)
        other.rollback()
    if not ended:
        was_killed(child)
    assert ended
    assert "did not respond" in (tmp_path / "late").read_text()


def test_a_database_is_of_one_store(kept: Made, tmp_path: Path) -> None:
    place, _ = kept
    assert "already" in refused(partial(make, tmp_path / "other", url_of(place)))[0]
    with pytest.raises(StoreError, match="is not a store"):
        Store.open(tmp_path / "other")
    with Store.open(place) as store:
        assert store.newest == 1


def test_a_store_that_is_not_made_keeps_no_connection(kept: Made, tmp_path: Path) -> None:
    message, left_open = refused(partial(make, tmp_path / "other", url_of(kept[0])))
    assert message
    assert left_open == []


def test_an_init_that_does_not_reach_its_database_is_done_again(
    database: str, tmp_path: Path
) -> None:
    nowhere = f"postgresql+psycopg://tests@/store?host={tmp_path}"
    assert "No such file" in refused(partial(make, tmp_path / "store", nowhere))[0]
    assert refused(partial(make, tmp_path / "store", database))[0] == ""


def test_what_the_url_asks_for_is_done(database: str, server: Server, tmp_path: Path) -> None:
    with server.connect(database) as connection:
        connection.execute("CREATE SCHEMA own")
    make(tmp_path / "store", f"{database}&options=-csearch_path%3Down")
    with server.connect(database) as connection:
        asked = "SELECT schemaname FROM pg_tables WHERE tablename = 'versions'"
        assert connection.execute(asked).fetchall() == [("own",)]
