"""Routes that compare two versions: their predictions (diff), and their drift."""

from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import Query

from nodegraft.analysis.drift import ALARM
from nodegraft.analysis.results.comparisons import Diff, Drift
from nodegraft.analysis.version import Version
from nodegraft.service.auth.tokens import Scope
from nodegraft.service.dependencies import (
    VERSION_NAMES,
    Served,
    VersionName,
    router,
    version_named,
)
from nodegraft.service.live.live import row_key
from nodegraft.service.service import Service
from nodegraft.store.versions.lineage import diff_result

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


@ROUTER.get("/diff")
async def diff(service: Served, before: Before = "live", after: After = "newest") -> Diff:
    """Compare the predictions of two versions."""
    old, new = await run_sync(
        lambda: (version_named(service, before), version_named(service, after))
    )
    key = row_key(old), row_key(new), service.now.world
    return await service.responses.get("diff", key, lambda: diff_result(service.store, old, new)[1])


@ROUTER.get("/drift")
async def drift(service: Served, before: BeforeDrift = None, after: After = "newest") -> Drift:
    """Measure the drift of predictions, confidence, edges and features between two versions."""
    old, new = await run_sync(_drift_versions, service, before, after)
    key = row_key(old), row_key(new), service.now.world
    return await service.responses.get("drift", key, lambda: _drift(service, old, new))


def _drift(service: Service, old: Version, new: Version) -> Drift:
    shifts = list(service.store.drift(old.number, new.number))
    return Drift(**new.fields, compared_with=old.number, threshold=ALARM, shifts=shifts)


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
