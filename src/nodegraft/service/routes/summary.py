"""The route that says how well each class does."""

from datetime import datetime

from fastapi import APIRouter
from pydantic import Field

from nodegraft.analysis.drift import count_predictions
from nodegraft.model.confidence import World
from nodegraft.service.auth.tokens import Scope
from nodegraft.service.inputs import Served, needs
from nodegraft.service.live.live import Live
from nodegraft.service.routes.found import ReadVersion
from nodegraft.service.schemas import Answer, Form
from nodegraft.service.service import Service

ROUTER = APIRouter(prefix="/v1", tags=["looking"], dependencies=[needs(Scope.READ)])


class SummarisedClass(Form):
    """A class, and how well it does."""

    name: str = Field(examples=["hats"])
    """Its name."""

    labels: int = Field(examples=[16])
    """How many nodes teach it."""

    since: int = Field(examples=[1])
    """The version from which on it has been known."""

    at: datetime
    """When that was made, in UTC."""

    held_out: int = Field(examples=[4])
    """How many nodes check it."""

    accuracy: float | None = Field(examples=[0.75])
    """The share of them that are answered rightly; null where there are none."""

    answered: int = Field(examples=[120])
    """How many of the nodes asked about are taken for it."""

    unsure: int | None = Field(examples=[31])
    """How many of them with a confidence below 0.9; null where the method cannot abstain."""


class Summary(Answer):
    """How well a version does, class by class."""

    nodes: int = Field(examples=[9295])
    """How many nodes its graph has."""

    asked: int = Field(examples=[9295])
    """How many of them were asked about: all, or a fair sample."""

    held_out: int = Field(examples=[587])
    """How many nodes check it."""

    accuracy: float | None = Field(examples=[0.988])
    """The share of them that are answered rightly."""

    world: World = Field(examples=["open"])
    """Whether nodes may belong to classes that are not known: it decides what confidence means."""

    share_of_known_classes: float | None = Field(examples=[0.81])
    """Estimated share of unlabelled nodes that belong to known classes; null without one.
    In an open world confidence is then the probability alone."""

    classes: list[SummarisedClass]
    """In the order in which they came."""


@ROUTER.get("/summary")
async def summary(service: Served, live: ReadVersion) -> Summary:
    """How well each class does: nodes that check it, and all that are taken for it."""
    return await service.prepared.get("summary", live.cache_key, lambda: _summary(service, live))


def _summary(service: Service, live: Live) -> Summary:
    card, counts = service.store.card(live.version), count_predictions(live.state)
    made_at = {one.version: one.at for one in card.history}
    return Summary(
        model_version=live.version,
        graph_version=live.graph_version,
        nodes=card.graph.nodes,
        asked=counts.sampled,
        held_out=card.held_out.asked,
        accuracy=card.held_out.share,
        world=card.world,
        share_of_known_classes=card.share_of_known_classes,
        classes=[
            SummarisedClass(
                name=one.name,
                labels=one.labels,
                since=one.since,
                at=datetime.fromisoformat(made_at[one.since]),
                held_out=one.held_out.asked,
                accuracy=one.held_out.share,
                answered=counts.classes[one.name].predicted,
                unsure=counts.classes[one.name].uncertain,
            )
            for one in card.classes
        ],
    )
