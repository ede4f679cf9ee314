"""The route that says where nodes lie in a picture of a graph, and what they are taken for."""

from fastapi import APIRouter
from pydantic import Field

from nodegraft.analysis.node_map import node_map, with_labelled
from nodegraft.analysis.predictions import predict_rows
from nodegraft.service.auth.tokens import Scope
from nodegraft.service.inputs import Served, needs
from nodegraft.service.live.live import Live
from nodegraft.service.routes.found import ReadVersion
from nodegraft.service.schemas import Answer, Form, NodeKey
from nodegraft.service.service import Service

ROUTER = APIRouter(prefix="/v1", tags=["looking"], dependencies=[needs(Scope.READ)])


class Placed(Form):
    """A node on the map."""

    node: NodeKey = Field(examples=["p7"])
    """Its key."""

    x: float = Field(examples=[0.31])
    """How far to the right, from 0 to 1."""

    y: float = Field(examples=[0.72])
    """How far up, from 0 to 1."""

    name: str = Field(serialization_alias="class", examples=["hats"])
    """What it is predicted to be."""

    label: str | None = Field(examples=[None])
    """The class that users gave it; null where it has no label."""

    confidence: float = Field(examples=[0.95])
    """Confidence of the prediction, as in `POST /v1/predict`."""

    probability: float = Field(examples=[0.97])
    """P(class | the node belongs to a known class)."""

    known: float | None = Field(examples=[0.98])
    """P(the node belongs to any known class); null without an estimate."""


class Map(Answer):
    """A fair sample of nodes in the plane, and some that teach each class. They stay where they are
    as long as the graph is the same; what they are taken for is the version's answer."""

    nodes: list[Placed]
    """The nodes."""


@ROUTER.get("/map")
async def drawn(service: Served, live: ReadVersion) -> Map:
    """Where nodes lie, and what they are taken for; the first one of a graph takes a while."""
    return await service.prepared.get("map", live.cache_key, lambda: _map(service, live))


def _map(service: Service, live: Live) -> Map:
    fair = service.maps.get(live.graph_version, lambda: node_map(live.state))
    drawn = with_labelled(live.state, fair)
    found = predict_rows(live.state, drawn.rows, live.version)
    return Map(
        model_version=live.version,
        graph_version=live.graph_version,
        nodes=[
            Placed(
                node=row["node"],
                x=x,
                y=y,
                name=row["prediction"],
                label=row["label"],
                confidence=row["confidence"],
                probability=row["probability"],
                known=row["known"],
            )
            for row, (x, y) in zip(found.to_rows(), drawn.places.round(4).tolist(), strict=True)
        ],
    )
