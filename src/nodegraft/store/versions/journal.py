"""Database of a store's history, with append-only tables of versions and promotions.

The last promotion names the live version. The newest version is the candidate if it differs from
the live one; this is computed, not stored. The primary key of a version is the number of its parent
plus 1. If two processes change the same version, both use the same key, so the database refuses the
second change without a lock.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from nodegraft.analysis.version import PRUNING, Promotion, Version
from nodegraft.base.errors import StoreChangedError, StoreError, UnfinishedStoreError
from nodegraft.base.extras import extra
from nodegraft.store.versions.database import connect, unreachable
from nodegraft.store.versions.row_digests import LOCK_ONLY

with extra("store", package="sqlalchemy", purpose="A store"):
    import sqlalchemy as sa
    from sqlalchemy.exc import IntegrityError, SQLAlchemyError

metadata = sa.MetaData()

VERSIONS = sa.Table(
    "versions",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("parent", sa.Integer, sa.ForeignKey("versions.number")),
    sa.Column("action", sa.String(32), nullable=False),
    sa.Column("detail", sa.JSON, nullable=False),
    sa.Column("by", sa.Text, nullable=False),
    sa.Column("note", sa.Text, nullable=False),
    sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("graph", sa.String(64), nullable=False),
    sa.Column("labels", sa.String(64), nullable=False),
    sa.Column("model", sa.String(64), nullable=False),
    sa.Column("measures", sa.JSON, nullable=False),
    sa.Column("texts", sa.String(64)),
)

PROMOTIONS = sa.Table(
    "promotions",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("version", sa.Integer, sa.ForeignKey("versions.number"), nullable=False),
    sa.Column("action", sa.String(32), nullable=False),
    sa.Column("by", sa.Text, nullable=False),
    sa.Column("note", sa.Text, nullable=False),
    sa.Column("at", sa.DateTime(timezone=True), nullable=False),
)

REQUEST_KEY = {
    "sqlite": "json_extract(measures, '$.request.key')",
    "postgresql": "measures -> 'request' ->> 'key'",
}
"""SQL expression for a version's idempotency key; it must equal the expression of the index."""


class Journal:
    """Database with the tables of versions and promotions.

    Args:
        url: SQLAlchemy URL of the database.
        create: Whether to create a missing SQLite file.
    """

    def __init__(self, url: str | sa.URL, create: bool = False) -> None:
        self.engine = connect(url, create)

    def close(self) -> None:
        """Close the connections to the database."""
        self.engine.dispose()

    def versions(self) -> list[Version]:
        """Return all versions, oldest first."""
        with self.connection() as connection:
            return versions_in(connection)

    def version(self, number: int | None = None) -> Version:
        """Return one version.

        Args:
            number: Number of the version; None for the newest.
        """
        query = sa.select(VERSIONS).order_by(VERSIONS.c.number.desc()).limit(1)
        if number is not None:
            query = query.where(VERSIONS.c.number == number)
        with self.connection() as connection, readable_rows():
            versions = _versions(connection, query)
            newest = connection.execute(sa.select(sa.func.max(VERSIONS.c.number))).scalar()
        if not versions:
            if newest is None:
                raise UnfinishedStoreError
            raise StoreError(f"There is no version {number}: the newest is {newest}.")
        return versions[0]

    def heads(self) -> "Heads":
        """Return the live version and the newest one, read in one transaction."""
        with self.connection() as connection:
            return heads_in(connection)

    def overview(self) -> "tuple[Heads, list[Version]]":
        """Return the live version, the newest one and all versions, read in one transaction."""
        with self.connection() as connection:
            return heads_in(connection), versions_in(connection)

    def version_for(self, key: str) -> Version | None:
        """Return the version that the request with this key made; None if there is none."""
        key_column = sa.literal_column(REQUEST_KEY[self.engine.dialect.name], sa.String)
        with self.connection() as connection, readable_rows():
            versions = _versions(connection, sa.select(VERSIONS).where(key_column == key))
        return versions[0] if versions else None

    def promotions(self) -> list[Promotion]:
        """Return all promotions, oldest first; the last one names the live version."""
        with self.connection() as connection:
            return promotions_in(connection)

    def pruned(self) -> dict[int, Version]:
        """Return the number of each pruned version -> version of its prune or purge."""
        with self.connection() as connection:
            return pruned_in(connection)

    def add(
        self,
        *rows: Version | Promotion,
        confirm: Callable[[sa.Connection], None] | None = None,
    ) -> None:
        """Add versions and promotions in one transaction.

        Args:
            rows: Versions and promotions, whose numbers continue those of the existing rows.
            confirm: Function that is called within the transaction, while no other process can
                write; an error that it raises rolls back the transaction.
        """
        try:
            with self.transaction() as connection:
                write_rows(connection, *rows)
                if confirm:
                    confirm(connection)
        except IntegrityError as error:
            raise StoreChangedError(_conflict_text(self, rows)) from error

    @contextmanager
    def connection(self) -> Iterator[sa.Connection]:
        """Open a connection that reads a consistent snapshot; convert errors to StoreError."""
        try:
            with self.engine.connect() as connection:
                if connection.dialect.name == "postgresql":
                    # Without this, each statement would see rows that other processes wrote since
                    # the last statement.
                    connection.execution_options(isolation_level="REPEATABLE READ")
                yield connection
        except (SQLAlchemyError, sqlite3.Error) as error:
            raise unreachable(error, self.engine.url) from error

    @contextmanager
    def transaction(self, alone: bool = False) -> Iterator[sa.Connection]:
        """Open a transaction, which is rolled back if an error is raised.

        Args:
            alone: Whether the transaction is exclusive: other writers wait until its end.
        """
        try:
            with self.engine.begin() as connection:
                if alone:
                    connection.execute(sa.text(_ALONE[self.engine.dialect.name]))
                yield connection
        except IntegrityError:
            # Do not convert this error, because callers handle it.
            raise
        except (SQLAlchemyError, sqlite3.Error) as error:
            raise unreachable(error, self.engine.url) from error


