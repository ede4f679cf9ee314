"""Whose objects lie in a place: a store deletes only where its own marker stands."""

from uuid import uuid4

from sqlalchemy import Connection, insert

from nodegraft.base.errors import StoreError
from nodegraft.store.objects.objects import MARKER, Objects
from nodegraft.store.settings.options import SETTINGS, read_setting

STORE_ID = "store_id"
"""The setting that holds the random id of a store; the marker among its objects repeats it."""


def claim_place(objects: Objects) -> str:
    """Put a marker among the objects of a store that is being made; return the store's id.

    Args:
        objects: Their place; a marker that an interrupted `init` has left is used.
    """
    return objects.put_marker(uuid4().hex)


def write_store_id(connection: Connection, store_id: str) -> None:
    """Write the id of a new store into its database.

    Args:
        connection: The database, in a transaction.
        store_id: What :func:`claim_place` gave.
    """
    connection.execute(insert(SETTINGS).values(name=STORE_ID, value=store_id))


def require_own_place(connection: Connection, objects: Objects) -> None:
    """Refuse to delete in a place that is not proven to be this store's.

    Args:
        connection: The store's database.
        objects: The place that its settings name.
    """
    if objects.is_link:
        raise StoreError(
            f"{objects.place} is a symbolic link: nothing is deleted there. Name the folder "
            "that it leads to."
        )
    store_id, marker = read_setting(connection, STORE_ID, None), objects.marker()
    # The store's own folder may be a copy that was made without the marker.
    is_own = objects.in_store if marker is None else marker == store_id
    if is_own:
        return
    said = "has no marker" if marker is None else "has the marker of another store"
    raise StoreError(
        f"{objects.place} {said} ({MARKER}), so nothing is deleted there. Does `objects` in "
        "store.json name the right place?"
    )
