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


def find_token_file(folder: Path) -> Path | None:
    """Return the token file in a store's folder, readable or not, under either of its names.

    Args:
        folder: The folder of the store.
    """
    for file in (folder / FILE, folder / IMPORTED):
        try:
            # A symbolic link that leads nowhere counts, too: its tokens are away, not revoked.
            file.lstat()
        except FileNotFoundError:
            continue
        except OSError as error:
            raise _unreadable(file, error) from error
        return file
    return None


def read_token_file(file: Path) -> list[Token]:
    """Return the tokens of a token file.

    Args:
        file: The file.
    """
    try:
        listed = json.loads(file.read_text(encoding="utf-8"))["tokens"]
        return [
            Token(str(row["name"]), Scope(row["scope"]), str(row["digest"]), "tokens.json", now())
            for row in listed
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _unreadable(file, error) from error


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


def _unreadable(file: Path, error: Exception) -> StoreError:
    return StoreError(
        f"{file} holds the tokens of this store and cannot be read: {error}. Restore it "
        "from a copy, then run `nodegraft migrate`; the store is not served until then."
    )
