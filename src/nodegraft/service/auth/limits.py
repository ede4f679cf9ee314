"""Limits of requests, connections and times, and the HTTP/1.1 protocol that applies them."""

import asyncio
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_BYTES = 8 * 2**20
"""Size of a request body."""

MAX_KEYS = 10_000
"""Nodes, labels or rows in one request."""

MAX_LISTED = 1_000
"""Rows of one list in a response."""

BODY_SECONDS = 10.0
"""Timeout of the head of a request, and of its body."""

SEND_SECONDS = 30.0
"""Timeout of a response that the caller does not read."""

MAX_CONNECTIONS = 1_000
"""Open connections of one process; at the limit, one that waits for a request is closed first."""

BACKLOG = 1_024
"""Connections that wait to be accepted."""

JOB_SECONDS = 600.0
"""Timeout of one change; its process is stopped then."""

TURN_SECONDS = 30.0
"""How long a change waits for those before it."""

DRAIN_SECONDS = 30
"""How long a service that is stopped waits for the requests in progress."""

NOTICE_SECONDS = 2.0
"""Seconds to serve after SIGTERM, while /readyz reports false."""

START_SECONDS = 60
"""Timeout of a worker's heartbeat; a worker that starts imports models, which takes long."""

RATE = 200.0
"""Requests per second of one caller, averaged over some seconds."""

FAILED_TOKENS = 60.0
"""Unknown tokens per minute from one address."""

TOKEN_SECONDS = 1.0
"""How often the tokens of a store are read: a revoked token is refused within this time."""

TOKEN_STALE_SECONDS = 10.0
"""How long tokens are used while the database does not respond; then all requests are refused."""


GRACE_SECONDS = 0.5
"""Least time before a connection is closed for a new one: its request may be on the way, as the
service accepts many connections before it reads from any of them."""

FLOOD = 4
"""Multiple of the connection limit from which connections are closed without the grace time, so
that the process does not run out of file descriptors."""


class TimeoutProtocol(H11Protocol):
    """HTTP/1.1 of uvicorn with timeouts: uvicorn alone waits forever for an incomplete head.

    The head of each request must be complete a fixed time after the connection was opened or the
    previous response was sent; so must the rest of a body after an early response, such as an
    error. At the limit of connections, the one that has waited longest without a complete request
    is closed for a new one, so that idle connections cannot block callers who send requests.

    Args:
        given: Positional arguments of uvicorn's protocol.
        options: Keyword arguments of uvicorn's protocol.
    """

    limit: ClassVar[int] = MAX_CONNECTIONS
    """Limit of open connections of this process."""

    waiting: ClassVar[dict["TimeoutProtocol", float]] = {}
    """Connections without a complete request -> since when; the longest waiting one first."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._head_timer: asyncio.TimerHandle | None = None
        self._send_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Start the timer of the first head; close waiting connections at the limit."""
        super().connection_made(transport)
        self._make_room()
        if len(self.connections) > self.limit and not self.waiting:
            # All others have requests in progress: uvicorn responds to this one with 503.
            self.limit_concurrency = 0
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all timers."""
        self._stop_waiting()
        self.resume_writing()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Stop the timer when a head is complete: a cycle is a request with its response."""
        before = self.cycle
        super().handle_events()
        # There is no cycle before the first head.
        if getattr(self.cycle, "response_complete", True):
            return
        if self.cycle is not before:
            self._stop_waiting()
            if self.cycle.more_body:
                # The middleware has the timer of the body; until then this one may be closed too.
                self.waiting[self] = self.loop.time()
        elif not self.cycle.more_body:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        """Start the timer of the next head, which also covers the rest of a refused body."""
        if not self.transport.is_closing():
            self._wait_for_head()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Start the timer of a caller who does not read the response."""
        self._send_timer = self.loop.call_later(SEND_SECONDS, self.transport.abort)
        super().pause_writing()

    def resume_writing(self) -> None:
        """Stop the timer of a caller who reads again."""
        if self._send_timer:
            self._send_timer.cancel()
            self._send_timer = None
        super().resume_writing()

    def close_waiting(self) -> None:
        """Close a connection without a complete request."""
        self._stop_waiting()
        # It must not count until its last bytes are sent.
        self.connections.discard(self)
        self.transport.abort()

    def _make_room(self) -> None:
        while self.waiting and len(self.connections) > self.limit:
            oldest, since = next(iter(self.waiting.items()))
            is_flood = len(self.connections) > FLOOD * self.limit
            if self.loop.time() - since < GRACE_SECONDS and not is_flood:
                return
            oldest.close_waiting()

    def _wait_for_head(self) -> None:
        self._stop_waiting()
        self.waiting[self] = self.loop.time()
        self._head_timer = self.loop.call_later(BODY_SECONDS, self.close_waiting)

    def _stop_waiting(self) -> None:
        self.waiting.pop(self, None)
        if self._head_timer:
            self._head_timer.cancel()
            self._head_timer = None
