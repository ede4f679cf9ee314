"""Routes about versions: which there are, and which one answers."""

from datetime import datetime
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from nodegraft.analysis.version import Version
from nodegraft.service.auth.tokens import Scope
from nodegraft.service.http_error import HttpError
from nodegraft.service.inputs import Caller, Limit, Note, Number, Served, needs
from nodegraft.service.live.writing import Writes
from nodegraft.service.routes.found import existing
from nodegraft.service.schemas import Answer, Changed, Form
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store

READING = APIRouter(prefix="/v1", tags=["versions"], dependencies=[needs(Scope.READ)])
TEACHING = APIRouter(prefix="/v1", tags=["versions"], dependencies=[needs(Scope.TEACH)])
CHOOSING = APIRouter(prefix="/v1", tags=["versions"], dependencies=[needs(Scope.ADMIN)])


class ListedVersion(Form):
    """A version."""

    number: int = Field(examples=[3])
    """Its number."""

    parent: int | None = Field(examples=[2])
    """The version that was changed."""

    action: str = Field(examples=["add"])
    """What was done."""

    at: datetime
    """When, in UTC."""

    graph: str
    """The hash of its graph."""

    labels: str
    """The hash of its labels."""

    model: str
    """The hash of its model."""


class Versions(Answer):
    """Versions of a store, and the one that answers."""

    champion: int = Field(examples=[2])
    """The version that answers, as the store says."""

    candidate: int = Field(examples=[3])
    """The newest version."""

    waiting: int | None = Field(examples=[3])
    """The candidate version that waits for review; null where it equals the live one."""

    versions: list[ListedVersion]
    """Newest first."""


class Promoted(Answer):
    """The version that answers from now on."""

    by: str = Field(examples=["anna"])
    """Who chose it."""

    at: datetime
    """When, in UTC."""


@READING.get("/versions")
def versions(service: Served, limit: Limit = 100) -> Versions:
    """All versions, and which one answers."""
    live, listed = service.now, service.store.history()[::-1]
    waiting = service.store.waiting()
    return Versions(
        model_version=live.version,
        graph_version=live.graph_version,
        champion=service.store.live,
        candidate=service.store.candidate,
        waiting=None if waiting is None else waiting.number,
        versions=[
            ListedVersion(
                number=one.number,
                parent=one.parent,
                action=one.action,
                at=one.at,
                graph=one.graph,
                labels=one.labels,
                model=one.model,
            )
            for one in listed[:limit]
        ],
    )


@CHOOSING.post("/versions/{number}:promote")
async def promote(
    number: Number,
    service: Served,
    caller: Caller,
    only_waiting: Annotated[
        bool,
        Query(
            description="Refuse a version that does not wait for review: somebody may have "
            "discarded or changed it."
        ),
    ] = False,
    note: Note = "",
) -> Promoted:
    """Let a version answer from now on; where it does already, nothing is done."""

    def chosen() -> Promoted:
        version, last = existing(service.store, number), service.store.promotions()[-1]
        if last.version != number:
            last = service.store.promote(
                number, only_waiting=only_waiting, intent=Intent(author=caller.name, note=note)
            )
            service.live.follow()
        return Promoted(model_version=number, graph_version=version.graph, by=last.by, at=last.at)

    return await service.teaching.in_turn(chosen)


@TEACHING.post("/versions/{number}:discard", status_code=201)
async def discard(number: Number, writing: Writes, note: Note = "") -> Changed:
    """Discard the candidate version: this makes a version equal to the live one."""
    if writing.wanted.promote:
        message = "The version that a discard makes equals the live one."
        raise HttpError(422, "invalid_request", message, "Leave out promote=true.")
    return await writing.made(partial(_discarded, number), note=note)


def _discarded(number: int, store: Store, intent: Intent) -> Version:
    existing(store, number)
    return store.discard(number, intent=intent)
