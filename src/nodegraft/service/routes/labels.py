"""The route by which classes that are known get more labels."""

from fastapi import APIRouter
from pydantic import Field

from nodegraft.analysis.labels.changes import Change
from nodegraft.service.auth.tokens import Scope
from nodegraft.service.inputs import needs
from nodegraft.service.live.writing import Writes
from nodegraft.service.schemas import Changed, Form, Labels, Text

ROUTER = APIRouter(prefix="/v1", tags=["classes"], dependencies=[needs(Scope.TEACH)])


class MoreLabels(Form):
    """More nodes of known classes."""

    labels: Labels = Field(examples=[{"hats": ["p7"]}])
    """Known class -> keys of nodes that have no label yet."""

    note: Text = Field(default="", max_length=2_000, examples=["suggested ones"])
    """Why: it is written down."""

    override: Text = Field(default="", max_length=2_000)
    """A reason for doing it although held-out nodes speak against it; it is written down."""


@ROUTER.post("/labels", status_code=201)
async def label(more: MoreLabels, writing: Writes) -> Changed:
    """More labels of known classes: a version, unless held-out nodes speak against it."""
    change = Change("label", {"more": more.labels})
    return await writing.changed(change, more.note, more.override)
