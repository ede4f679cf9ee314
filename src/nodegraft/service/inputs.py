"""What routes are given: by callers, and by the service itself."""

from hashlib import sha256
from typing import Annotated
from uuid import uuid4

from fastapi import Depends, Header, Path, Query, Request, Security
from fastapi.params import Depends as Dependency
from fastapi.security import HTTPBearer

from nodegraft.base.hashing import content_hash
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import Key, integer_key
from nodegraft.service.auth.limits import MOST_LISTED
from nodegraft.service.auth.tokens import Scope, Token
from nodegraft.service.http_error import HttpError
from nodegraft.service.service import Service
from nodegraft.store.intent import IdempotencyKey


async def _caller(request: Request) -> Token:
    token: Token = request.state.caller
    return token


async def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


Caller = Annotated[Token, Depends(_caller)]
Served = Annotated[Service, Depends(_service)]


async def require_ready(request: Request) -> None:
    """Refuse where a load balancer should send requests elsewhere.

    Args:
        request: A request of somebody who watches over the service.
    """
    if request.app.state.draining.has_begun:
        message = "This service is stopping; requests in progress are finished."
        raise HttpError(503, "stopping", message, "Send it to another host.", {"Retry-After": "5"})
    request.app.state.tokens.current()


READY: Dependency = Depends(require_ready)


def require(caller: Token, wanted: Scope) -> None:
    """Refuse a caller who may not.

    Args:
        caller: Who asks.
        wanted: What it takes.
    """
    if not caller.scope.allows(wanted):
        told = f"This needs the scope {wanted.value}; your token has {caller.scope.value}."
        raise HttpError(403, "scope", told, "Ask the operator of this service for another token.")


def needs(wanted: Scope) -> Dependency:
    """What a router depends on whose routes take a scope.

    Args:
        wanted: The scope.
    """

    async def check(caller: Caller) -> None:
        require(caller, wanted)

    dependency: Dependency = Depends(check)
    return dependency


BEARER: Dependency = Security(
    HTTPBearer(
        auto_error=False,
        description="From `nodegraft token add`; Basic authentication takes it as password.",
    )
)
"""What says in the OpenAPI document that a token is needed; the door asks for it."""


async def _wish(
    request: Request,
    caller: Caller,
    promote: Annotated[
        bool,
        Query(description="Make the new version live at once; this needs the scope admin."),
    ] = False,
    idempotency_key: Annotated[
        str | None,
        Header(
            min_length=1,
            max_length=200,
            description="A new key for each change. The same change sent again with the same key "
            "gets the first response, and is not made twice.",
        ),
    ] = None,
) -> IdempotencyKey:
    if promote:
        require(caller, Scope.ADMIN)
    body = sha256(await request.body()).hexdigest()
    content = content_hash(request.method, request.url.path, request.url.query, body)
    return IdempotencyKey(idempotency_key or uuid4().hex, content, promote)


Wanted = Annotated[IdempotencyKey, Depends(_wish)]
Node = Annotated[str, Query(description="Node key.", min_length=1, max_length=1_000)]
Limit = Annotated[
    int, Query(description="Number of rows, newest first.", ge=1, le=MOST_LISTED, examples=[100])
]
Number = Annotated[int, Path(description="Version number.", ge=1, le=2**31 - 1)]
Note = Annotated[
    str, Query(description="Reason for the change, stored in the history.", max_length=2_000)
]
Override = Annotated[
    str,
    Query(
        description="Reason to apply the change although held-out accuracy drops.",
        max_length=2_000,
    ),
]


def key_in(graph: Graph, text: str) -> Key:
    """A key that came as text, in the type of a graph's.

    Args:
        graph: The graph that it names a node of.
        text: What came.
    """
    return text if graph.has_text_keys else integer_key(text)
