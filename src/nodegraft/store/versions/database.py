"""Connections to the database of a store, with error messages that advise the user."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from time import sleep
from typing import Any
from urllib.parse import quote

from nodegraft.base.errors import StoreError, StoreUnreachableError
from nodegraft.base.extras import extra
from nodegraft.store.versions.row_digests import keep_digests
from nodegraft.store.versions.sqlite_file import open_existing, require_same_file

with extra("store", package="sqlalchemy", purpose="A store"):
    from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, event, make_url
    from sqlalchemy.exc import (
        ArgumentError,
        NoSuchModuleError,
        OperationalError,
        SQLAlchemyError,
    )

WAIT_SECONDS = 30
"""Timeout in seconds for a lock of another writer, or for the database server."""

ATTEMPTS = 100
"""Maximum number of attempts to open an SQLite file read-only while other processes open it."""

DATABASE_FILES = ("store.db", "store.db-wal", "store.db-shm")
"""Names of SQLite's files in the folder of a store; the first is the database itself."""

_SENTENCES = {
    "readonly database": (
        "This store is read-only for you: ask the owner of its folder for write access."
    ),
    "disk is full": "The disk is full. Nothing was written: free space, then try again.",
    "database is locked": (
        f"Another process has been writing to the store for more than {WAIT_SECONDS} seconds. "
        "Nothing was written; try again when it has finished."
    ),
}
"""Part of an SQLite error message -> message for the user."""


def database_url(folder: Path, database: str | None) -> str | URL:
    """Return the URL of a store's database.

    Args:
        database: URL in ``store.json``; None for an SQLite file in the folder.
    """
    # Build a URL object instead of a string, because the folder name may contain any character,
    # which would be parsed.
    return database or URL.create("sqlite", database=str((folder / DATABASE_FILES[0]).absolute()))


def connect(url: str | URL, create: bool = False) -> Engine:
    """Return a database engine whose commits survive a power failure.

    Args:
        create: Whether to create a missing SQLite file now. Later connections never create it.
    """
    options: dict[str, Any] = {}
    try:
        parsed = make_url(url)
        file = _sqlite_file(parsed)
        if file and _only_readable(file):
            return _read_only_engine(file)
        if file:
            if create:
                # SQLite uses an empty file as a new database. If the file cannot be created, the
                # error of the first connection explains it.
                with suppress(OSError):
                    Path(file).touch(mode=0o644)
            options["creator"] = lambda: open_existing(file)
        engine = create_engine(url, pool_pre_ping=True, connect_args=_timeouts(parsed), **options)
    except (NoSuchModuleError, ImportError) as error:
        raise StoreError(f"The database cannot be reached: {error}") from error
    except (ArgumentError, ValueError) as error:
        # The message must not contain the URL: the invalid part may belong to the password.
        raise StoreError(
            "The database cannot be reached: its URL is not understood. It looks like "
            "postgresql+psycopg://user:password@host/name; in a password write @ as %40, : as %3A "
            "and / as %2F."
        ) from error
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        keep_digests(engine)
        if file:
            event.listen(engine, "checkout", require_same_file)
    return engine


def has_password(url: str | URL) -> bool:
    """Return whether a URL contains a password."""
    return bool(_passwords(make_url(url)))


def unreachable(error: Exception, url: URL) -> StoreUnreachableError:
    """Return a readable error for a database failure, with passwords removed."""
    reason = str(getattr(error, "orig", None) or error)
    for fragment, sentence in _SENTENCES.items():
        if fragment in reason:
            return StoreUnreachableError(sentence)
    for password in _passwords(url):
        reason = reason.replace(password, "***")
    hint = (
        " Check that it runs and that you have write access."
        if isinstance(error, OperationalError)
        else ""
    )
    return StoreUnreachableError(f"The store's database did not respond: {reason}.{hint}")


@contextmanager
def skip_locked(connection: Connection) -> Iterator[None]:
    """Make statements fail immediately, instead of waiting, if another process holds a lock."""
    if connection.dialect.name != "sqlite":
        connection.exec_driver_sql("SET LOCAL lock_timeout = '10ms'")
        yield
        return
    connection.exec_driver_sql("PRAGMA busy_timeout=0")
    try:
        yield
    finally:
        # Restore the timeout, because the pool reuses this connection.
        connection.exec_driver_sql(f"PRAGMA busy_timeout={1000 * WAIT_SECONDS}")


