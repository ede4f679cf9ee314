"""SIGTERM: readiness becomes false first, and the service ends a moment later."""

import asyncio
import signal
import threading
from types import FrameType


class Draining:
    """Whether a service has got SIGTERM and should get no new requests.

    Args:
        seconds: How long it goes on serving after SIGTERM, so that load balancers notice.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.has_begun = False

    def watch(self) -> None:
        """Put this before the server's own handler of SIGTERM, which must be installed already."""
        server = signal.getsignal(signal.SIGTERM)
        if threading.current_thread() is not threading.main_thread() or not callable(server):
            return
        loop = asyncio.get_running_loop()

        def end(number: int, frame: FrameType | None) -> None:
            if self.has_begun:
                # Whoever sends it twice does not want to wait.
                server(number, frame)
                return
            self.has_begun = True
            loop.call_soon_threadsafe(loop.call_later, self._seconds, server, number, None)

        signal.signal(signal.SIGTERM, end)
