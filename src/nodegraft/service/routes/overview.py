"""Routes with an overview of a version: quality of each class, a map, and suspicious labels."""

from datetime import datetime
from typing import Annotated, Literal

from fastapi import Query
from pydantic import Field

from nodegraft.analysis.drift import count_predictions
from nodegraft.analysis.label_audit import audit_labels
from nodegraft.analysis.node_map import NODES, node_map, with_more
from nodegraft.analysis.predictions import predict_rows
from nodegraft.analysis.results.nodes import LabelAudit
from nodegraft.analysis.results.versions import ClassGroup, KnownClasses
from nodegraft.model.confidence import World
from nodegraft.service.auth.limits import MAX_LISTED
from nodegraft.service.auth.tokens import Scope
from nodegraft.service.dependencies import ReadVersion, Served, router
from nodegraft.service.live.live import Live
from nodegraft.service.schemas import Model, NodeKey, VersionResponse
from nodegraft.service.service import Service

ROUTER = router("overview", Scope.READ)
AUDIT = router("predictions", Scope.READ)

MAX_MAPPED = 100_000
"""Maximum number of nodes on a map."""


class ClassSummary(Model):
    """Quality of one class."""

    name: str = Field(examples=["hats"])
    """Class name."""

    parent: str | None = Field(examples=[None])
    """Parent in the class tree: a class or a group; null if it has none."""

    labels: int = Field(examples=[16])
    """Number of training labels."""

    since: int = Field(examples=[1])
    """Number of the version that added the class."""

    at: datetime
    """Time when this version was made, in UTC."""

    held_out: int = Field(examples=[4])
    """Number of held-out labels, which are used to measure accuracy."""

    accuracy: float | None = Field(examples=[0.75])
    """Accuracy on the held-out labels of the class; null if it has none."""

    predicted: int = Field(examples=[120])
    """Number of nodes that are predicted to belong to the class."""

    low_confidence: int | None = Field(examples=[31])
    """Number of these predictions with a confidence below 0.9; null if the method cannot
    abstain."""


class Summary(VersionResponse):
    """Quality of a version, class by class."""

    nodes: int = Field(examples=[9295])
    """Number of nodes of the graph."""

    key_type: Literal["text", "integer"] = Field(examples=["text"])
    """Type of the node keys."""

    nodes_predicted: int = Field(examples=[9295])
    """Number of nodes for which predictions were computed: all nodes, or a random sample."""

    held_out: int = Field(examples=[587])
    """Number of held-out labels, which are used to measure accuracy."""

    accuracy: float | None = Field(examples=[0.988])
    """Held-out accuracy."""

    world: World = Field(examples=["open"])
    """Whether nodes may belong to unknown classes, which decides what confidence means."""

    share_of_known_classes: float | None = Field(examples=[0.81])
    """Estimated share of unlabelled nodes that belong to known classes; null without an estimate.
    Without an estimate, confidence is equal to probability in an open world, too."""

    classes: list[ClassSummary]
    """Classes in the order in which they were added."""

    groups: list[ClassGroup]
    """Groups of the class tree, sorted by name."""


class MapNode(Model):
    """A node on the map."""

    node: NodeKey = Field(examples=["p7"])
    """Node key."""

    x: float = Field(examples=[0.31])
    """Position from left (0) to right (1)."""

    y: float = Field(examples=[0.72])
    """Position from bottom (0) to top (1)."""

    prediction: str = Field(examples=["hats"])
    """Predicted class."""

    label: str | None = Field(examples=[None])
    """Label of the node; null if it has no label."""

    confidence: float = Field(examples=[0.95])
    """Confidence of the prediction, as in `POST /v1/predict`."""

    probability: float = Field(examples=[0.97])
    """P(class | the node belongs to a known class)."""

    known: float | None = Field(examples=[0.98])
    """P(the node belongs to any known class); null without an estimate."""


class Map(VersionResponse):
    """Map of nodes in two dimensions: a random sample, and some labelled nodes of each class.

    Positions depend on the graph only, predictions on the version.
    """

    nodes: list[MapNode]
    """Nodes on the map."""


@ROUTER.get("/summary")
async def summary(service: Served, live: ReadVersion) -> Summary:
    """Measure the quality of each class: held-out accuracy, and number of predictions."""
    return await service.responses.get("summary", live.cache_key, lambda: _summary(service, live))


def _summary(service: Service, live: Live) -> Summary:
    card, counts = service.store.card(live.version), count_predictions(live.state)
    known_classes = KnownClasses.of(live.row, live.state.labels)
    made_at = {row.version: row.at for row in card.history}
    return Summary(
        **live.fields,
        nodes=card.graph.nodes,
        key_type="text" if live.state.graph.has_text_keys else "integer",
        nodes_predicted=counts.sampled,
        held_out=card.held_out.total,
        accuracy=card.held_out.share,
        world=card.world,
        share_of_known_classes=card.share_of_known_classes,
        classes=[
            ClassSummary(
                name=known.name,
                parent=known_classes.tree.get(known.name),
                labels=known.labels,
                since=known.since,
                at=datetime.fromisoformat(made_at[known.since]),
                held_out=known.held_out.total,
                accuracy=known.held_out.share,
                predicted=counts.predicted[known.name],
                low_confidence=(None if counts.uncertain is None else counts.uncertain[known.name]),
            )
            for known in card.classes
        ],
        groups=known_classes.groups,
    )


@ROUTER.get("/map")
async def draw_map(
    service: Served,
    live: ReadVersion,
    count: Annotated[
        int, Query(description="Number of nodes; more take longer.", ge=1, le=MAX_MAPPED)
    ] = NODES,
) -> Map:
    """Return a map of nodes in two dimensions, with predictions.

    The first map of a graph takes long.
    """
    key = live.cache_key, count
    return await service.responses.get("map", key, lambda: _map(service, live, count))


def _map(service: Service, live: Live, count: int) -> Map:
    sample = service.maps.get(live.row.graph, lambda: node_map(live.state))
    full_map = with_more(live.state, sample, count)
    rows = predict_rows(live.state, full_map.rows, live.version).to_rows()
    names, shares = ("node", "prediction", "label"), ("confidence", "probability", "known")
    return Map(
        **live.fields,
        nodes=[
            MapNode(
                x=x,
                y=y,
                **{name: row[name] for name in names},
                **{name: row[name] and round(row[name], 4) for name in shares},
            )
            for row, (x, y) in zip(rows, full_map.places.round(4).tolist(), strict=True)
        ],
    )


@AUDIT.get("/audit")
async def audit(
    service: Served,
    live: ReadVersion,
    count: Annotated[int, Query(description="Number of labels.", ge=1, le=MAX_LISTED)] = 20,
) -> LabelAudit:
    """List labels that are probably wrong; the first audit of a version takes long."""
    doubts = await service.responses.get(
        "audit", live.cache_key, lambda: audit_labels(live.state, MAX_LISTED)
    )
    return LabelAudit(**live.fields, labels=doubts[:count])
