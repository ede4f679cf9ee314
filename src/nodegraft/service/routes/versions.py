"""Routes about versions: list, promote, discard and undo them."""

from datetime import datetime
from functools import partial
from typing import Annotated

from fastapi import Query
from pydantic import Field

from nodegraft.analysis.results.versions import Changed, HistoryEntry, Promoted
from nodegraft.analysis.version import Promotion, Version
from nodegraft.service import dependencies
from nodegraft.service.auth.tokens import Scope
from nodegraft.service.errors import HttpError
from nodegraft.service.schemas import Model, VersionResponse
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store

READ = dependencies.router("versions", Scope.READ)
TEACH = dependencies.router("versions", Scope.TEACH)
ADMIN = dependencies.router("versions", Scope.ADMIN)


class ListedVersion(Model):
    """Version in a list."""

    number: int = Field(examples=[3])
    """Number of the version."""

    parent: int | None = Field(examples=[2])
    """Number of the version that was changed."""

    action: str = Field(examples=["add"])
    """Name of the command that made the version."""

    at: datetime
    """Time when the version was made, in UTC."""

    graph: str
    """Hash of the graph."""

    labels: str
    """Hash of the labels."""

    model: str
    """Hash of the model."""


class Versions(VersionResponse):
    """List of versions of a store."""

    live: int = Field(examples=[2])
    """Number of the live version in the store."""

    newest: int = Field(examples=[3])
    """Number of the newest version, which the next change builds on."""

    candidate: int | None = Field(examples=[3])
    """Number of the candidate version, which waits for review; null if there is none."""

    versions: list[ListedVersion]
    """Versions, newest first."""


class History(VersionResponse):
    """History of the changes of a store."""

    history: list[HistoryEntry]
    """Changes, newest first."""


@READ.get("/versions")
def versions(service: dependencies.Served, limit: dependencies.Limit = 100) -> Versions:
    """List versions, and the numbers of the live, newest and candidate version."""
    # Read all of this at once: otherwise, after a promotion in between, the live version could be
    # listed as the candidate.
    heads, rows = service.store.parts.journal.overview()
    candidate, names = heads.candidate, ListedVersion.model_fields
    return Versions(
        **service.now.fields,
        live=heads.live.number,
        newest=heads.newest.number,
        candidate=None if candidate is None else candidate.number,
        versions=[
            ListedVersion(**{name: getattr(row, name) for name in names})
            for row in rows[::-1][:limit]
        ],
    )


@READ.get("/history")
def history(service: dependencies.Served, limit: dependencies.Limit = 100) -> History:
    """List changes: author, reason, and their effect on predictions and accuracy."""
    rows = service.store.history()[::-1][:limit]
    return History(**service.now.fields, history=list(map(HistoryEntry.of, rows)))


@ADMIN.post("/versions/{number}:promote")
async def promote(
    number: dependencies.Number,
    service: dependencies.Served,
    caller: dependencies.Caller,
    only_candidate: Annotated[
        bool,
        Query(
            description="Refuse a version that does not wait for review: another caller may have "
            "discarded or changed it."
        ),
    ] = False,
    note: dependencies.Note = "",
) -> Promoted:
    """Promote a version, which makes it live; nothing happens if it is live already."""

    intent = Intent(author=caller.name, note=note)
    version, last = await service.writer.run(partial(_promote, number, only_candidate, intent))
    return Promoted(**version.fields, by=last.by, at=last.at)


@TEACH.post("/versions/{number}:discard", status_code=201)
async def discard(
    number: dependencies.Number, changes: dependencies.Changes, note: dependencies.Note = ""
) -> Changed:
    """Discard the candidate version. This makes a new version that is equal to the live version."""
    if changes.key.promote:
        message = "The version that a discard makes equals the live one."
        raise HttpError(422, "invalid_request", message, "Omit promote=true.")
    return await changes.response(partial(_discard, number), note)


@TEACH.post("/versions/{number}:undo")
async def undo(
    number: dependencies.Number, changes: dependencies.Changes, note: dependencies.Note = ""
) -> Changed:
    """Undo the change of one version; later changes stay. This makes a new version."""
    return await changes.response(partial(_undo, number), note)


def _promote(
    number: int, only_candidate: bool, intent: Intent, store: Store
) -> tuple[Version, Promotion]:
    version, last = dependencies.existing(store, number), store.promotions()[-1]
    if last.version != number:
        last = store.promote(number, only_waiting=only_candidate, intent=intent)
    return version, last


def _discard(number: int, store: Store, intent: Intent) -> Version:
    dependencies.existing(store, number)
    return store.discard(number, intent=intent)


def _undo(number: int, store: Store, intent: Intent) -> Version:
    dependencies.existing(store, number)
    return store.undo(number, intent=intent)
