"""Routes about versions: which there are, and which one answers."""

from datetime import datetime

from fastapi import APIRouter
from pydantic import Field

from nodegraft.service.inputs import Caller, Limit, Note, Number, Served, needs
from nodegraft.service.routes.found import existing
from nodegraft.service.schemas import Answer, Form
from nodegraft.service.tokens import Scope

READING = APIRouter(prefix="/v1", tags=["versions"], dependencies=[needs(Scope.READ)])
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
    return Versions(
        model_version=live.version,
        graph_version=live.graph_version,
        champion=service.store.champion,
        candidate=listed[0].number,
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
async def promote(number: Number, service: Served, caller: Caller, note: Note = "") -> Promoted:
    """Let a version answer from now on; where it does already, nothing is done."""

    def chosen() -> Promoted:
        version, last = existing(service.store, number), service.store.promotions()[-1]
        if last.version != number:
            last = service.store.promote(number, by=caller.name, note=note)
            service.live.follow()
        return Promoted(model_version=number, graph_version=version.graph, by=last.by, at=last.at)

    return await service.teaching.in_turn(chosen)
