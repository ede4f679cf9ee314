"""HTTP/1.1 protocol of uvicorn with the timeouts and the connection limit of a service."""

import asyncio
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

from nodegraft.service.auth.limits import BODY_SECONDS, MAX_CONNECTIONS, SEND_SECONDS

GRACE_SECONDS = 0.5
"""Minimum age in seconds of a connection that is closed to accept a new connection. Its request may
be on the way, because the service accepts many connections before it reads from them."""

FLOOD = 4
"""Factor of the connection limit: above this number, connections are closed without the grace time,
so that the process does not run out of file descriptors."""


class TimeoutProtocol(H11Protocol):
    """HTTP/1.1 protocol of uvicorn with timeouts; uvicorn waits forever for an incomplete head.

    The head of each request must be complete within a timeout, which starts when the connection
    opens or the previous response is sent. The timeout also covers the rest of a body after an
    early response, such as an error. At the connection limit, the connection that has waited
    longest without a complete request is closed, so that idle connections cannot block callers.

    Args:
        given: Positional arguments of uvicorn's protocol.
        options: Keyword arguments of uvicorn's protocol.
    """

    limit: ClassVar[int] = MAX_CONNECTIONS
    """Maximum number of open connections of this process."""

    waiting: ClassVar[dict["TimeoutProtocol", float]] = {}
    """Connection without a complete request -> when its waiting began; oldest first."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._head_timer: asyncio.TimerHandle | None = None
        self._send_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Start the timeout of the first head; close waiting connections at the limit."""
        super().connection_made(transport)
        self._make_room()
        if len(self.connections) > self.limit and not self.waiting:
            # All other connections have requests in progress, so make uvicorn respond to this one
            # with 503.
            self.limit_concurrency = 0
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all timers of the closed connection."""
        self._stop_waiting()
        self.resume_writing()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Stop the timeout when the request headers are complete.

        The ``cycle`` of uvicorn is one request.
        """
        before = self.cycle
        super().handle_events()
        # Before the first request head, uvicorn has no cycle.
        if getattr(self.cycle, "response_complete", True):
            return
        if self.cycle is not before:
            self._stop_waiting()
            if self.cycle.more_body:
                # The middleware limits the time for the body; meanwhile, this connection may be
                # closed to accept a new one.
                self.waiting[self] = self.loop.time()
        elif not self.cycle.more_body:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        """Start the timeout of the next head, which also covers the rest of a refused body."""
        if not self.transport.is_closing():
            self._wait_for_head()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Start the timeout for a caller who does not read the response."""
        self._send_timer = self.loop.call_later(SEND_SECONDS, self.transport.abort)
        super().pause_writing()

    def resume_writing(self) -> None:
        """Stop the timeout for a caller who continues to read the response."""
        if self._send_timer:
            self._send_timer.cancel()
            self._send_timer = None
        super().resume_writing()

    def close_waiting(self) -> None:
        """Close this connection, which has no complete request."""
        self._stop_waiting()
        # Do not count this connection any more, although its last bytes are still sent.
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
