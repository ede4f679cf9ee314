"""The route that compares two versions, so that a candidate version can be reviewed."""

from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import APIRouter, Query
from pydantic import Field

from nodegraft.service.inputs import Served, needs
from nodegraft.service.previews import Flipped, FlippedNode
from nodegraft.service.routes.found import VersionName, version_named
from nodegraft.service.schemas import Answer, Session
from nodegraft.service.service import Service
from nodegraft.service.tokens import Scope
from nodegraft.store.lineage import unreviewed
from nodegraft.store.rows import Version

ROUTER = APIRouter(prefix="/v1", tags=["versions"], dependencies=[needs(Scope.READ)])


class Diff(Answer):
    """What changes from one version to another one, `model_version`."""

    compared_with: int = Field(examples=[1])
    """The number of the version before."""

    sessions: list[Session]
    """The changes that were made in between, newest first."""

    asked: int = Field(examples=[20000])
    """How many nodes were compared: all, or a fair sample."""

    flipped: int = Field(examples=[112])
    """How many of their predictions change."""

    flips: list[Flipped]
    """How many predictions change from which class to which, the most frequent first."""

    examples: list[FlippedNode]
    """Some nodes whose prediction changes."""

    held_out: int = Field(examples=[587])
    """How many held-out nodes of classes that both versions know were predicted."""

    accuracy_before: float | None = Field(examples=[0.912])
    """The held-out accuracy of the version before; null where there is no held-out node."""

    accuracy_after: float | None = Field(examples=[0.911])
    """The held-out accuracy of the version after."""

    classes_added: list[str] = Field(examples=[["e-bikes"]])
    """Classes that only the version after knows."""

    classes_removed: list[str] = Field(examples=[[]])
    """Classes that only the version before knows."""

    objections: list[str]
    """What the quality gate would hold against the change."""

    warnings: list[str] = Field(examples=[["Class 'e-bikes' is taught from 1 example: …"]])
    """What to look at before the version is promoted; warnings block nothing."""


@ROUTER.get("/diff")
async def diff(
    service: Served,
    before: Annotated[
        VersionName, Query(description="The version before: a number, `live` or `candidate`.")
    ] = "live",
    after: Annotated[
        VersionName, Query(description="The version after: a number, `live` or `candidate`.")
    ] = "candidate",
) -> Diff:
    """Compare two versions: the live one with the candidate, unless you name others."""
    old, new = await run_sync(
        lambda: (version_named(service, before), version_named(service, after))
    )
    key = old.number, new.number, service.now.world
    return await service.prepared.get("diff", key, lambda: _diff(service, old, new))


def _diff(service: Service, old: Version, new: Version) -> Diff:
    store = service.store
    preview = store.diff(old.number, new.number)
    known, known_after = (store.state(version.number).labels for version in (old, new))
    last = max(old.number, new.number)
    history = [version for version in store.history() if version.number <= last]
    return Diff(
        model_version=new.number,
        graph_version=new.graph,
        compared_with=old.number,
        sessions=[
            Session.of(version)
            for version in unreviewed(history, old)[::-1]
            if version.number <= new.number
        ],
        asked=preview.asked,
        flipped=preview.flipped,
        flips=[
            Flipped(before=name_before, after=name_after, nodes=count)
            for (name_before, name_after), count in preview.flips.items()
        ],
        examples=[FlippedNode(**vars(flip)) for flip in preview.examples],
        held_out=preview.before.nodes,
        accuracy_before=preview.before.accuracy,
        accuracy_after=preview.after.accuracy,
        classes_added=[name for name in known_after if name not in known],
        classes_removed=[name for name in known if name not in known_after],
        objections=preview.objections(),
        warnings=preview.warnings(),
    )
