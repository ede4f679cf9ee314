"""Parse ``URL#QUERY`` or ``URL#TABLE``, and connect to the database."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import fsspec

from nodegraft.base.errors import DataError
from nodegraft.base.extras import extra

DUCKDB = "duckdb"

TABLE = "TABLE"
"""Placeholder in error messages for the table name after the ``#``."""


def is_database(source: Any) -> bool:
    """Return whether a source is a database URL, whose scheme fsspec does not support.

    >>> is_database("sqlite:///shop.db#SELECT key FROM items"), is_database("s3://shop/#1.csv")
    (True, False)
    """
    scheme, mark, _ = source.partition("://") if isinstance(source, str) else ("", "", "")
    return bool(mark) and "::" not in scheme and scheme not in fsspec.available_protocols()


@dataclass(frozen=True)
class DatabasePlace:
    """Database URL with a query or the name of a table."""

    url: str = field(repr=False)
    """URL of the database, which may contain a password."""

    selection: str
    """SQL query, or name of a table."""

    @classmethod
    def of(cls, source: str, selects: str = "SELECT …") -> "DatabasePlace":
        """Parse ``URL#SELECTION``; a ``#`` in the password belongs to the URL.

        >>> DatabasePlace.of("postgresql://u:se#cret@host/shop#SELECT '#'").selection
        "SELECT '#'"

        Args:
            source: Text of the form ``URL#SELECTION``.
            selects: :data:`TABLE`, or an example of a query; error messages show it after the
                ``#``.
        """
        login = re.match(r"[\w+.-]*://(?:[^:/#\s]*:\S*@)?", source)
        start = login.end() if login else 0
        # A query may contain #, so split at the first one. A file path may contain #, too, so split
        # at the last one before a table name.
        mark = source.rfind("#", start) if selects == TABLE else source.find("#", start)
        url, selection = (source[:mark], source[mark + 1 :]) if mark >= 0 else (source, "")
        if not selection.strip():
            scheme = url.partition("://")[0]
            raise DataError(
                f"{scheme}:// is no file system that fsspec knows. If it is a database, # and "
                f"{selects} must follow its URL: '{scheme}://…#{selects}'. Supported are "
                "duckdb:///FILE and SQLAlchemy URLs."
            )
        return cls(url, selection.strip())

    @property
    def scheme(self) -> str:
        """Scheme of the database URL without the driver, such as ``postgresql``."""
        return self.url.partition("://")[0].partition("+")[0]

    @property
    def duckdb_file(self) -> str | None:
        """Path of the DuckDB file, empty for an in-memory database; None if it is not DuckDB."""
        scheme, _, rest = self.url.partition("://")
        return rest.removeprefix("/") if scheme == DUCKDB else None

    @contextmanager
    def duckdb(self, read_only: bool) -> Iterator[Any]:
        """Connect to DuckDB; an error inside the ``with`` block rolls back.

        Args:
            read_only: Whether to open the file read-only, so that it must exist.
        """
        with extra("sql", package="duckdb", purpose="Tables in DuckDB"):
            import duckdb

        try:
            file = self.duckdb_file or ":memory:"
            with duckdb.connect(file, read_only=read_only and bool(self.duckdb_file)) as connection:
                yield connection
        except duckdb.Error as error:
            raise self.failed(error) from error

    @contextmanager
    def sqlalchemy(self, create: bool) -> Iterator[Any]:
        """Connect to a database by SQLAlchemy and begin a transaction, which the caller commits.

        Args:
            create: Whether to create a missing SQLite file.
        """
        with extra("sql", package="sqlalchemy", purpose="Tables in databases"):
            from sqlalchemy import create_engine, make_url
            from sqlalchemy.exc import SQLAlchemyError

        try:
            parsed = make_url(self.url)
            engine = create_engine(parsed)
        except (SQLAlchemyError, ImportError, ValueError) as error:
            raise self.failed(error) from error
        file, is_sqlite = parsed.database, engine.dialect.name == "sqlite"
        # SQLite would create an empty database and then report a missing table.
        if is_sqlite and file and not create and not Path(file).is_file():
            raise DataError(f"There is no file {file}.")
        try:
            with engine.connect() as connection:
                if is_sqlite:
                    # Without BEGIN, Python's driver commits CREATE and DROP immediately. With a
                    # plain BEGIN, a writer fails instead of waiting if another process writes.
                    connection.exec_driver_sql("BEGIN IMMEDIATE" if create else "BEGIN")
                yield connection
        except SQLAlchemyError as error:
            raise self.failed(error) from error
        finally:
            engine.dispose()

    def failed(self, error: Exception) -> DataError:
        """Return an error with the database's message, in which the password is masked."""
        reason = str(getattr(error, "orig", None) or error).strip().rstrip(".")
        address = self.url.partition("://")[2].rpartition("@")[0]
        password = address.partition(":")[2]
        # If a password contains @, drivers parse the text after the first @ as the host.
        for secret in filter(None, (unquote(password), *password.split("@"))):
            reason = reason.replace(secret, "***")
        return DataError(f"The {self.scheme} database refused {self.selection!r}: {reason}.")
