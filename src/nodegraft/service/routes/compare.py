"""Routes that compare two versions: their predictions (diff), and their drift."""

from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import Query
from pydantic import Field

from nodegraft.analysis.preview import comparison_fields
from nodegraft.analysis.version import Version, version_fields
from nodegraft.service.auth.tokens import Scope
from nodegraft.service.dependencies import (
    VERSION_NAMES,
    Served,
    VersionName,
    router,
    version_named,
)
from nodegraft.service.live.live import row_key
from nodegraft.service.schemas import Comparison, HistoryEntry, Model, VersionResponse
from nodegraft.service.service import Service
from nodegraft.store.versions.lineage import unreviewed

ROUTER = router("versions", Scope.READ)

Before = Annotated[VersionName, Query(description=f"Version before: {VERSION_NAMES}")]
BeforeDrift = Annotated[
    VersionName | None,
    Query(
        description=f"Version before: {VERSION_NAMES} By default the live version, or the oldest "
        "that was not pruned if the live one is the version after."
    ),
]
After = Annotated[VersionName, Query(description=f"Version after: {VERSION_NAMES}")]


class Diff(Comparison):
    """Difference of the version `compared_with` and a later one, `model_version`."""

    compared_with: int = Field(examples=[1])
    """Number of the version before."""

    history: list[HistoryEntry]
    """Changes between the two versions, newest first."""

    held_out: int = Field(examples=[587])
    """Number of held-out nodes of classes that both versions know."""

    classes_added: list[str] = Field(examples=[["e-bikes"]])
    """Classes that only the version after knows."""

    classes_removed: list[str] = Field(examples=[[]])
    """Classes that only the version before knows."""


class Shift(Model):
    """Change of one measure."""

    measure: str = Field(examples=["predictions"])
    """Name of the measure."""

    before: str = Field(examples=["31.2 % hats"])
    """Value before."""

    after: str = Field(examples=["28.9 % hats"])
    """Value after."""

    distance: float = Field(examples=[0.04])
    """Distance of the two values, from 0 to 1."""

    noise: float = Field(examples=[0.02])
    """Distance that chance alone exceeds about once in twenty times."""

    alarm: bool = Field(examples=[False])
    """Whether the distance is above the alarm threshold."""


class Drift(VersionResponse):
    """Drift between the version `compared_with` and a later one, `model_version`."""

    compared_with: int = Field(examples=[1])
    """Number of the version before."""

    shifts: list[Shift]
    """One for each measure."""


@ROUTER.get("/diff")
async def diff(service: Served, before: Before = "live", after: After = "newest") -> Diff:
    """Compare the predictions of two versions."""
    old, new = await run_sync(
        lambda: (version_named(service, before), version_named(service, after))
    )
    key = row_key(old), row_key(new), service.now.world
    return await service.responses.get("diff", key, lambda: _diff(service, old, new))


def _diff(service: Service, old: Version, new: Version) -> Diff:
    store = service.store
    preview = store.diff(old.number, new.number)
    known, known_after = (store.state(version.number).labels for version in (old, new))
    last = max(old.number, new.number)
    versions = unreviewed([row for row in store.history() if row.number <= last], old)
    return Diff(
        **version_fields(new),
        compared_with=old.number,
        history=[HistoryEntry.of(row) for row in versions[::-1] if row.number <= new.number],
        **comparison_fields(preview),
        held_out=preview.before.nodes,
        classes_added=[name for name in known_after if name not in known],
        classes_removed=[name for name in known if name not in known_after],
    )


@ROUTER.get("/drift")
async def drift(service: Served, before: BeforeDrift = None, after: After = "newest") -> Drift:
    """Measure the drift of predictions, confidence, edges and features between two versions."""
    old, new = await run_sync(_drift_versions, service, before, after)
    key = row_key(old), row_key(new), service.now.world
    return await service.responses.get("drift", key, lambda: _drift(service, old, new))


def _drift(service: Service, old: Version, new: Version) -> Drift:
    shifts = [
        Shift(
            measure=shift.what,
            before=shift.before,
            after=shift.after,
            distance=shift.distance,
            noise=shift.noise,
            alarm=shift.alarming,
        )
        for shift in service.store.drift(old.number, new.number)
    ]
    return Drift(**version_fields(new), compared_with=old.number, shifts=shifts)


def _drift_versions(
    service: Service, before: VersionName | None, after: VersionName
) -> tuple[Version, Version]:
    store, new = service.store, version_named(service, after)
    if before is not None:
        return version_named(service, before), new
    if store.live != new.number:
        return store.version(store.live), new
    pruned = store.pruned()
    return next(row for row in store.history() if row.number not in pruned), new