_ALONE = {
    # SQLite allows one writer at a time; this statement changes no row, but takes the write lock.
    "sqlite": LOCK_ONLY,
    "postgresql": "LOCK TABLE versions, promotions IN SHARE ROW EXCLUSIVE MODE",
}


@contextmanager
def readable_rows() -> Iterator[None]:
    """Convert errors from invalid database rows to StoreError."""
    try:
        yield
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise StoreError(
            f"A row of the store's database cannot be read ({type(error).__name__}: {error}): "
            "`nodegraft verify STORE` says what is damaged. Restore the database from a backup."
        ) from error


def _versions(connection: sa.Connection, query: sa.Select[Any]) -> list[Version]:
    return [Version(**in_utc(row)) for row in connection.execute(query).mappings()]


@readable_rows()
def versions_in(connection: sa.Connection) -> list[Version]:
    """Return all versions, oldest first."""
    return _versions(connection, sa.select(VERSIONS).order_by(VERSIONS.c.number))


def newest_in(connection: sa.Connection) -> int | None:
    """Return the number of the newest version that is not a prune; None if there is none."""
    newest = sa.select(sa.func.max(VERSIONS.c.number)).where(VERSIONS.c.action != "prune")
    number: int | None = connection.execute(newest).scalar()
    return number


@dataclass(frozen=True)
class Heads:
    """The live version and the newest one, read in one transaction."""

    live: Version
    """Live version, which makes the predictions."""

    newest: Version
    """Newest version that is not a prune."""

    @property
    def candidate(self) -> Version | None:
        """Version that waits for review: the newest version; None if it equals the live version."""
        return None if self.newest.names == self.live.names else self.newest


@readable_rows()
def heads_in(connection: sa.Connection) -> Heads:
    """Return the live version and the newest one."""
    last = sa.select(PROMOTIONS.c.version).order_by(PROMOTIONS.c.number.desc()).limit(1)
    live, newest = connection.execute(last).scalar(), newest_in(connection)
    query = sa.select(VERSIONS).where(VERSIONS.c.number.in_((live, newest)))
    versions: dict[Any, Version] = {row.number: row for row in _versions(connection, query)}
    return Heads(versions[live], versions[newest])


@readable_rows()
def promotions_in(connection: sa.Connection) -> list[Promotion]:
    """Return all promotions, oldest first."""
    rows = connection.execute(sa.select(PROMOTIONS).order_by(PROMOTIONS.c.number)).mappings()
    return [Promotion(**in_utc(row)) for row in rows]


@readable_rows()
def pruned_in(connection: sa.Connection) -> dict[int, Version]:
    """Return the number of each pruned version -> version of its prune or purge."""
    query = sa.select(VERSIONS).where(VERSIONS.c.action.in_(PRUNING)).order_by(VERSIONS.c.number)
    pruning = _versions(connection, query)
    return {number: version for version in pruning for number in version.detail["versions"]}


def write_rows(connection: sa.Connection, *rows: Version | Promotion) -> None:
    """Add rows; raise an error for a promotion of a version that another process has pruned."""
    for row in rows:
        table = VERSIONS if isinstance(row, Version) else PROMOTIONS
        connection.execute(sa.insert(table).values(**vars(row)))
    # Check after writing: the write lock prevents other processes from pruning now.
    pruned = pruned_in(connection)
    for row in rows:
        if isinstance(row, Promotion):
            refuse_pruned(row.version, pruned)


def rewrite_rows(connection: sa.Connection, rows: Iterable[Version | Promotion]) -> None:
    """Overwrite existing rows; only a purge may call this.

    Args:
        rows: New content of versions and promotions, with the numbers of the existing rows.
    """
    for row in rows:
        table = VERSIONS if isinstance(row, Version) else PROMOTIONS
        connection.execute(sa.update(table).where(table.c.number == row.number).values(**vars(row)))


def refuse_pruned(number: int, pruned: Mapping[int, Version]) -> None:
    """Raise an error if the objects of a version were pruned.

    Args:
        number: Number of the version.
        pruned: Number of a pruned version -> version of its prune or purge.
    """
    if number in pruned:
        by = pruned[number]
        raise StoreError(
            f"Version {number} was pruned on {by.at:%Y-%m-%d %H:%M} UTC by {by.by} (version "
            f"{by.number}, {by.action}): the history lists it, but its graph, labels and model are "
            "deleted."
        )


def in_utc(row: Mapping[Any, Any]) -> dict[str, Any]:
    """Convert a row to a dictionary, with its time ``at`` in UTC."""
    return {**row, "at": as_utc(row["at"])}


def as_utc(at: datetime) -> datetime:
    """Return a stored time in UTC; SQLite stores no time zone, but all stored times are in UTC."""
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def _conflict_text(journal: Journal, rows: tuple[Version | Promotion, ...]) -> str:
    newest, last = journal.version(), journal.promotions()[-1]
    is_newer = any(isinstance(row, Version) and row.number <= newest.number for row in rows)
    is_promoted = any(isinstance(row, Promotion) and row.number <= last.number for row in rows)
    if is_newer or not is_promoted:
        return (
            f"The store has changed meanwhile: version {newest.number} is new ({newest.action} "
            f"by {newest.by}, {newest.at:%Y-%m-%d %H:%M} UTC). Nothing was written; try again."
        )
    return (
        f"The live version has changed meanwhile: it is version {last.version} ({last.action} by "
        f"{last.by}). Nothing was written; try again."
    )
