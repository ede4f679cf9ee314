"""HTTP/1.1 with timeouts for every request of a connection, and a cap on connections."""

import asyncio
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

from nodegraft.service.auth.limits import BODY_SECONDS, MOST_CONNECTIONS, SEND_SECONDS

GRACE_SECONDS = 0.5
"""How long a connection waits at least before it is closed for a new one: its request may be on
the way, as the service accepts many connections before it reads from any of them."""

FLOOD = 4
"""At this many times the cap no connection is waited for any longer. One process does not accept
so many in the time above, so that only the limit of open files makes it necessary."""


class TimeoutProtocol(H11Protocol):
    """HTTP/1.1 of uvicorn, which itself would wait for ever for a head that has begun.

    The head of each request must be complete a fixed time after the connection was opened or the
    response before it was sent; so must be what is left of a body after an early response, such as
    a refusal. At the cap, the connection that has waited longest without a whole request, head and
    body, is closed for a new one, so that callers who do send requests are served beside any number
    that do not.

    Args:
        given: Positional arguments of uvicorn's protocol.
        options: Keyword arguments of uvicorn's protocol.
    """

    most: ClassVar[int] = MOST_CONNECTIONS
    """Open connections of this process."""

    waiting: ClassVar[dict["TimeoutProtocol", float]] = {}
    """Connections without a whole request -> since when, the one that has waited longest first."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._head_timer: asyncio.TimerHandle | None = None
        self._send_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Start the timer of the first head; make room at the cap."""
        super().connection_made(transport)
        self._make_room()
        if len(self.connections) > self.most and not self.waiting:
            # All others have requests in progress: uvicorn answers this one with 503.
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
                # The middleware has the timer of the body; until then a new caller may come first.
                self.waiting[self] = self.loop.time()
        elif not self.cycle.more_body:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        """Start the timer of the next head, which also covers what is left of a refused body."""
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

    def give_up(self) -> None:
        """Close a connection that has sent no whole request."""
        self._stop_waiting()
        # It stops to count at once, not when its last bytes are sent.
        self.connections.discard(self)
        self.transport.abort()

    def _make_room(self) -> None:
        while self.waiting and len(self.connections) > self.most:
            oldest, since = next(iter(self.waiting.items()))
            is_flood = len(self.connections) > FLOOD * self.most
            if self.loop.time() - since < GRACE_SECONDS and not is_flood:
                return
            oldest.give_up()

    def _wait_for_head(self) -> None:
        self._stop_waiting()
        self.waiting[self] = self.loop.time()
        self._head_timer = self.loop.call_later(BODY_SECONDS, self.give_up)

    def _stop_waiting(self) -> None:
        self.waiting.pop(self, None)
        if self._head_timer:
            self._head_timer.cancel()
            self._head_timer = None
