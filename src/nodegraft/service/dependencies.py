"""FastAPI dependencies of routes: caller, service, scope, requested version, and changes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Annotated, Any, Literal
from uuid import uuid4

from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, Header, Path, Query, Request, Security
from fastapi.params import Depends as Dependency
from fastapi.security import HTTPBearer
from pydantic import Field

from nodegraft.analysis.results.versions import Changed
from nodegraft.analysis.version import Version
from nodegraft.base.hashing import content_hash
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import Key, integer_key
from nodegraft.service.auth.limits import MAX_LISTED
from nodegraft.service.auth.tokens import Scope, Token
from nodegraft.service.errors import HttpError
from nodegraft.service.live.live import Live
from nodegraft.service.service import Service
from nodegraft.store.intent import IdempotencyKey, Intent
from nodegraft.store.store import Store
from nodegraft.store.versions.journal import refuse_pruned

Node = Annotated[str, Query(description="Node key.", min_length=1, max_length=1_000)]
Limit = Annotated[
    int, Query(description="Number of rows, newest first.", ge=1, le=MAX_LISTED, examples=[100])
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
VersionName = Literal["live", "candidate", "newest"] | Annotated[int, Field(ge=1, le=2**31 - 1)]
"""Version number, or ``live``, ``candidate`` (an error if there is none) or ``newest``."""

VERSION_NAMES = "a number, `live`, `candidate` (which waits for review) or `newest`."

BEARER: Dependency = Security(
    HTTPBearer(
        auto_error=False,
        description="From `nodegraft token add`; Basic authentication takes it as password.",
    )
)
"""Security scheme for OpenAPI only; the middleware checks the token."""


def router(tag: str, scope: Scope, prefix: str = "/v1", **options: Any) -> APIRouter:
    """Return a router whose routes require an API token with a scope."""

    async def check(caller: Caller, request: Request) -> None:
        _require_scope(caller, scope)
        if prefix == "/v1":
            _refuse_unknown_parameters(request)

    dependencies = [BEARER, Depends(check)]
    return APIRouter(prefix=prefix, tags=[tag], dependencies=dependencies, **options)


async def _caller(request: Request) -> Token:
    token: Token = request.state.caller
    return token


async def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


Caller = Annotated[Token, Depends(_caller)]
Served = Annotated[Service, Depends(_service)]


async def _require_ready(request: Request) -> None:
    if request.app.state.draining.has_started:
        message = "This service is stopping; requests in progress are finished."
        raise HttpError(503, "stopping", message, "Send it to another host.", {"Retry-After": "5"})
    request.app.state.tokens.current()


READY: Dependency = Depends(_require_ready)
"""Dependency that refuses requests while the service is not ready."""


def _require_scope(caller: Token, scope: Scope) -> None:
    if not caller.scope.allows(scope):
        message = f"This needs the scope {scope.value}; your token has {caller.scope.value}."
        advice = "Ask the operator of this service for another token."
        raise HttpError(403, "scope", message, advice)


def _refuse_unknown_parameters(request: Request) -> None:
    # Refuse unknown parameters: ignoring a misspelt safety option, such as only_candidate, is
    # dangerous.
    known = list(_query_names(request.scope["route"].dependant)) if request.query_params else []
    for name in request.query_params:
        if name not in known:
            message = f"There is no query parameter {name!r} here."
            advice = f"Use one of: {', '.join(known)}." if known else "Send none."
            raise HttpError(422, "unknown_parameter", message, advice)


def _query_names(dependant: Any) -> Iterator[str]:
    yield from (field.alias for field in dependant.query_params)
    for part in dependant.dependencies:
        yield from _query_names(part)


def key_in(graph: Graph, text: str) -> Key:
    """Convert a node key in a URL to the key type of the graph."""
    return text if graph.has_text_keys else integer_key(text)


# Dependencies for routes that read a version


def existing(store: Store, number: int) -> Version:
    """Return the version with a number; raise an error if it does not exist."""
    newest = store.version()
    if number > newest.number:
        message = f"There is no version {number}: the newest is {newest.number}."
        raise HttpError(404, "unknown_version", message, "See GET /v1/versions.")
    return store.version(number)


def version_named(service: Service, name: VersionName) -> Version:
    """Return the version with a number or name; refuse a pruned version.

    Args:
        name: Number of the version, or one of the names in :data:`VersionName`.
    """
    store = service.store
    if name == "live":
        version = service.now.row
    else:
        numbers = {"candidate": lambda: store.candidate, "newest": lambda: store.newest}
        version = existing(store, numbers[name]() if isinstance(name, str) else name)
    # Check this before the response cache is used, which may still have responses about a pruned
    # version.
    refuse_pruned(version.number, store.pruned())
    return version


async def _read_version(
    service: Served,
    version: Annotated[
        VersionName,
        Query(
            description=f"Version to read: {VERSION_NAMES} The response has its number as "
            "`model_version`."
        ),
    ] = "live",
) -> Live:
    live = service.now
    return live if version in ("live", live.version) else await run_sync(_load, service, version)


def _load(service: Service, name: VersionName) -> Live:
    version, live = version_named(service, name), service.now
    if version == live.row:
        return live
    return Live(version, service.store.state(version.number))


ReadVersion = Annotated[Live, Depends(_read_version)]
"""Version that a route reads: the live version, or the one that the request names."""


# Dependencies for routes that make a version


async def _idempotency_key(
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
        _require_scope(caller, Scope.ADMIN)
    body = sha256(await request.body()).hexdigest()
    content = content_hash(request.method, request.url.path, request.url.query, body)
    return IdempotencyKey(idempotency_key or uuid4().hex, content, promote)


@dataclass(frozen=True)
class ChangeMaker:
    """Maker of the new version that a request asks for."""

    service: Service
    """Service whose store is changed."""

    caller: Token
    """Author of the change."""

    key: IdempotencyKey
    """Idempotency key, hash of the request's content, and whether to promote the version."""

    async def version(self, make: Callable[..., Version], note: str, override: str = "") -> Version:
        """Make a new version; a repeated request returns the version that it made before.

        Args:
            make: Function that makes the version from the store and ``intent``; must be picklable.
            override: Reason to apply the change although held-out accuracy drops.
        """
        intent = Intent(
            author=self.caller.name,
            note=note,
            override=override,
            promote=self.key.promote,
            idempotency_key=self.key,
        )
        return await self.service.writer.make(self.key, partial(make, intent=intent))

    async def response(
        self, make: Callable[..., Version], note: str, override: str = ""
    ) -> Changed:
        """Make a new version with :meth:`version`, and return the HTTP response.

        Args:
            make: Function that makes the version from the store and ``intent``; must be picklable.
            override: Reason to apply the change although held-out accuracy drops.
        """
        version = await self.version(make, note, override)
        # A repeated request gets the response of the first one, even if a version was promoted in
        # between.
        return Changed.of(version, version.measures["request"]["promote"])


async def _change_maker(
    service: Served,
    caller: Caller,
    key: Annotated[IdempotencyKey, Depends(_idempotency_key)],
) -> ChangeMaker:
    return ChangeMaker(service, caller, key)


Changes = Annotated[ChangeMaker, Depends(_change_maker)]
"""Parameter of routes that make a version."""
