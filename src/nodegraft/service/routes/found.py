"""Versions that callers name."""

from nodegraft.service.http_error import HttpError
from nodegraft.store.rows import Version
from nodegraft.store.store import Store


def existing(store: Store, number: int) -> Version:
    """A version that a caller has named, if there is one.

    Args:
        store: The store.
        number: Of the version.
    """
    newest = store.version()
    if number > newest.number:
        told = f"There is no version {number}: the newest is {newest.number}."
        raise HttpError(404, "unknown_version", told, "Look at GET /v1/versions.")
    return store.version(number)
