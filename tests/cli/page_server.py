"""A service that a page starts: a process of its own, on a free port of this machine."""

import http.client
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

from tests.service.running import free_port

LONGEST = 60.0
PAGE_ADDRESS = "localhost:8000"
"""Where pages say that a service answers."""


class PageServer:
    """Runs ``nodegraft serve`` as the page types it, but for the port.

    Args:
        arguments: What the page gives it.
    """

    def __init__(self, arguments: list[str]) -> None:
        self._port = free_port()
        program = str(Path(sys.executable).parent / "nodegraft")
        command = [program, "serve", *arguments, "--port", str(self._port)]
        self._process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        began = monotonic()
        while not self._ready():
            assert self._process.poll() is None, f"{command} ended"
            assert monotonic() - began < LONGEST, f"{command} does not answer"
            sleep(0.05)

    def addressed(self, command: str) -> str:
        """A command of the page, sent to where the service is in truth."""
        return command.replace(PAGE_ADDRESS, f"localhost:{self._port}")

    def stop(self) -> None:
        """Ask it to end, and wait until it has."""
        self._process.terminate()
        self._process.wait(LONGEST)

    def _ready(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=LONGEST)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()
