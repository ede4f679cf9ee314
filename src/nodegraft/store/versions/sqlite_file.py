"""Connections to an SQLite file, refused if it was replaced or if this process was forked."""

import os
import sqlite3
import sys
from pathlib import Path
from urllib.parse import quote
from weakref import WeakSet

from nodegraft.base.errors import StoreError, StoreUnreachableError
from nodegraft.base.extras import extra

with extra("store", package="sqlalchemy", purpose="A store"):
    from sqlalchemy.exc import DisconnectionError


class FileConnection(sqlite3.Connection):
    """SQLite connection that remembers the path and identity of its file, and closes itself."""

    file: str
    identity: tuple[int, int]

    def close(self) -> None:
        """Close the connection, which a forked process may then open again."""
        _OPEN.discard(self)
        super().close()

    def __del__(self) -> None:
        # Close the connection of a store that nobody closed: every change is committed before it
        # returns, so nothing is lost. Without this, Python 3.13 would warn.
        self.close()


_OPEN: WeakSet[FileConnection] = WeakSet()
"""Open connections of this process."""

_INHERITED: list[FileConnection] = []
"""Connections that were open in the parent when this process was forked.

SQLite damages a database that is used across a fork: the child believes to hold the locks of its
parent. So they are neither used nor closed, and their files are not opened again.
"""

if sys.platform != "win32":
    os.register_at_fork(after_in_child=lambda: _INHERITED.extend(_OPEN))


def _refuse_inherited(file: str, identity: tuple[int, int] | None) -> None:
    if any(connection.identity == identity for connection in _INHERITED):
        raise StoreError(
            f"This process was forked while {file} was open, which SQLite does not support: close "
            "the store before forking and open it in each process, or start processes with the "
            'start method "spawn" of multiprocessing.'
        )


def _file_identity(file: str) -> tuple[int, int] | None:
    """Return device and inode number of a file; None if it cannot be reached."""
    try:
        status = Path(file).stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def open_existing(file: str) -> FileConnection:
    """Open an SQLite file; raise an error if it is missing, or was open at a fork."""
    # Read the identity before opening: if the file is replaced in between, the next checkout from
    # the pool detects it.
    identity = _file_identity(file)
    if identity is None:
        raise StoreUnreachableError(
            f"{file} was moved or deleted, or cannot be reached: bring it back from a copy."
        )
    _refuse_inherited(file, identity)
    connection = sqlite3.connect(
        f"file:{quote(file)}?mode=rw", uri=True, check_same_thread=False, factory=FileConnection
    )
    connection.file, connection.identity = file, identity
    _OPEN.add(connection)
    return connection


def require_same_file(connection: FileConnection, *_: object) -> None:
    """Make SQLAlchemy connect again if the SQLite file was moved, deleted or replaced.

    An open connection would continue to use the old file: tokens that are revoked in the new file
    would stay valid, and changes would be lost.
    """
    _refuse_inherited(connection.file, connection.identity)
    if _file_identity(connection.file) != connection.identity:
        raise DisconnectionError(f"{connection.file} was moved or replaced.")
