"""Tokens in a store's database: transactions with their audit entries."""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from multiprocessing import get_context
from pathlib import Path
from random import Random

import pytest

from nodegraft.analysis.version import now
from nodegraft.base.errors import ParameterError, StoreError, StoreUnreachableError
from nodegraft.store import access
from nodegraft.store.access import ADD, REVOKE, Scope, StoreTokens, secret_digest
from nodegraft.store.objects.place import journal_in
from nodegraft.store.versions import row_digests
from nodegraft.store.versions.audit import audit_entries
from tests.slow_suite import slow
from tests.store.postgresql import running
from tests.store.small import made

pytestmark = pytest.mark.xdist_group("postgresql")

PROCESSES = 8
SHARED = "shared"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    made(tmp_path / "shop")[0].close()
    return tmp_path / "shop"


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def shared_place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp(request.param) / "shop"
    if request.param == "sqlite":
        made(folder)[0].close()
        yield folder
        return
    with running() as server:
        made(folder, database=server.url(server.new_database()))[0].close()
        yield folder


def audited(place: Path) -> list[tuple[str, str]]:
    with closing(journal_in(place)) as journal, journal.connection() as connection:
        entries = audit_entries(connection)
    return [(entry.action, entry.detail.get("name", "")) for entry in entries]


def test_a_change_is_the_one_writer_before_it_reads(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else SQLite refuses at once whoever has read what another one changed since."""
    refused = list[str]()

    def interrupted(database: sqlite3.Connection, table: str) -> bool:
        with closing(sqlite3.connect(place / "store.db", timeout=0)) as other:
            try:
                other.execute("UPDATE tokens SET scope = 'admin'")
                other.commit()
            except sqlite3.OperationalError as error:
                refused.append(str(error))
        return is_whole(database, table)

    with StoreTokens.open(place) as tokens:
        tokens.add("ci", Scope.READ)
        is_whole = row_digests._is_whole
        monkeypatch.setattr(row_digests, "_is_whole", interrupted)
        tokens.revoke("ci")
        assert not tokens.read().tokens
    assert refused == ["database is locked"]


def names(place: Path) -> list[str]:
    with StoreTokens.open(place) as tokens:
        return [token.name for token in tokens.read().tokens]


def test_a_token_is_kept_as_its_hash_with_who_and_when(place: Path) -> None:
    with StoreTokens.open(place) as tokens:
        assert not tokens.read().required
        secret = tokens.add("ci", Scope.TEACH, author="anna", expires_at=now() + timedelta(days=1))
        (token,) = tokens.read().tokens
    assert (token.name, token.scope, token.created_by) == ("ci", Scope.TEACH, "anna")
    assert token.digest == secret_digest(secret)
    assert abs(now() - token.created_at) < timedelta(minutes=1)
    assert token.last_used_at is None
    assert not token.is_expired(now())
    assert token.is_expired(now() + timedelta(days=2))
    assert secret.encode() not in (place / "store.db").read_bytes()


def test_names_are_unique_and_wrong_ones_are_told(place: Path) -> None:
    with StoreTokens.open(place) as tokens:
        tokens.add("ci", Scope.READ)
        with pytest.raises(ParameterError, match="'ci' already"):
            tokens.add("ci", Scope.READ)
        with pytest.raises(ParameterError, match=r"no token called 'anna'. The store has: ci"):
            tokens.revoke("anna")
        for wrong in ("a\nb", "", "x" * 101):
            with pytest.raises(ParameterError, match="1 to 100 printable characters"):
                tokens.add(wrong, Scope.READ)
        with pytest.raises(ParameterError, match="'local' is the name of callers without a token"):
            tokens.add("local", Scope.READ)
        tokens.revoke("ci")
        assert tokens.read().tokens == ()
        assert tokens.read().required
    assert audited(place) == [(ADD, "ci"), (REVOKE, "ci")]


def test_a_change_without_its_audit_entry_is_undone(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError

    with StoreTokens.open(place) as tokens:
        tokens.add("old", Scope.READ)
        monkeypatch.setattr(access, "add_audit_entry", fail)
        with pytest.raises(RuntimeError):
            tokens.add("new", Scope.READ)
        with pytest.raises(RuntimeError):
            tokens.revoke("old")
    assert names(place) == ["old"]


def operations(process: int, count: int) -> Iterator[tuple[str, str]]:
    """Additions and revocations of names of one's own, some of a name that all share."""
    random, present = Random(process), list[str]()  # noqa: S311
    for number in range(count):
        if number % 10 == 0:
            yield random.choice(("add", "revoke")), SHARED
        elif present and random.random() < 0.5:
            yield "revoke", present.pop(random.randrange(len(present)))
        else:
            present.append(f"{process}-{number}")
            yield "add", present[-1]


def run_operations(place: Path, process: int, count: int) -> Counter[tuple[str, str]]:
    """Do them, and count those that were not refused."""
    done = Counter[tuple[str, str]]()
    with StoreTokens.open(place) as tokens:
        waiting = list(operations(process, count))[::-1]
        while waiting:
            what, name = waiting.pop()
            try:
                tokens.add(name, Scope.READ) if what == "add" else tokens.revoke(name)
            except ParameterError:
                assert name == SHARED
                continue
            except StoreUnreachableError:
                # On a busy machine others write for longer than a writer waits. Nothing was
                # written, as the error says, so it is done again.
                waiting.append((what, name))
                continue
            done[f"token {what}", name] += 1
    return done


@pytest.mark.parametrize("count", [25, pytest.param(125, marks=slow)])
def test_changes_by_many_processes_end_as_one_after_the_other(
    count: int, shared_place: Path
) -> None:
    before, names_before = Counter(audited(shared_place)), names(shared_place)
    for name in names_before:
        with StoreTokens.open(shared_place) as tokens:
            tokens.revoke(name)
        before[REVOKE, name] += 1
    with get_context("fork").Pool(PROCESSES) as pool:
        asked = [(shared_place, process, count) for process in range(PROCESSES)]
        done = sum(pool.starmap(run_operations, asked), Counter[tuple[str, str]]())
    assert Counter(audited(shared_place)) - before == done
    left = {name for (what, name) in done if done[ADD, name] > done[REVOKE, name]}
    assert set(names(shared_place)) == left
    serial = set[str]()
    for process in range(PROCESSES):
        for what, name in operations(process, count):
            serial.add(name) if what == "add" else serial.discard(name)
    assert left - {SHARED} == serial - {SHARED}
    assert sum(done.values()) > 0.9 * PROCESSES * count


def test_a_use_is_written_once_a_minute_and_waits_for_nobody(place: Path) -> None:
    at = now()
    with StoreTokens.open(place) as tokens:
        digest = secret_digest(tokens.add("ci", Scope.READ))
        tokens.record_use({digest: at, "unknown": at})
        tokens.record_use({digest: at + timedelta(seconds=59)})
        assert tokens.read().tokens[0].last_used_at == at
        tokens.record_use({digest: at + timedelta(seconds=60)})
        assert tokens.read().tokens[0].last_used_at == at + timedelta(seconds=60)
        with closing(sqlite3.connect(place / "store.db", isolation_level=None)) as writer:
            writer.execute("BEGIN IMMEDIATE")
            began = now()
            with pytest.raises(StoreError):
                tokens.record_use({digest: at + timedelta(hours=1)})
            assert now() - began < timedelta(seconds=5)
            writer.execute("ROLLBACK")
        tokens.record_use({digest: at + timedelta(hours=1)})
        assert tokens.read().tokens[0].last_used_at == at + timedelta(hours=1)
