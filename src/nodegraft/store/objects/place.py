"""Folder of a store, and ``store.json`` with the places of its database and objects.

For safety, a store does not follow symbolic links, and deletes objects only in a folder that
contains the store's marker file.
"""

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path

from sqlalchemy import Connection, insert

from nodegraft.base.errors import StoreError
from nodegraft.graph.disk.mapped import LAYERS
from nodegraft.store.objects.derived_cache import DERIVED
from nodegraft.store.objects.objects import MARKER, Objects
from nodegraft.store.settings import SETTINGS as SETTINGS_TABLE
from nodegraft.store.settings import read_setting
from nodegraft.store.versions.database import DATABASE_FILES, database_url
from nodegraft.store.versions.journal import Journal

SETTINGS, FORMAT = "store.json", 1
"""Name of the file that describes a store, and the version number of its format."""

OBJECTS = "objects"
"""Default subfolder for the objects of a store, unless ``store.json`` names another place."""

CARDS = "cards"
"""Subfolder of the model cards of promoted versions."""

STORE_ID = "store_id"
"""Setting that holds the random id of a store; the marker file in its objects folder repeats it."""


@dataclass(frozen=True)
class StoreSettings:
    """Content of ``store.json``: the places of the database and the objects."""

    database: str | None
    """URL of the database; None for a file in the folder."""

    objects: str | None = None
    """URL or folder of graphs, labels and models; None for a subfolder of the store."""

    def objects_of(self, folder: Path) -> str | Path:
        """Return the place of a store's objects."""
        return self.objects or folder / OBJECTS


def settings_in(folder: Path) -> StoreSettings:
    """Read ``store.json``: the places of a store's database and objects."""
    try:
        settings = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
        number = settings["format"]
        _check(settings)
        stored_settings = StoreSettings(settings["database"], _without_dots(settings["objects"]))
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
    return stored_settings


def settings_text(settings: StoreSettings) -> str:
    """Return the text of a ``store.json`` with the given settings."""
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
    """Resolve ``..`` in an absolute path; refuse it in a URL or a relative path."""
    if not objects or ".." not in re.split(r"[/\\\\]", objects):
        return objects
    if not Path(objects).is_absolute():
        raise ValueError("objects must be an absolute path or a URL without `..`")
    return str(Path(objects).resolve())


def journal_in(folder: Path, settings: StoreSettings | None = None) -> Journal:
    """Open the database of a store, without checking the revision of its tables.

    Args:
        settings: Content of ``store.json``; None to read the file.
    """
    database = (settings or settings_in(folder)).database
    if database is None and not (folder / DATABASE_FILES[0]).exists():
        raise StoreError(
            f"{folder / DATABASE_FILES[0]} is missing, and with it the history of versions: "
            "restore it from a backup."
        )
    return Journal(database_url(folder, database))


def refuse_links(folder: Path) -> None:
    """Refuse a store that has symbolic links in places where it writes.

    Otherwise a store from an attacker could make nodegraft overwrite or delete other files.
    ``store.json`` may be a link, for example to a mounted configuration, because nothing is written
    to it.

    Args:
        folder: Folder of the store; its own path may contain links.
    """
    derived = folder / DERIVED
    places = [folder / name for name in (OBJECTS, DERIVED, CARDS, *DATABASE_FILES)]
    if derived.is_dir() and not derived.is_symlink():
        graphs = list(derived.iterdir())
        places += graphs + [graph / LAYERS for graph in graphs if not graph.is_symlink()]
    for place in places:
        if place.is_symlink():
            raise StoreError(
                f"{place} is a symbolic link, which a store does not follow: replace it by its "
                f"target. (Objects may be elsewhere: `objects` in {SETTINGS} names their place.)"
            )


def write_store_id(connection: Connection, store_id: str) -> None:
    """Write the id of a new store into its database."""
    connection.execute(insert(SETTINGS_TABLE).values(name=STORE_ID, value=store_id))


def require_own_place(connection: Connection, objects: Objects) -> None:
    """Refuse to delete objects in a folder that is not proven to belong to this store."""
    if objects.is_link:
        raise StoreError(
            f"{objects.place} is a symbolic link: nothing is deleted there. Name the folder "
            "that it leads to."
        )
    store_id, marker = read_setting(connection, STORE_ID, None), objects.marker()
    # The default folder needs no marker file, because a copy of the store may lack it.
    is_own = objects.in_store if marker is None else marker == store_id
    if is_own:
        return
    reason = "has no marker" if marker is None else "has the marker of another store"
    raise StoreError(
        f"{objects.place} {reason} ({MARKER}), so nothing is deleted there. Does `objects` in "
        "store.json name the right place?"
    )
