"""Whose objects lie in a place: a store deletes only where its own marker stands."""

from collections.abc import Sequence
from uuid import uuid4

from sqlalchemy import Connection, insert

from nodegraft.base.errors import StoreError
from nodegraft.store.journal import Journal, pruned_in, versions_in
from nodegraft.store.objects import MARKER, Objects
from nodegraft.store.options import SETTINGS, read_setting

STORE_ID = "store_id"
"""The setting that holds the random id of a store; the marker among its objects repeats it."""


def claim_place(objects: Objects) -> str:
    """Put a marker among the objects of a store that is being made; return the store's id.

    Args:
        objects: Their place; a marker that an interrupted `init` or `migrate` has left is used.
    """
    return objects.put_marker(uuid4().hex)


def write_store_id(connection: Connection, store_id: str) -> None:
    """Write the id of a new store into its database.

    Args:
        connection: The database, in a transaction.
        store_id: What :func:`claim_place` gave.
    """
    connection.execute(insert(SETTINGS).values(name=STORE_ID, value=store_id))


def adopt_place(journal: Journal, objects: Objects) -> None:
    """Give a store of an older nodegraft an id and a marker, if its place is certainly its own.

    A marker without an id in the database was left by a migration that was interrupted: the store
    gets the marker's id.

    Args:
        journal: The store's database.
        objects: The place that its settings name.
    """
    with journal.connection() as connection:
        if read_setting(connection, STORE_ID, None) is not None:
            return
    with journal.transaction(alone=True) as connection:
        # Read again: another process may have migrated the store meanwhile.
        if read_setting(connection, STORE_ID, None) is not None:
            return
        pruned = pruned_in(connection)
        whole = [one for one in versions_in(connection) if one.number not in pruned]
        names: Sequence[str] = [name for version in whole for name in version.names.all]
        if names and not objects.lacks(names):
            write_store_id(connection, claim_place(objects))


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
    if marker == store_id and (marker is not None or objects.in_store):
        return
    if marker is None and objects.in_store:
        # The store's own folder, of which a copy without the marker was made.
        return
    said = "has no marker" if marker is None else "has the marker of another store"
    raise StoreError(
        f"{objects.place} {said} ({MARKER}), so nothing is deleted there. Does `objects` in "
        "store.json name the right place? For a store that an older nodegraft made, run "
        "`nodegraft migrate STORE` first."
    )
