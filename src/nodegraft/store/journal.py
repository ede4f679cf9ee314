"""What was done to a store, row by row: rows are added, never changed."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nodegraft.base.errors import (
    StoreChangedError,
    StoreError,
    StoreUnreachableError,
    UnfinishedStoreError,
)
from nodegraft.base.extras import extra

with extra("store", package="sqlalchemy", purpose="A store"):
    from sqlalchemy import (
        JSON,
        URL,
        Column,
        Connection,
        DateTime,
        Engine,
        ForeignKey,
        Integer,
        MetaData,
        String,
        Table,
        Text,
        create_engine,
        event,
        func,
        insert,
        make_url,
        select,
    )
    from sqlalchemy.exc import IntegrityError, OperationalError, SQLAlchemyError

WAIT_SECONDS = 30
"""How long a writer waits for another one, and for a database that is away."""

DATABASE_FILES = ("store.db", "store.db-wal", "store.db-shm")
"""What SQLite keeps in the folder."""

metadata = MetaData()

VERSIONS = Table(
    "versions",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("parent", Integer, ForeignKey("versions.number")),
    Column("action", String(32), nullable=False),
    Column("detail", JSON, nullable=False),
    Column("by", Text, nullable=False),
    Column("note", Text, nullable=False),
    Column("at", DateTime(timezone=True), nullable=False),
    Column("graph", String(64), nullable=False),
    Column("labels", String(64), nullable=False),
    Column("model", String(64), nullable=False),
    Column("measures", JSON, nullable=False),
)

PROMOTIONS = Table(
    "promotions",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("version", Integer, ForeignKey("versions.number"), nullable=False),
    Column("action", String(32), nullable=False),
    Column("by", Text, nullable=False),
    Column("note", Text, nullable=False),
    Column("at", DateTime(timezone=True), nullable=False),
)


@dataclass(frozen=True)
class StateNames:
    """The three objects that a version is kept in."""

    graph: str
    """Of the graph."""

    labels: str
    """Of the labels."""

    model: str
    """Of the model."""


@dataclass(frozen=True)
class Version:
    """What a store was after one change."""

    number: int
    """1 for the first."""

    parent: int | None
    """The version that was changed; None for the first."""

    action: str
    """What was done: ``init``, ``add``, ``undo`` …"""

    detail: dict[str, Any]
    """With what, as plain JSON: enough to do it again."""

    by: str
    """Who did it."""

    note: str
    """Why, in their words."""

    at: datetime
    """When, in UTC."""

    graph: str
    """The object that holds the graph."""

    labels: str
    """The object that holds the labels."""

    model: str
    """The object that holds the model."""

    measures: dict[str, Any]
    """What was measured before and after."""

    @property
    def names(self) -> StateNames:
        """The objects that it is kept in."""
        return StateNames(self.graph, self.labels, self.model)


@dataclass(frozen=True)
class Promotion:
    """One change of the version that answers."""

    number: int
    """1 for the first."""

    version: int
    """The version that answers from then on."""

    action: str
    """``init``, ``promote`` or ``rollback``."""

    by: str
    """Who did it."""

    note: str
    """Why, in their words."""

    at: datetime
    """When, in UTC."""


class Journal:
    """The two tables, in a database that SQLAlchemy reaches.

    Of two writers that start from the same row one comes first; the other is refused, since its
    row has a number that is taken.

    Args:
        url: Of the database, as SQLAlchemy writes it.
    """

    def __init__(self, url: str | URL) -> None:
        self.engine = connected(url)

    def close(self) -> None:
        """Let go of the database."""
        self.engine.dispose()

    def versions(self) -> list[Version]:
        """All of them, oldest first."""
        with self.connection() as connection:
            rows = connection.execute(select(VERSIONS).order_by(VERSIONS.c.number)).mappings()
            return [Version(**_in_utc(row)) for row in rows]

    def version(self, number: int | None = None) -> Version:
        """One of them.

        Args:
            number: Which one; None for the newest, the candidate.
        """
        wanted = select(VERSIONS).order_by(VERSIONS.c.number.desc()).limit(1)
        if number is not None:
            wanted = wanted.where(VERSIONS.c.number == number)
        with self.connection() as connection:
            row = connection.execute(wanted).mappings().first()
            newest = connection.execute(select(func.max(VERSIONS.c.number))).scalar()
        if row is None:
            if newest is None:
                raise UnfinishedStoreError
            raise StoreError(f"There is no version {number}: the newest is {newest}.")
        return Version(**_in_utc(row))

    def version_for(self, key: str) -> Version | None:
        """The version that a request made; None if it made none.

        Args:
            key: Of the request.
        """
        asked = VERSIONS.c.measures["request"]["key"].as_string()
        with self.connection() as connection:
            row = connection.execute(select(VERSIONS).where(asked == key)).mappings().first()
        return None if row is None else Version(**_in_utc(row))

    def promotions(self) -> list[Promotion]:
        """All of them, oldest first; the last one names the champion."""
        with self.connection() as connection:
            rows = connection.execute(select(PROMOTIONS).order_by(PROMOTIONS.c.number)).mappings()
            return [Promotion(**_in_utc(row)) for row in rows]

    def add(self, version: Version | None = None, promotion: Promotion | None = None) -> None:
        """Add rows, both or none of them.

        Args:
            version: A version whose number is one more than the newest one's.
            promotion: A promotion whose number is one more than the newest one's.
        """
        try:
            with self.engine.begin() as connection:
                if version:
                    connection.execute(insert(VERSIONS).values(**vars(version)))
                if promotion:
                    connection.execute(insert(PROMOTIONS).values(**vars(promotion)))
        except IntegrityError as error:
            raise StoreChangedError(_told(self, version, promotion)) from error
        except SQLAlchemyError as error:
            raise _unreachable(error) from error

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """The database, for reading; whatever goes wrong with it is told."""
        try:
            with self.engine.connect() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise _unreachable(error) from error


def connected(url: str | URL) -> Engine:
    """A database, made so that what is committed survives a power cut.

    Args:
        url: As SQLAlchemy writes it.
    """
    try:
        engine = create_engine(url, pool_pre_ping=True, connect_args=_patience(url))
    except (SQLAlchemyError, ImportError) as error:
        raise StoreError(f"The database cannot be reached: {error}") from error
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    return engine


def database_url(folder: Path, database: str | None) -> str | URL:
    """Where a store's versions are written down.

    Args:
        folder: The store.
        database: What its settings say; None for a file in the folder.
    """
    # Not as text: a folder may have any name.
    return database or URL.create("sqlite", database=str((folder / DATABASE_FILES[0]).absolute()))


def now() -> datetime:
    """This moment, in UTC."""
    return datetime.now(UTC)


def _patience(url: str | URL) -> dict[str, Any]:
    """PostgreSQL waits for ever, unless it is told."""
    parsed = make_url(url)
    if parsed.get_backend_name() != "postgresql":
        return {}
    asked = parsed.query.get("options", "")
    waiting = f"-c lock_timeout={1000 * WAIT_SECONDS}"
    return {"connect_timeout": WAIT_SECONDS, "options": f"{asked} {waiting}".strip()}


def _prepare_sqlite(connection: Any, _: object) -> None:
    # Else tables are made outside of any transaction, each by itself: see _begin_sqlite.
    connection.isolation_level = None
    cursor = connection.cursor()
    # Readers do not wait for a writer; a commit is on the disk when it is answered.
    for setting in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {setting}")
    cursor.execute(f"PRAGMA busy_timeout={1000 * WAIT_SECONDS}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN")


def _in_utc(row: Mapping[Any, Any]) -> dict[str, Any]:
    # SQLite keeps no time zone; what was written is UTC.
    at = row["at"]
    return {**row, "at": at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)}


def _told(journal: Journal, version: Version | None, promotion: Promotion | None) -> str:
    if version:
        other = journal.version()
        return (
            f"The store has changed meanwhile: version {other.number} is there ({other.action} by "
            f"{other.by}, {other.at:%Y-%m-%d %H:%M} UTC). Nothing was written; do it again."
        )
    last = journal.promotions()[-1]
    return (
        f"The champion has changed meanwhile: version {last.version} answers ({last.action} by "
        f"{last.by}). Nothing was written; do it again."
    )


def _unreachable(error: SQLAlchemyError) -> StoreUnreachableError:
    reason = getattr(error, "orig", None) or error
    hint = " Is it running, and may you write to it?" if isinstance(error, OperationalError) else ""
    return StoreUnreachableError(f"The store's database did not answer: {reason}.{hint}")
