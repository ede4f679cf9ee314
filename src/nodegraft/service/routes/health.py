"""Routes for who watches over a service."""

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import PlainTextResponse, Response

from nodegraft.service.auth.tokens import Scope
from nodegraft.service.inputs import READY, Served, needs
from nodegraft.service.schemas import Answer

OPEN = APIRouter(tags=["health"])
READING = APIRouter(tags=["health"], dependencies=[needs(Scope.READ)])


class Ready(Answer):
    """A version answers."""

    ready: bool = Field(default=True)
    """Always true: a service that is not ready answers 503, or does not listen yet."""


@OPEN.get("/livez", response_class=PlainTextResponse)
async def live() -> str:
    """Whether the process is alive."""
    return "ok"


@OPEN.get("/readyz", dependencies=[READY])
async def ready(service: Served) -> Ready:
    """Whether questions can be answered, and by which version."""
    now = service.now
    return Ready(model_version=now.version, graph_version=now.graph_version)


@READING.get("/metrics", response_class=PlainTextResponse)
def metrics(service: Served) -> Response:
    """What is counted, for Prometheus."""
    return Response(service.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")
