"""What makes a folder a store: a file that says where its versions are written down."""

import json
from pathlib import Path

from nodegraft.base.errors import StoreError
from nodegraft.store.database import DATABASE_FILES, database_url
from nodegraft.store.journal import Journal

SETTINGS, FORMAT = "store.json", 1
"""The file, and what it says of the store's form."""


def journal_in(folder: Path) -> Journal:
    """What was done to the store in a folder, whatever revision its tables have.

    Args:
        folder: What :meth:`nodegraft.Store.init` made.
    """
    try:
        settings = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
        number, database = settings["format"], settings["database"]
    except FileNotFoundError as error:
        raise StoreError(
            f"{folder} is no store: {SETTINGS} is missing. Make one with `nodegraft init`."
        ) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{folder / SETTINGS} cannot be read: {error}.") from error
    if number != FORMAT:
        raise StoreError(
            f"{folder} has format {number!r}, this nodegraft reads {FORMAT}: use the version "
            "of nodegraft that made it."
        )
    if database is None and not (folder / DATABASE_FILES[0]).exists():
        raise StoreError(
            f"{folder / DATABASE_FILES[0]} is gone, and with it what the versions were: bring "
            "it back from a copy."
        )
    return Journal(database_url(folder, database))
