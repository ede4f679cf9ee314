"""Outermost middleware: checks host, token, rate limit and body of each request, and logs it."""

import asyncio
import logging
from base64 import b64decode
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic, perf_counter
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as Connection

from nodegraft.service.auth.limits import BODY_SECONDS, MAX_BYTES
from nodegraft.service.auth.tokens import Scope, Token, TokenCache
from nodegraft.service.errors import HttpError, internal_error
from nodegraft.service.observability import Metrics
from nodegraft.service.routes.page import PAGE_FILES
from nodegraft.service.settings import Settings

BURST_SECONDS = 5.0
"""Seconds of unused rate that a caller may use in a single burst."""

MAX_BUCKETS = 10_000
"""Number of buckets above which full buckets are removed to free memory."""


class Rate:
    """Rate limit by a token bucket per caller, which fills at a constant rate.

    >>> clock = iter([0.0, 0.0, 0.0, 1.0])
    >>> rate = Rate(0.4, lambda: next(clock))
    >>> [rate.allows("ci") for _ in range(4)]
    [True, True, False, False]

    Args:
        per_second: Requests per second at which a bucket fills; 0 for no limit.
        clock: Function that returns the time in seconds.
        burst_seconds: Seconds in which an empty bucket fills; a bucket holds at least one request.
    """

    def __init__(
        self,
        per_second: float,
        clock: Callable[[], float] = monotonic,
        burst_seconds: float = BURST_SECONDS,
    ) -> None:
        self._per_second, self._clock = per_second, clock
        self._most = max(1.0, per_second * burst_seconds)
        self._fill_seconds = self._most / per_second if per_second else 0.0
        self._buckets: dict[str, tuple[float, float]] = {}

    def allows(self, caller: str) -> bool:
        """Take one token out of a caller's bucket; return False if the bucket is empty."""
        if not self._per_second:
            return True
        at = self._clock()
        if len(self._buckets) >= MAX_BUCKETS:
            self._drop_full(at)
        remaining, before = self._buckets.get(caller, (self._most, at))
        remaining = min(self._most, remaining + (at - before) * self._per_second)
        self._buckets[caller] = (max(remaining - 1.0, 0.0) if remaining >= 1.0 else remaining, at)
        return remaining >= 1.0

    def is_empty(self, caller: str) -> bool:
        """Return whether a caller's bucket is empty, without taking anything out."""
        if not self._per_second or caller not in self._buckets:
            return False
        remaining, before = self._buckets[caller]
        return remaining + (self._clock() - before) * self._per_second < 1.0

    def _drop_full(self, at: float) -> None:
        """Remove full buckets, which are equal to new buckets, to limit memory."""
        self._buckets = {
            caller: (remaining, before)
            for caller, (remaining, before) in self._buckets.items()
            if at - before < self._fill_seconds
        }


OPEN = frozenset(("/livez", "/readyz", "/v2/health/live", "/v2/health/ready"))
"""Paths that need no token, because load balancers have no token."""

ANONYMOUS = Token("local", Scope.ADMIN, "", "", datetime.min.replace(tzinfo=UTC))
"""Caller without a token: allowed for :data:`OPEN` paths, and on loopback if none is required."""

FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip", "via")
"""Headers that proxies add: their callers may be on other machines, despite loopback."""

METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
"""HTTP methods with their own metric; all others share a metric, as callers could invent many."""

LOG = logging.getLogger("nodegraft.service")


@dataclass
class _RequestContext:
    """Values of a request for its log line."""

    connection: Connection
    start: float
    caller: str = ""
    status: int = 0


