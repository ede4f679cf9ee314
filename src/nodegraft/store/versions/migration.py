"""Creation and migration of the tables of a store's database, by Alembic."""

from pathlib import Path

from sqlalchemy import URL, Connection, inspect, text
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from nodegraft.analysis.results.maintenance import Migration
from nodegraft.base.errors import (
    NewerStoreError,
    OutdatedStoreError,
    StoreError,
    UnfinishedStoreError,
)
from nodegraft.store.versions.journal import Journal
from nodegraft.store.versions.row_digests import write_digests

_SCRIPTS = Path(__file__).parent / "migrations"

_LOCK = {
    # A new database has no table that could be locked, so lock the whole SQLite file, or take an
    # advisory lock.
    "sqlite": ("ROLLBACK", "BEGIN IMMEDIATE"),
    "postgresql": ("SELECT pg_advisory_xact_lock(1852793957)",),
}
"""Statements that lock the database for a migration, in an open transaction."""


def migrated(url: str | URL) -> Journal:
    """Open a database, and create or migrate its tables."""
    journal = Journal(url, create=True)
    try:
        _upgrade(journal)
    except StoreError:
        journal.close()
        raise
    return journal


def migrate(journal: Journal) -> Migration:
    """Migrate the tables of a store's database in one transaction."""
    before = _known_revision(journal)
    if before != _newest():
        _upgrade(journal)
    return Migration(before, _newest())


def require_free(url: str) -> None:
    """Refuse a database that cannot be reached, or that belongs to another store."""
    journal = Journal(url, create=True)
    try:
        if _revision(journal) is not None and journal.versions():
            raise StoreError(
                "This database holds the versions of a store already: give each store its own."
            )
    finally:
        journal.close()


def require_current(journal: Journal) -> None:
    """Refuse a database whose tables have another revision than this nodegraft needs."""
    current = _known_revision(journal)
    if current != _newest():
        raise OutdatedStoreError(
            f"The store's database has tables of revision {current}, and this nodegraft needs "
            f"{_newest()}: run `nodegraft migrate STORE`."
        )


def _upgrade(journal: Journal) -> None:
    # Import Alembic here, because it is slow to import and not needed elsewhere.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS))
    try:
        with journal.engine.begin() as connection:
            _lock(connection)
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
            if connection.dialect.name == "sqlite":
                write_digests(connection)
    except SQLAlchemyError as error:
        raise StoreError(
            f"The store's database could not be brought up to date: {error}"
        ) from error


def _lock(connection: Connection) -> None:
    try:
        for statement in _LOCK[connection.dialect.name]:
            connection.exec_driver_sql(statement)
    except OperationalError as error:
        reason = str(error.orig)
        if "locked" not in reason and "lock timeout" not in reason:
            raise
        raise StoreError(
            "Another process migrates this store: run `nodegraft migrate STORE` again when that "
            "one has ended. Nothing was changed."
        ) from error


def _revisions() -> list[str]:
    """Return the revisions that this nodegraft knows, oldest first."""
    scripts = (_SCRIPTS / "versions").glob("*_*.py")
    return sorted(path.stem.partition("_")[0] for path in scripts)


def _newest() -> str:
    return _revisions()[-1]


def _known_revision(journal: Journal) -> str:
    """Return the revision of a store's tables; raise an error if it is unknown."""
    current, known = _revision(journal), _revisions()
    if current is None:
        raise UnfinishedStoreError
    if current not in known:
        state = f"The store's database has tables of revision {current}"
        if current.isdecimal() and current < known[0]:
            raise OutdatedStoreError(
                f"{state}, from before nodegraft 0.1 ({known[0]}), which this nodegraft cannot "
                "read: create the store again with `nodegraft init`."
            )
        # Every release has a decimal number as revision, so any other revision means damage.
        raise (NewerStoreError if current.isdecimal() else StoreError)(
            f"{state}, which is newer than this nodegraft knows ({known[-1]}): use the nodegraft "
            "that made it."
        )
    return current


def _revision(journal: Journal) -> str | None:
    """Return the revision of a database; None if it has no tables."""
    with journal.connection() as connection:
        if not inspect(connection).has_table("alembic_version"):
            return None
        revision = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return None if revision is None else str(revision)
