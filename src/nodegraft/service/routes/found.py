"""Versions that callers name: by number, or as the live version or the candidate version."""

from typing import Annotated, Literal

from anyio.to_thread import run_sync
from fastapi import Depends, Query
from pydantic import Field

from nodegraft.analysis.version import Version
from nodegraft.service.http_error import HttpError
from nodegraft.service.inputs import Served
from nodegraft.service.live.live import Live
from nodegraft.service.service import Service
from nodegraft.store.store import Store
from nodegraft.store.versions.journal import refuse_pruned

VersionName = Literal["live", "candidate"] | Annotated[int, Field(ge=1, le=2**31 - 1)]
"""The number of a version, or what it is: ``live`` or ``candidate``."""


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


def version_named(service: Service, name: VersionName) -> Version:
    """Return the version that a caller has named; one that was pruned is refused.

    Args:
        service: The service.
        name: Its number, ``live`` or ``candidate``.
    """
    store = service.store
    if name == "live":
        version = service.now.row
    else:
        version = existing(store, store.candidate if name == "candidate" else name)
    # Here, as a response about it may still be cached.
    refuse_pruned(version.number, store.pruned())
    return version


async def _read_version(
    service: Served,
    version: Annotated[
        VersionName,
        Query(
            description="The version that is read: a number, `live` or `candidate`. The response "
            "has its number as `model_version`."
        ),
    ] = "live",
) -> Live:
    live = service.now
    return live if version in ("live", live.version) else await run_sync(_load, service, version)


def _load(service: Service, name: VersionName) -> Live:
    version, live = version_named(service, name), service.now
    if version == live.row:
        return live
    return Live(version, service.store.state(version.number))


ReadVersion = Annotated[Live, Depends(_read_version)]
"""For routes that read one version: the live one unless the caller names another."""
