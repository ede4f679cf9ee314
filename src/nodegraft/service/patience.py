"""Connections that do not say what they want are closed."""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from nodegraft.service.limits import BODY_SECONDS


class ImpatientProtocol(H11Protocol):
    """HTTP/1.1 as uvicorn speaks it, which itself would wait for ever for a first request.

    Args:
        given: As uvicorn gives it.
        options: The same.
    """

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait."""
        super().connection_made(transport)
        self._deadline = self.loop.call_later(BODY_SECONDS, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        if self._deadline:
            self._deadline.cancel()
        super().connection_lost(exc)

    def _give_up(self) -> None:
        # A cycle is a request whose head has come whole.
        if self.cycle is None:
            self.transport.close()  # type: ignore[unreachable]
