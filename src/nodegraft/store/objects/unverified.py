"""What tells a damaged file from one that could not be read: only damage is recorded."""

import sqlite3

from nodegraft.base.errors import StoreError

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
"""Results of SQLite that say nothing about what is in the file. SQLITE_READONLY is none of them:
a file that this user may write to is called so when its header is damaged."""


def unverified(reason: object) -> StoreError:
    """Return the error for a store that could not be looked at.

    Args:
        reason: What kept `verify` from looking.
    """
    said = str(reason).rstrip(" .")
    return StoreError(
        f"The store could not be verified: {said}. Nothing was recorded; run `nodegraft verify` "
        "again when that is solved."
    )


def is_unreadable(error: BaseException) -> bool:
    """Return whether a file could not be read, for a reason other than that it is missing.

    Args:
        error: An operating system's error, or an error that one caused.
    """
    cause = error if isinstance(error, OSError) else error.__cause__
    return isinstance(cause, OSError) and not isinstance(cause, FileNotFoundError)


def is_missing(error: BaseException) -> bool:
    """Return whether a file is not there.

    Args:
        error: An operating system's error, or an error that one caused.
    """
    return isinstance(error, FileNotFoundError) or isinstance(error.__cause__, FileNotFoundError)


def is_out_of_reach(error: BaseException) -> bool:
    """Return whether SQLite could not read its file, whatever is in it.

    Args:
        error: An error of SQLite, or one of SQLAlchemy that it caused.
    """
    code = getattr(getattr(error, "orig", None) or error, "sqlite_errorcode", None)
    # The low byte is the kind of error, the rest says more about it.
    return code is not None and code & 0xFF in _NOT_DAMAGE
