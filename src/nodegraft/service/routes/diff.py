"""The route that compares two versions, so that a candidate version can be reviewed."""

from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import APIRouter, Query
from pydantic import Field

from nodegraft.analysis.version import Version
from nodegraft.service.auth.tokens import Scope
from nodegraft.service.inputs import Served, needs
from nodegraft.service.previews import ChangedPredictions, changed_predictions
from nodegraft.service.routes.found import VersionName, version_named
from nodegraft.service.schemas import Session
from nodegraft.service.service import Service
from nodegraft.store.versions.lineage import unreviewed

ROUTER = APIRouter(prefix="/v1", tags=["versions"], dependencies=[needs(Scope.READ)])


class Diff(ChangedPredictions):
    """What changes from one version to another one, `model_version`."""

    compared_with: int = Field(examples=[1])
    """The number of the version before."""

    sessions: list[Session]
    """The changes that were made in between, newest first."""

    flipped: int = Field(examples=[112])
    """How many of their predictions change."""

    held_out: int = Field(examples=[587])
    """How many held-out nodes of classes that both versions know were predicted."""

    classes_added: list[str] = Field(examples=[["e-bikes"]])
    """Classes that only the version after knows."""

    classes_removed: list[str] = Field(examples=[[]])
    """Classes that only the version before knows."""


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
        **changed_predictions(preview),
        flipped=preview.flipped,
        held_out=preview.before.nodes,
        classes_added=[name for name in known_after if name not in known],
        classes_removed=[name for name in known if name not in known_after],
        objections=preview.objections(),
        warnings=preview.warnings(),
    )
