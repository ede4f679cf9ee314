"""What makes a folder a store: a file that says where its versions and its objects are."""

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path

from nodegraft.base.errors import StoreError
from nodegraft.store.versions.database import DATABASE_FILES, database_url
from nodegraft.store.versions.journal import Journal

SETTINGS, FORMAT = "store.json", 1
"""The file, and what it says of the store's form."""

OBJECTS = "objects"
"""The folder in a store's that holds what versions name, unless the file says otherwise."""


@dataclass(frozen=True)
class StoreSettings:
    """Where the parts of a store are that need not be in its folder."""

    database: str | None
    """Where versions are written down; None for a file in the folder."""

    objects: str | None = None
    """Where graphs, labels and models are kept; None for a folder in the folder."""

    def objects_of(self, folder: Path) -> str | Path:
        """The place of the objects of a store.

        Args:
            folder: The store.
        """
        return self.objects or folder / OBJECTS


def settings_in(folder: Path) -> StoreSettings:
    """What the file says of the store in a folder.

    Args:
        folder: What :meth:`nodegraft.Store.init` made.
    """
    try:
        settings = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
        number = settings["format"]
        _check(settings)
        found = StoreSettings(settings["database"], _without_dots(settings["objects"]))
    except FileNotFoundError as error:
        raise StoreError(
            f"{folder} is not a store: {SETTINGS} is missing. Create one with `nodegraft init`."
        ) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(f"{folder / SETTINGS} cannot be read: {error}.") from error
    if number != FORMAT:
        raise StoreError(
            f"{folder} has format {number!r}, this nodegraft reads {FORMAT}: use the version "
            "of nodegraft that made it."
        )
    return found


def settings_text(settings: StoreSettings) -> str:
    """Return the content of the file, byte for byte.

    Args:
        settings: What it says.
    """
    return json.dumps({"format": FORMAT, **asdict(settings)}, indent=2) + "\n"


def _check(document: dict[str, object]) -> None:
    unknown = document.keys() - {"format", "database", "objects"}
    if unknown:
        raise ValueError(f"it has an unknown field {min(unknown)!r}")
    for name in ("database", "objects"):
        value = document.get(name)
        if not (value is None or isinstance(value, str)):
            raise ValueError(f"{name} must be text or null")


def _without_dots(objects: str | None) -> str | None:
    """Resolve ``..`` in an absolute path; elsewhere it could lead to any place."""
    if not objects or ".." not in re.split(r"[/\\\\]", objects):
        return objects
    if not Path(objects).is_absolute():
        raise ValueError("objects must be an absolute path or a URL without `..`")
    return str(Path(objects).resolve())


def journal_in(folder: Path, settings: StoreSettings | None = None) -> Journal:
    """What was done to the store in a folder, whatever revision its tables have.

    Args:
        folder: What :meth:`nodegraft.Store.init` made.
        settings: What its file says; None to read it.
    """
    database = (settings or settings_in(folder)).database
    if database is None and not (folder / DATABASE_FILES[0]).exists():
        raise StoreError(
            f"{folder / DATABASE_FILES[0]} is missing, and with it the history of versions: "
            "restore it from a backup."
        )
    return Journal(database_url(folder, database))
