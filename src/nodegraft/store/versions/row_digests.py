"""Checksums of the rows in a store's SQLite file, updated by every commit.

SQLite's integrity check finds damage to the structure of the file, but not a flipped bit in a note
or in the name of an object. Therefore the settings table also stores a hash of each table's rows.
PostgreSQL has its own data checksums (``initdb --data-checksums``) and needs no such hashes.
"""

import hashlib
import json
import re
import sqlite3
from typing import Any, cast

from nodegraft.base.extras import extra

with extra("store", package="sqlalchemy", purpose="A store"):
    from sqlalchemy import Connection, Engine, event

APPENDED = ("versions", "promotions", "audit")
"""Append-only tables: a new row extends the hash of its table, without reading old rows."""

COVERED = (*APPENDED, "settings", "tokens")
"""All tables that have a checksum."""

PREFIX = "digest:"
"""Name prefix of the settings that store the checksums."""

LOCK_ONLY = "DELETE FROM versions WHERE number < 0"
"""Statement that deletes no row, but takes SQLite's write lock."""

_WRITE = re.compile(r'\s*(INSERT(?: OR \w+)? INTO|UPDATE|DELETE FROM)\s+"?(\w+)', re.IGNORECASE)
_NEWEST = 2**63 - 1
"""Largest integer in SQLite; a larger row number is damage."""
_CHANGES, _BROKEN = "nodegraft changes", "nodegraft broken"


def keep_digests(engine: Engine) -> None:
    """Update the hashes of changed tables in every transaction of a database engine."""
    event.listen(engine, "begin", _begin)
    event.listen(engine, "before_cursor_execute", _note_write)
    event.listen(engine, "commit", _write_changed)


def write_digests(connection: Connection) -> None:
    """Compute and write the hashes of all tables, after a migration."""
    database = _driver(connection)
    for table in _tables(database):
        _write(database, table, _digest(database, table))


def wrong_tables(connection: Connection) -> list[str]:
    """Return the names of the tables whose rows do not match their checksum."""
    database = _driver(connection)
    return [table for table in _tables(database) if not _is_whole(database, table)]


def _begin(connection: Connection) -> None:
    connection.info[_CHANGES], connection.info[_BROKEN] = {}, set()


def _note_write(connection: Connection, _: Any, statement: str, *__: Any) -> None:
    match = _WRITE.match(statement)
    if match is None or statement.strip() == LOCK_ONLY or match[2] not in COVERED:
        return
    table, is_added = match[2], match[1].upper().startswith("INSERT")
    changes: dict[str, bool] = connection.info.setdefault(_CHANGES, {})
    extends = is_added and table in APPENDED
    if table not in changes and not extends:
        # Take the write lock before the first read: if another process writes after that read,
        # SQLite refuses the write lock at once, without waiting.
        connection.exec_driver_sql(LOCK_ONLY)
        # Check the old hash first, because a new hash of all rows would hide a row that is already
        # damaged.
        if not _is_whole(_driver(connection), table):
            connection.info.setdefault(_BROKEN, set()).add(table)
    changes[table] = changes.get(table, True) and extends


def _write_changed(connection: Connection) -> None:
    changes: dict[str, bool] = connection.info.pop(_CHANGES, {})
    broken: set[str] = connection.info.pop(_BROKEN, set())
    database = _driver(connection)
    for table, extends in changes.items():
        if table in broken:
            continue
        before = _read(database, table) if extends else None
        _write(database, table, _digest(database, table, before))


def _is_whole(database: sqlite3.Connection, table: str) -> bool:
    """Return whether the rows of a table match their checksum."""
    return _read(database, table) == _digest(database, table)


def _digest(
    database: sqlite3.Connection, table: str, before: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Return the chained hash of a table's rows.

    Args:
        before: For an append-only table, the earlier hash to extend by new rows; None to hash all
            rows.
    """
    last, digest = (0, "") if before is None else (before["last"], before["digest"])
    arguments: tuple[Any, ...] = (last,) if table in APPENDED else (f"{PREFIX}%",)
    condition = (
        "number > ? ORDER BY number" if table in APPENDED else "name NOT LIKE ? ORDER BY name"
    )
    # No SQL injection is possible: both inserted parts are constants of this file.
    for row in database.execute(f"SELECT * FROM {table} WHERE {condition}", arguments):  # noqa: S608
        content = json.dumps([digest, *row], default=repr).encode()
        digest = hashlib.sha256(content).hexdigest()
        last = row[0] if table in APPENDED else 0
    return {"last": last, "digest": digest}


def _read(database: sqlite3.Connection, table: str) -> dict[str, Any] | None:
    query = "SELECT value FROM settings WHERE name = ?"
    row = database.execute(query, (PREFIX + table,)).fetchone()
    try:
        digest = None if row is None else json.loads(row[0])
    except (ValueError, TypeError):
        return None
    # Treat a damaged checksum entry as missing.
    if not isinstance(digest, dict) or digest.keys() != {"last", "digest"}:
        return None
    if type(digest["last"]) is not int or not 0 <= digest["last"] <= _NEWEST:
        return None
    return digest


def _write(database: sqlite3.Connection, table: str, digest: dict[str, Any]) -> None:
    name, value = PREFIX + table, json.dumps(digest)
    database.execute("INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)", (name, value))


def _tables(database: sqlite3.Connection) -> list[str]:
    names = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return [table for table in COVERED if (table,) in names]


def _driver(connection: Connection) -> sqlite3.Connection:
    # Bypass SQLAlchemy, whose events would record these writes as changes.
    return cast(sqlite3.Connection, connection.connection.dbapi_connection)
