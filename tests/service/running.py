"""A service as a process of its own, that listens on loopback and can be killed."""

import http.client
import json
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from tests.fault.test_store_kills import forked, was_killed

LONGEST, LONGEST_LIFE = 30.0, 600


def free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port: int = held.getsockname()[1]
        return port


@dataclass
class Running:
    """One life of a service."""

    process: int
    port: int
    host: str = "127.0.0.1"

    def ask(
        self, method: str, path: str, body: Any = None, **headers: str
    ) -> tuple[int, dict[str, Any]]:
        """Status and answer, over a connection of its own."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=LONGEST)
        try:
            return asked_over(connection, method, path, body, **headers)
        finally:
            connection.close()

    def kill(self) -> None:
        os.kill(self.process, signal.SIGKILL)
        assert was_killed(self.process)

    def stop(self) -> None:
        """Ask it to stop; the signal is what it ends by, when all else is done."""
        os.kill(self.process, signal.SIGTERM)
        _, status = os.waitpid(self.process, 0)
        assert os.WTERMSIG(status) == signal.SIGTERM


def asked_over(
    connection: http.client.HTTPConnection, method: str, path: str, body: Any, **headers: str
) -> tuple[int, dict[str, Any]]:
    """Status and answer, over a connection that stays open."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    content = None if body is None else json.dumps(body)
    connection.request(method, path, content, {"Content-Type": "application/json", **sent})
    answer = connection.getresponse()
    found: dict[str, Any] = json.loads(answer.read())
    return answer.status, found


def started(
    place: Path, port: int, prepare: Callable[[], None] = lambda: None, **options: Any
) -> Running:
    """A service that is ready."""

    def work() -> None:
        # Imported already: a life begins without waiting for that.
        from nodegraft.service.server import serve
        from nodegraft.service.settings import Settings

        signal.alarm(LONGEST_LIFE)
        # Whoever runs the tests may have a handler of their own.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        prepare()
        serve(Settings(place, port=port, **{"rate": 0.0, "notice_seconds": 0.1, **options}))

    life, began = Running(forked(work), port), monotonic()
    while True:
        try:
            assert life.ask("GET", "/readyz")[0] == 200
            return life
        except OSError:
            assert monotonic() - began < LONGEST
            sleep(0.02)


@contextmanager
def running(
    place: Path, prepare: Callable[[], None] = lambda: None, **options: Any
) -> Iterator[Running]:
    """A service that is asked to stop in the end, and does."""
    life = started(place, free_port(), prepare, **options)
    try:
        yield life
    except BaseException:
        life.kill()
        raise
    life.stop()
