"""The route that says who a caller is."""

from fastapi import APIRouter
from pydantic import Field

from nodegraft.service.auth.tokens import Scope
from nodegraft.service.inputs import Caller, Served, needs
from nodegraft.service.schemas import Form

ROUTER = APIRouter(prefix="/v1", tags=["health"], dependencies=[needs(Scope.READ)])


class Whoami(Form):
    """Who asks, and for what."""

    name: str = Field(examples=["ci"])
    """The name of the token, or `local`."""

    scope: Scope = Field(examples=[Scope.TEACH])
    """What it is good for."""

    store: str = Field(examples=["shop"])
    """What is served: the name of its folder."""


@ROUTER.get("/whoami")
async def whoami(service: Served, caller: Caller) -> Whoami:
    """Who a token says that you are, and what you may do."""
    return Whoami(name=caller.name, scope=caller.scope, store=service.name)
