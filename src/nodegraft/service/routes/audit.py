"""Route that lists labels which are probably wrong."""

from typing import Annotated

from fastapi import Query

from nodegraft.analysis.label_audit import audit_labels
from nodegraft.analysis.results.nodes import LabelAudit
from nodegraft.service.auth.limits import MAX_LISTED
from nodegraft.service.auth.tokens import Scope
from nodegraft.service.dependencies import ReadVersion, Served, router

ROUTER = router("predictions", Scope.READ)


@ROUTER.get("/audit")
async def audit(
    service: Served,
    live: ReadVersion,
    count: Annotated[int, Query(description="Number of labels.", ge=1, le=MAX_LISTED)] = 20,
) -> LabelAudit:
    """List labels that are probably wrong; the first audit of a version takes long."""
    found = await service.responses.get(
        "audit", live.cache_key, lambda: audit_labels(live.state, MAX_LISTED)
    )
    return LabelAudit(**live.fields, labels=found[:count])