def erase_on_delete(connection: Connection) -> None:
    """Make the database overwrite the data of rows that are deleted later, if it supports that."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("PRAGMA secure_delete=ON")


_REWRITE_POSTGRESQL = (
    # Recompute the planner's statistics, too, because they contain samples of the columns.
    "VACUUM (FULL, ANALYZE) versions, promotions, settings, audit",
    # The statistics are in a table of their own: erase the old statistics from its file.
    "VACUUM FULL pg_statistic",
)


def erase_free_space(engine: Engine) -> None:
    """Rewrite the tables of a store, so that the database files contain no deleted data."""
    try:
        if engine.dialect.name == "sqlite":
            # VACUUM cannot run in a transaction.
            with closing(engine.raw_connection()) as connection:
                _vacuum_sqlite(connection)
        else:
            with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connected:
                for statement in _REWRITE_POSTGRESQL:
                    connected.exec_driver_sql(statement)
    except (SQLAlchemyError, sqlite3.Error) as error:
        raise unreachable(error, engine.url) from error


def _vacuum_sqlite(connection: Any) -> None:
    cursor = connection.cursor()
    cursor.execute("VACUUM")
    (busy, _, _) = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        raise StoreError(
            "Another process is reading the store's database, so its log still holds what was "
            "purged: do it again when that one has ended."
        )


def _passwords(url: URL) -> list[str]:
    in_query = url.query.get("password", ())
    several = (in_query,) if isinstance(in_query, str) else in_query
    return [password for password in (url.password, *several) if password]


def _timeouts(url: URL) -> dict[str, Any]:
    """Return connection options with timeouts for PostgreSQL, which has none by default."""
    if url.get_backend_name() != "postgresql":
        return {}
    options = url.query.get("options", "")
    waiting = f"-c lock_timeout={1000 * WAIT_SECONDS}"
    return {"connect_timeout": WAIT_SECONDS, "options": f"{options} {waiting}".strip()}


def _sqlite_file(url: URL) -> str:
    """Return the path of an SQLite database; empty if the database is not a plain file."""
    file = url.database or ""
    is_file = url.get_backend_name() == "sqlite" and file != ":memory:"
    return file if is_file and not file.startswith("file:") else ""


def _only_readable(file: str) -> bool:
    place = Path(file)
    return place.exists() and not (os.access(place, os.W_OK) and os.access(place.parent, os.W_OK))


def _read_only_engine(file: str) -> Engine:
    """Return an engine for a user without write access, who cannot create SQLite's log files."""
    # Do not pool connections: each new one must check whether another process is writing.
    engine = create_engine("sqlite://", creator=lambda: _open_read_only(file), poolclass=NullPool)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _open_read_only(file: str) -> sqlite3.Connection:
    for _ in range(ATTEMPTS):
        with suppress(sqlite3.OperationalError):
            return _try_read_only(file)
        sleep(0.01)
    return _try_read_only(file)


def _try_read_only(file: str) -> sqlite3.Connection:
    # A log file exists if another process has the database open; SQLite then reads both files.
    # Otherwise all data is in the database file, which is opened as immutable.
    how = "mode=ro" if Path(f"{file}-wal").exists() else "mode=ro&immutable=1"
    address = f"file:{quote(file)}?{how}"
    connection = sqlite3.connect(address, uri=True, check_same_thread=False, timeout=WAIT_SECONDS)
    connection.isolation_level = None
    try:
        # Read from the database now. If the last writer has removed the log file meanwhile, this
        # fails; otherwise the open connection prevents the removal.
        connection.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.OperationalError:
        connection.close()
        raise
    return connection


def _prepare_sqlite(connection: Any, _: object) -> None:
    # Disable the driver's own transactions, which would not include the creation of tables;
    # _begin_sqlite begins each transaction instead.
    connection.isolation_level = None
    cursor = connection.cursor()
    # With these settings, readers do not wait for a writer, and a commit is flushed to disk before
    # it returns.
    for setting in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {setting}")
    cursor.execute(f"PRAGMA busy_timeout={1000 * WAIT_SECONDS}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN")