class RequestMiddleware:
    """Outermost middleware of the application.

    Args:
        app: Application that handles requests.
        settings: Settings of the service.
        tokens: Cache of the store's API tokens.
        metrics: Metrics in which requests are counted.
    """

    def __init__(
        self, app: ASGIApp, settings: Settings, tokens: TokenCache, metrics: Metrics
    ) -> None:
        self._app, self._tokens, self._metrics = app, tokens, metrics
        self._hosts, self._rate = settings.hosts, Rate(settings.rate)
        self._failures = Rate(settings.failed_tokens / 60.0, burst_seconds=60.0)
        self._private = settings.is_private

    async def __call__(self, connection: Connection, receive: Receive, send: Send) -> None:
        """Forward a request to the application, or respond with an error; log it."""
        if connection["type"] != "http":
            await self._app(connection, receive, send)
            return
        context = _RequestContext(connection, perf_counter())

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                context.status = message["status"]
                headers = MutableHeaders(scope=message)
                headers.setdefault("X-Content-Type-Options", "nosniff")
                # Responses contain data and must not be cached by clients; files of pages set their
                # own cache header.
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        try:
            await self._pass_on(context, receive, send_with_headers)
        except Exception as error:
            if context.status:
                raise
            problem = error if isinstance(error, HttpError) else internal_error(error)
            await problem.response(connection["path"])(connection, receive, send_with_headers)
        finally:
            self._log(context)

    async def _pass_on(self, context: _RequestContext, receive: Receive, send: Send) -> None:
        headers = Headers(scope=context.connection)
        self._check_host(headers)
        path, client = context.connection["path"], context.connection.get("client")
        address = str(client[0]) if client else ""
        is_open = path in OPEN or path in PAGE_FILES
        caller = ANONYMOUS if is_open else await self._caller(headers, address)
        context.caller = caller.name
        context.connection.setdefault("state", {})["caller"] = caller
        bucket = caller.name
        if caller is ANONYMOUS:
            # No token can have a name like this, so no token shares the rate limit of an anonymous
            # caller.
            bucket = f"\0{'probes' if path in OPEN else 'anonymous'} {address}"
        if not self._rate.allows(bucket):
            message = "Too many requests: the rate limit is exceeded."
            raise HttpError(429, "too_often", message, "Wait a second.", {"Retry-After": "1"})
        if is_open:
            # Do not read the body: a slow body would keep the connection of an anonymous caller
            # open.
            _refuse_body(headers)
        await self._app(context.connection, await _read_body(headers, receive), send)

    def _check_host(self, headers: Headers) -> None:
        """Refuse requests that the browser sends for a page of another site (CSRF)."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if _host_name(f"//{host}") not in self._hosts:
            message = "The host name of the request is not served."
            advice = "Use a host name that the service was started with (--name)."
            raise HttpError(400, "wrong_host", message, advice)
        if origin is not None and origin.partition("://")[2] != host:
            message = "The request comes from a page of another site."
            advice = "Send requests from a program, or from a page of this host."
            raise HttpError(403, "wrong_origin", message, advice)

    async def _caller(self, headers: Headers, address: str) -> Token:
        secret = _secret(headers.get("authorization", ""))
        token = self._tokens.find(secret)
        if token is None and secret:
            token = await self._new_token(secret, address)
        is_open = self._private and not self._tokens.current().required
        if token is None and is_open and not any(name in headers for name in FORWARDED):
            return ANONYMOUS
        if token is None:
            message = "A valid API token is needed."
            advice = "Send `Authorization: Bearer TOKEN`; create one with `nodegraft token add`."
            raise HttpError(401, "no_token", message, advice, {"WWW-Authenticate": "Bearer"})
        return token

    async def _new_token(self, secret: str, address: str) -> Token | None:
        """Look up an unknown token in the database; refuse addresses that sent too many of them."""
        if self._tokens.current().required and self._failures.is_empty(address):
            message = "Too many requests with unknown tokens came from your address."
            advice = "Check your token, and wait a minute; known tokens work meanwhile."
            raise HttpError(429, "too_many_failures", message, advice, {"Retry-After": "60"})
        token = await self._tokens.find_new(secret)
        if token is None:
            self._failures.allows(address)
        return token

    def _log(self, context: _RequestContext) -> None:
        seconds = perf_counter() - context.start
        route = getattr(context.connection.get("route"), "path", "none")
        method = context.connection["method"]
        method = method if method in METHODS else "other"
        self._metrics.count_request(method, route, context.status, seconds)
        fields = {
            "method": method,
            "route": route,
            "status": context.status,
            "milliseconds": round(1000 * seconds, 2),
            "caller": context.caller,
        }
        LOG.info("request", extra={"fields": fields})


def _secret(authorization: str) -> str:
    """Return the token of a Bearer header, or the password of a Basic header."""
    kind, _, secret = authorization.partition(" ")
    if kind.lower() == "bearer":
        return secret.strip()
    if kind.lower() == "basic":
        with suppress(ValueError):
            return b64decode(secret, validate=True).decode().partition(":")[2]
    return ""


def _host_name(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


def _refuse_body(headers: Headers) -> None:
    """Refuse a request with a body; do not read the body."""
    if "transfer-encoding" in headers or int(headers.get("content-length", 0)):
        message = "This path takes no request body."
        advice = "Send the request without a body."
        raise HttpError(413, "too_large", message, advice, {"Connection": "close"})


async def _read_body(headers: Headers, receive: Receive) -> Receive:
    """Read the whole body, and return a function that replays it; refuse a large or slow body."""
    if "content-length" not in headers and "transfer-encoding" not in headers:
        return receive
    if int(headers.get("content-length", 0)) > MAX_BYTES:
        raise _too_large()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            body = await _whole_body(receive)
    except TimeoutError:
        message = f"The request body did not arrive within {BODY_SECONDS:g} s."
        close = {"Connection": "close"}
        raise HttpError(408, "too_slow", message, "Send it at once.", close) from None
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay


async def _whole_body(receive: Receive) -> bytes:
    parts, size = list[bytes](), 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            problem = "The connection closed before the end of the request body."
            raise HttpError(400, "incomplete", problem, "Send it again.")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MAX_BYTES:
            raise _too_large()
        if not message.get("more_body", False):
            return b"".join(parts)


def _too_large() -> HttpError:
    message = f"The request body is larger than {MAX_BYTES:,} bytes."
    return HttpError(413, "too_large", message, "Send it in parts.", {"Connection": "close"})
