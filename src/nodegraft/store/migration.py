"""The tables of a store's database, made and brought up to date by Alembic."""

from pathlib import Path

from sqlalchemy import URL, inspect, text
from sqlalchemy.exc import SQLAlchemyError

from nodegraft.base.errors import StoreError, UnfinishedStoreError
from nodegraft.store.journal import Journal

_SCRIPTS = Path(__file__).parent / "migrations"


def migrated(url: str | URL) -> Journal:
    """A journal whose tables are those of this version, made if there are none.

    Args:
        url: Of the database, as SQLAlchemy writes it.
    """
    # Slow to import, and only making a store needs it.
    from alembic import command
    from alembic.config import Config

    journal, config = Journal(url), Config()
    config.set_main_option("script_location", str(_SCRIPTS))
    try:
        with journal.engine.begin() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    except SQLAlchemyError as error:
        journal.close()
        raise StoreError(
            f"The store's database could not be brought up to date: {error}"
        ) from error
    return journal


def require_free(url: str) -> None:
    """Refuse a database that does not answer, or that is another store's.

    Args:
        url: Of the database, as SQLAlchemy writes it.
    """
    journal = Journal(url)
    try:
        if _revision(journal) is not None and journal.versions():
            raise StoreError(
                "This database holds the versions of a store already: give each store its own."
            )
    finally:
        journal.close()


def require_current(journal: Journal) -> None:
    """Refuse a database whose tables are older or newer than this version's.

    Args:
        journal: The database.
    """
    newest = max(path.stem for path in (_SCRIPTS / "versions").glob("*_*.py")).partition("_")[0]
    current = _revision(journal)
    if current is None:
        raise UnfinishedStoreError
    if current != newest:
        raise StoreError(
            f"The store's database has tables of revision {current}, and this nodegraft needs "
            f"{newest}: use the nodegraft that made it."
        )


def _revision(journal: Journal) -> str | None:
    """As Alembic writes it down; None where it never did."""
    with journal.connection() as connection:
        if not inspect(connection).has_table("alembic_version"):
            return None
        found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return None if found is None else str(found)
