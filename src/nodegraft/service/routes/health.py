"""Routes for load balancers and monitoring, and the identity of the caller."""

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import PlainTextResponse, Response

from nodegraft.service.auth.tokens import Scope
from nodegraft.service.dependencies import READY, Caller, Served, router
from nodegraft.service.schemas import Model, VersionResponse

OPEN = APIRouter(tags=["health"])
READ = router("health", Scope.READ, prefix="")


class Ready(VersionResponse):
    """Response of a service that is ready."""

    ready: bool = Field(default=True)
    """Always true: a service that is not ready responds with 503, or does not listen yet."""


class Whoami(Model):
    """Identity of the caller."""

    name: str = Field(examples=["ci"])
    """Name of the API token, or `local`."""

    scope: Scope = Field(examples=[Scope.TEACH])
    """Scope of the token."""

    store: str = Field(examples=["shop"])
    """Name of the store's folder."""


@OPEN.get("/livez", response_class=PlainTextResponse)
async def live() -> str:
    """Check that the process is alive."""
    return "ok"


@OPEN.get("/readyz", dependencies=[READY])
async def ready(service: Served) -> Ready:
    """Check that the service is ready, and return the live version."""
    return Ready(**service.now.fields)


@READ.get("/metrics", response_class=PlainTextResponse)
def metrics(service: Served) -> Response:
    """Return metrics in the Prometheus text format."""
    return Response(service.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


@READ.get("/v1/whoami")
async def whoami(service: Served, caller: Caller) -> Whoami:
    """Return name and scope of your API token."""
    return Whoami(name=caller.name, scope=caller.scope, store=service.name)
