"""The route that says what has moved between two versions."""

from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import APIRouter, Query
from pydantic import Field

from nodegraft.analysis.version import Version
from nodegraft.service.auth.tokens import Scope
from nodegraft.service.inputs import Served, needs
from nodegraft.service.routes.found import VersionName, version_named
from nodegraft.service.schemas import Answer, Form
from nodegraft.service.service import Service

ROUTER = APIRouter(prefix="/v1", tags=["looking"], dependencies=[needs(Scope.READ)])

Before = Annotated[
    VersionName | None,
    Query(
        description="The version before: a number, `live` or `candidate`. Without it the live one, "
        "or where that is the version after, the oldest that was not pruned."
    ),
]
After = Annotated[
    VersionName, Query(description="The version after: a number, `live` or `candidate`.")
]


class Shifted(Form):
    """How far one thing has moved."""

    what: str = Field(examples=["answers"])
    """What was looked at."""

    before: str = Field(examples=["31.2 % hats"])
    """What it was."""

    after: str = Field(examples=["28.9 % hats"])
    """What it is."""

    distance: float = Field(examples=[0.04])
    """How far apart both are, from 0 to 1."""

    noise: float = Field(examples=[0.02])
    """About the distance that chance alone gives once in twenty times."""

    alarming: bool = Field(examples=[False])
    """Whether somebody should look."""


class Drift(Answer):
    """What has moved between two versions."""

    compared_with: int = Field(examples=[1])
    """The version before."""

    shifts: list[Shifted]
    """One for each thing that was looked at."""


@ROUTER.get("/drift")
async def drift(service: Served, before: Before = None, after: After = "candidate") -> Drift:
    """How far answers, confidence, edges and features have moved between two versions."""
    store = service.store
    old, new = await run_sync(_both, service, before, after)

    def made() -> Drift:
        return Drift(
            model_version=new.number,
            graph_version=new.graph,
            compared_with=old.number,
            shifts=[
                Shifted(**vars(one), alarming=one.alarming)
                for one in store.drift(old.number, new.number)
            ],
        )

    about = old.number, new.number, service.now.world
    return await service.prepared.get("drift", about, made)


def _both(
    service: Service, before: VersionName | None, after: VersionName
) -> tuple[Version, Version]:
    store, new = service.store, version_named(service, after)
    if before is not None:
        return version_named(service, before), new
    if store.live != new.number:
        return store.version(store.live), new
    pruned = store.pruned()
    return next(one for one in store.history() if one.number not in pruned), new
