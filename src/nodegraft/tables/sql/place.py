"""Parse table sources of the form ``URL#QUERY`` or ``URL#TABLE``, and connect to their database."""

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
"""Placeholder for a table name in error messages about a missing name after the ``#``."""


def is_database(source: Any) -> bool:
    """Return whether a source is a database URL: a URL whose scheme fsspec does not support.

    >>> is_database("sqlite:///shop.db#SELECT key FROM items"), is_database("s3://shop/#1.csv")
    (True, False)
    """
    scheme, mark, _ = source.partition("://") if isinstance(source, str) else ("", "", "")
    return bool(mark) and "::" not in scheme and scheme not in fsspec.available_protocols()


@dataclass(frozen=True)
class DatabasePlace:
    """Database URL with a SQL query or the name of a table."""

    url: str = field(repr=False)
    """URL of the database, which may contain a password."""

    selection: str
    """SQL query or name of a database table."""

    @classmethod
    def of(cls, source: str, selects: str = "SELECT …") -> "DatabasePlace":
        """Parse a text of the form ``URL#SELECTION``; a ``#`` in the password is part of the URL.

        >>> DatabasePlace.of("postgresql://u:se#cret@host/shop#SELECT '#'").selection
        "SELECT '#'"

        Args:
            selects: What error messages show after the ``#``: :data:`TABLE` if the selection is the
                name of a table, or an example of a query.
        """
        login = re.match(r"[\w+.-]*://(?:[^:/#\s]*:\S*@)?", source)
        start = login.end() if login else 0
        # A query may contain #, so split its source at the first #. A table name contains no #, but
        # a file path may, so split at the last # if a table name follows.
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
        """Path of the DuckDB file; empty for an in-memory database, None for other databases."""
        scheme, _, rest = self.url.partition("://")
        return rest.removeprefix("/") if scheme == DUCKDB else None

    @contextmanager
    def duckdb(self, read_only: bool) -> Iterator[Any]:
        """Connect to DuckDB for a ``with`` block; an error rolls back the transaction.

        Args:
            read_only: Whether to open the file read-only; then the file must exist.
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
        """Connect by SQLAlchemy for a ``with`` block; the caller commits the transaction.

        Args:
            create: Whether to create the SQLite file if it does not exist.
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
        # Check that the file exists, because SQLite would create an empty database and then report
        # a missing table.
        if is_sqlite and file and not create and not Path(file).is_file():
            raise DataError(f"There is no file {file}.")
        try:
            with engine.connect() as connection:
                if is_sqlite:
                    # Without BEGIN, Python's driver would commit CREATE and DROP immediately. With
                    # a plain BEGIN, a writer would fail instead of waiting while another process
                    # writes.
                    connection.exec_driver_sql("BEGIN IMMEDIATE" if create else "BEGIN")
                yield connection
        except SQLAlchemyError as error:
            raise self.failed(error) from error
        finally:
            engine.dispose()

    def failed(self, error: Exception) -> DataError:
        """Return an error with the database's message, without its password."""
        reason = str(getattr(error, "orig", None) or error).strip().rstrip(".")
        address = self.url.partition("://")[2].rpartition("@")[0]
        password = address.partition(":")[2]
        # Mask each part of a password with @, because drivers treat the text after its first @ as
        # the host.
        for secret in filter(None, (unquote(password), *password.split("@"))):
            reason = reason.replace(secret, "***")
        return DataError(f"The {self.scheme} database refused {self.selection!r}: {reason}.")
