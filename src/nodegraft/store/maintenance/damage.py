"""Check of a store's database, and the damage record, which prevents opening a damaged store."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, inspect, select, text
from sqlalchemy.exc import SQLAlchemyError

from nodegraft.analysis.version import Promotion, Version, now
from nodegraft.base.errors import StoreError
from nodegraft.store.intent import Intent
from nodegraft.store.settings import read_setting, write_setting
from nodegraft.store.versions.database import unreachable
from nodegraft.store.versions.journal import (
    Journal,
    metadata,
    promotions_in,
    pruned_in,
    versions_in,
)
from nodegraft.store.versions.row_digests import wrong_tables

DAMAGE = "damage"
"""Name of the setting with the damage record; its value is None if no damage was found."""

DAMAGE_FILE = "damage.json"
"""File for the damage record, used if the database itself is damaged and must not be written to."""

LISTED = 20
"""Maximum number of damaged files that are recorded by name."""


@dataclass(frozen=True)
class DamageRecord:
    """Record of the damage that the last verification found."""

    at: str
    """Time of the verification, in UTC, as ISO 8601 text."""

    count: int
    """Number of damaged files."""

    files: tuple[str, ...]
    """Paths of damaged files, at most :data:`LISTED`."""

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> "DamageRecord":
        """Return the record from plain JSON."""
        files = document["files"]
        if not isinstance(files, list) or not files:
            raise ValueError("a record of damage names the damaged files")
        return cls(str(document["at"]), int(document["count"]), tuple(map(str, files)))


def refuse_damaged(folder: Path, journal: Journal) -> None:
    """Refuse to open a store in which a verification found damage."""
    record = _recorded(folder, journal)
    if record is None:
        return
    more = f" and {record.count - 1} more" if record.count > 1 else ""
    raise StoreError(
        f"This store is damaged: {record.files[0]}{more}, found by `nodegraft verify` on "
        f"{_minute(record.at)} UTC. Restore these files from a backup under the same names, "
        f"then run `nodegraft verify {folder}`: when it finds no damage, the store opens again."
    )


def record_damage(
    folder: Path, journal: Journal | None, files: Sequence[str], author: str | None
) -> DamageRecord | None:
    """Record the damage that a verification found, or clear the record if it found none.

    Args:
        journal: Database of the store; None if it must not be written to.
        files: Paths of the damaged files; empty if no damage was found.
    """
    record = DamageRecord(now().isoformat(), len(files), tuple(files[:LISTED])) if files else None
    if journal is None:
        if record:
            path = folder / DAMAGE_FILE
            path.unlink(missing_ok=True)
            path.write_text(json.dumps(asdict(record), indent=2) + "\n", encoding="utf-8")
        return record
    with journal.connection() as connection:
        before = read_setting(connection, DAMAGE, None)
    if record or before is not None:
        value = asdict(record) if record else None
        # The transaction is exclusive, because another process may verify at the same time.
        with journal.transaction(alone=True) as connection:
            intent = Intent(author=author, note="nodegraft verify")
            write_setting(connection, DAMAGE, value, intent)
    if not record:
        (folder / DAMAGE_FILE).unlink(missing_ok=True)
    return record


def _recorded(folder: Path, journal: Journal) -> DamageRecord | None:
    path = folder / DAMAGE_FILE
    try:
        if path.exists():
            return DamageRecord.from_json(json.loads(path.read_text(encoding="utf-8")))
        with journal.connection() as connection:
            value = read_setting(connection, DAMAGE, None)
        return None if value is None else DamageRecord.from_json(value)
    except (OSError, ValueError, KeyError, TypeError):
        # The record cannot be read. Treat the store as damaged, because a record exists only after
        # damage was found.
        return DamageRecord(now().isoformat(), 1, ("its database",))


def _minute(at: str) -> str:
    try:
        return f"{datetime.fromisoformat(at):%Y-%m-%d %H:%M}"
    except ValueError:
        return at


_NOT_DAMAGE = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_INTERRUPT,
        sqlite3.SQLITE_PROTOCOL,
    }
)
"""SQLite errors that do not mean that the file is damaged. SQLITE_READONLY is not among them,
because SQLite also reports it for a damaged header."""


@dataclass(frozen=True)
class DatabaseCheck:
    """Result of the check of a store's database."""

    problem: str = ""
    """Description of the damage; empty if there is none."""

    is_sound: bool = True
    """Whether the database file is valid, so that it can be written to; rows may be damaged."""

    versions: Sequence[Version] = ()
    """All versions of the store; empty if they cannot be read."""

    pruned: frozenset[int] = field(default_factory=frozenset)
    """Numbers of pruned versions, whose objects are deleted."""


