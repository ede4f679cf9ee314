"""Route that lists labels which are probably wrong."""

from typing import Annotated

from fastapi import Query
from pydantic import Field

from nodegraft.analysis.label_audit import audit_labels
from nodegraft.service.auth.limits import MAX_LISTED
from nodegraft.service.auth.tokens import Scope
from nodegraft.service.dependencies import ReadVersion, Served, router
from nodegraft.service.schemas import Model, NodeKey, VersionResponse

ROUTER = router("predictions", Scope.READ)


class SuspiciousLabel(Model):
    """Label that disagrees with the other labels."""

    node: NodeKey = Field(examples=["p7"])
    """Node key."""

    label: str = Field(examples=["caps"])
    """Its label."""

    suggested: str = Field(examples=["hats"])
    """The likeliest other class, by a model that did not learn the label."""

    label_probability: float = Field(examples=[0.02])
    """P(label), by that model."""

    suggested_probability: float = Field(examples=[0.9])
    """P(suggested class), by that model."""

    reason: str = Field(
        examples=["Without this label, hats has 90.0 % and caps 2.0 %; no neighbour has a label."]
    )
    """Why the label is suspicious."""


class LabelAudit(VersionResponse):
    """Labels that are probably wrong."""

    labels: list[SuspiciousLabel]
    """The most suspicious first; only labels for which another class is likelier."""


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
    labels = [SuspiciousLabel(**vars(suspicious)) for suspicious in found[:count]]
    return LabelAudit(**live.fields, labels=labels)
