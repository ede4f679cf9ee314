"""Where every request comes in: who it is, whether it may, and a line in the log when it ends."""

import logging
from base64 import b64decode
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from time import perf_counter
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as Connection

from nodegraft.service.auth.body import refuse_body, whole_body
from nodegraft.service.auth.rate import Rate
from nodegraft.service.auth.tokens import Scope, Token, TokenCache
from nodegraft.service.bundle import FILES
from nodegraft.service.http_error import HttpError, unexpected
from nodegraft.service.observability.metrics import Metrics
from nodegraft.service.settings import Settings

OPEN = frozenset(("/livez", "/readyz", "/v2/health/live", "/v2/health/ready"))
"""What is answered to everybody: who watches over a service has no token."""

ANONYMOUS = Token("local", Scope.ADMIN, "", "", datetime.min.replace(tzinfo=UTC))
"""Caller of a store without tokens, which is served to its own machine alone."""

METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
"""Others are counted together: callers could make up any number of them."""

LOG = logging.getLogger("nodegraft.service")


@dataclass
class _Visit:
    """One request, from its coming to its end."""

    connection: Connection
    began: float
    caller: str = ""
    status: int = 0


class Door:
    """The outermost part of the application.

    Args:
        app: What is behind it.
        settings: How the service is run.
        tokens: Whom it knows.
        metrics: What it counts.
    """

    def __init__(
        self, app: ASGIApp, settings: Settings, tokens: TokenCache, metrics: Metrics
    ) -> None:
        self._app, self._tokens, self._metrics = app, tokens, metrics
        self._hosts, self._rate = settings.hosts, Rate(settings.rate)
        self._failures = Rate(settings.failed_tokens / 60.0, burst_seconds=60.0)
        self._private = settings.is_private

    async def __call__(self, connection: Connection, receive: Receive, send: Send) -> None:
        """Let a request in, or say why not."""
        if connection["type"] != "http":
            await self._app(connection, receive, send)
            return
        visit = _Visit(connection, perf_counter())

        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                visit.status = message["status"]
                _forbid_storing(message)
            await send(message)

        try:
            await self._let_in(visit, receive, noted)
        except Exception as error:
            if visit.status:
                raise
            problem = error if isinstance(error, HttpError) else unexpected(error)
            await problem.response(connection["path"])(connection, receive, noted)
        finally:
            self._tell(visit)

    async def _let_in(self, visit: _Visit, receive: Receive, send: Send) -> None:
        headers = Headers(scope=visit.connection)
        self._check_host(headers)
        path, address = visit.connection["path"], _address(visit.connection)
        caller = await self._caller(path, headers, address)
        visit.caller = caller.name
        visit.connection.setdefault("state", {})["caller"] = caller
        bucket = caller.name
        if caller is ANONYMOUS:
            # No token has such a name: one address takes nothing from others, nor from tokens.
            bucket = f"\0{'probes' if path in OPEN else 'anonymous'} {address}"
        if not self._rate.allows(bucket):
            told = "Too many requests: the rate limit is exceeded."
            raise HttpError(429, "too_often", told, "Wait a second.", {"Retry-After": "1"})
        if path in OPEN or path in FILES:
            # Anybody may request these: waiting for a body would let anybody hold connections.
            refuse_body(headers)
        await self._app(visit.connection, await whole_body(headers, receive), send)

    def _check_host(self, headers: Headers) -> None:
        """A page of another site that a browser shows here must not be able to ask."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if _name(f"//{host}") not in self._hosts:
            advice = "Use a name that the service was started with (--name)."
            raise HttpError(
                400, "wrong_host", "The host name of the request is not served.", advice
            )
        if origin is not None and origin.partition("://")[2] != host:
            advice = "Send requests from a program, or from a page of this host."
            raise HttpError(
                403, "wrong_origin", "The request comes from a page of another site.", advice
            )

    async def _caller(self, path: str, headers: Headers, address: str) -> Token:
        if path in OPEN or path in FILES:
            return ANONYMOUS
        secret = _secret(headers.get("authorization", ""))
        token = self._tokens.find(secret)
        if token is None and secret:
            token = await self._new_token(secret, address)
        if token is None and self._private and not self._tokens.current().required:
            return ANONYMOUS
        if token is None:
            message = "A valid API token is needed."
            advice = "Send `Authorization: Bearer TOKEN`; `nodegraft token add` makes one."
            raise HttpError(401, "no_token", message, advice, {"WWW-Authenticate": "Bearer"})
        return token

    async def _new_token(self, secret: str, address: str) -> Token | None:
        """Look an unknown token up in the database, unless its sender has guessed too often."""
        if self._tokens.current().required and self._failures.is_empty(address):
            message = "Too many requests with unknown tokens came from your address."
            advice = "Check your token, and wait a minute; known tokens work meanwhile."
            raise HttpError(429, "too_many_failures", message, advice, {"Retry-After": "60"})
        token = await self._tokens.find_new(secret)
        if token is None:
            self._failures.allows(address)
        return token

    def _tell(self, visit: _Visit) -> None:
        seconds = perf_counter() - visit.began
        route = getattr(visit.connection.get("route"), "path", "none")
        method = visit.connection["method"]
        method = method if method in METHODS else "other"
        self._metrics.asked(method, route, visit.status, seconds)
        told: dict[str, Any] = {
            "method": method,
            "route": route,
            "status": visit.status,
            "milliseconds": round(1000 * seconds, 2),
            "caller": visit.caller,
        }
        LOG.info("request", extra={"told": told})


def _forbid_storing(message: Message) -> None:
    """Add headers to a response that is data: no cache keeps it, no browser guesses its type."""
    headers = MutableHeaders(scope=message)
    headers.setdefault("X-Content-Type-Options", "nosniff")
    # Files of the page say themselves how long they may be kept.
    headers.setdefault("Cache-Control", "no-store")


def _secret(authorization: str) -> str:
    """The token; programs that know passwords only (Basic) send it as the password of anybody."""
    kind, _, given = authorization.partition(" ")
    if kind.lower() == "bearer":
        return given.strip()
    if kind.lower() == "basic":
        with suppress(ValueError):
            return b64decode(given, validate=True).decode().partition(":")[2]
    return ""


def _address(connection: Connection) -> str:
    """Return the address of the caller, or of the proxy before it."""
    client = connection.get("client")
    return str(client[0]) if client else ""


def _name(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None