def check_database(journal: Journal) -> DatabaseCheck:
    """Read all rows and compare them with their checksums.

    If the database is locked or cannot be reached, an error is raised, because the database may be
    undamaged. A database without tables was left by an interrupted `init` and has no versions.
    """
    try:
        with journal.engine.connect() as connection:
            broken = _form(connection)
            if broken:
                return DatabaseCheck(broken, is_sound=False)
            if not inspect(connection).get_table_names():
                return DatabaseCheck()
            problem = _rows_problem(connection)
            versions, pruned = versions_in(connection), frozenset(pruned_in(connection))
            problem = problem or _journal_problem(versions, promotions_in(connection))
            return DatabaseCheck(problem, versions=versions, pruned=pruned)
    except (SQLAlchemyError, sqlite3.Error) as error:
        if journal.engine.dialect.name != "sqlite" or is_out_of_reach(error):
            raise unverified(unreachable(error, journal.engine.url)) from error
        return DatabaseCheck(f"it cannot be read ({_reason(error)})", is_sound=False)
    except (StoreError, ValueError, TypeError, KeyError, AttributeError) as error:
        return DatabaseCheck(f"rows cannot be read ({error})", is_sound=False)


def _form(connection: Connection) -> str:
    """Return the first problem of SQLite's integrity check; empty if the check passes."""
    if connection.dialect.name != "sqlite":
        return ""
    findings = [str(row[0]) for row in connection.execute(text("PRAGMA integrity_check"))]
    return "" if findings == ["ok"] else f"SQLite's integrity check says: {findings[0]}"


def _rows_problem(connection: Connection) -> str:
    for table in metadata.sorted_tables:
        if inspect(connection).has_table(table.name):
            connection.execute(select(table)).fetchall()
    if connection.dialect.name != "sqlite":
        return ""
    wrong = wrong_tables(connection)
    return f"rows of {', '.join(wrong)} are not as they were written" if wrong else ""


def _journal_problem(versions: Sequence[Version], promotions: Sequence[Promotion]) -> str:
    for rows, what in ((versions, "versions"), (promotions, "promotions")):
        if [row.number for row in rows] != list(range(1, len(rows) + 1)):
            return f"a row of {what} is missing"
    known = {version.number for version in versions}
    if any(move.version not in known for move in promotions):
        return "a promotion names a version that does not exist"
    return ""


def _reason(error: Exception) -> str:
    return str(getattr(error, "orig", None) or error).splitlines()[0]


def unverified(reason: object) -> StoreError:
    """Return the error to raise for a store that could not be verified."""
    sentence = str(reason).rstrip(" .")
    return StoreError(
        f"The store could not be verified: {sentence}. Nothing was recorded; run `nodegraft "
        "verify` again when that is solved."
    )


def is_unreadable(error: BaseException) -> bool:
    """Return whether an error means that a file exists but could not be read.

    Args:
        error: An OSError, or an error with an OSError as its cause.
    """
    cause = error if isinstance(error, OSError) else error.__cause__
    return isinstance(cause, OSError) and not isinstance(cause, FileNotFoundError)


def is_missing(error: BaseException) -> bool:
    """Return whether an error means that a file does not exist.

    Args:
        error: An OSError, or an error with an OSError as its cause.
    """
    return isinstance(error, FileNotFoundError) or isinstance(error.__cause__, FileNotFoundError)


def is_out_of_reach(error: BaseException) -> bool:
    """Return whether SQLite could not read its file for a reason that is not damage.

    Args:
        error: An SQLite error, or an SQLAlchemy error that wraps it.
    """
    code = getattr(getattr(error, "orig", None) or error, "sqlite_errorcode", None)
    # The low byte is the primary error code; the other bytes give details.
    return code is not None and code & 0xFF in _NOT_DAMAGE
