"""The file in which an older nodegraft kept the tokens of a store."""

import json
import logging
from pathlib import Path

from nodegraft.base.errors import StoreError
from nodegraft.store.access import Scope, Token
from nodegraft.store.rows import now

FILE, IMPORTED = "tokens.json", "tokens.json.imported"
"""The file, and its name after its tokens were imported into the database."""

LOG = logging.getLogger("nodegraft.service")


def has_token_file(folder: Path) -> bool:
    """Return whether a store's folder has a token file, readable or not.

    Args:
        folder: The folder of the store.
    """
    try:
        # A symbolic link that leads nowhere counts, too: its tokens are away, not revoked.
        (folder / FILE).lstat()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise _unreadable(folder, error) from error
    return True


def read_token_file(folder: Path) -> list[Token]:
    """Return the tokens of the file.

    Args:
        folder: The folder of the store.
    """
    try:
        listed = json.loads((folder / FILE).read_text(encoding="utf-8"))["tokens"]
        return [
            Token(str(row["name"]), Scope(row["scope"]), str(row["digest"]), "tokens.json", now())
            for row in listed
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _unreadable(folder, error) from error


def set_aside_token_file(folder: Path) -> None:
    """Rename the file, so that nobody takes it for the tokens of today.

    Args:
        folder: The folder of the store.
    """
    try:
        (folder / FILE).replace(folder / IMPORTED)
    except FileNotFoundError:
        return  # Another process was faster.
    except OSError:
        # The file has no effect once the database has had tokens, so it may also stay.
        LOG.debug("%s cannot be renamed", folder / FILE, exc_info=True)


def _unreadable(folder: Path, error: Exception) -> StoreError:
    return StoreError(
        f"{folder / FILE} holds the tokens of this store and cannot be read: {error}. Restore it "
        "from a copy, then run `nodegraft migrate`; the store is not served until then."
    )
