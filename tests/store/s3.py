"""An object store that speaks S3, for tests: moto, as a process of its own."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, sleep

import fsspec
import pytest

LONGEST = 60.0


def environment(host: str, port: int) -> dict[str, str]:
    """What a process needs to reach it."""
    return {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "tests",
        "AWS_SECRET_ACCESS_KEY": "tests",
        "AWS_DEFAULT_REGION": "us-east-1",
    }


@contextmanager
def reached(port: int) -> Iterator[None]:
    """This process reaches the one that listens here."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment("127.0.0.1", port).items():
            patch.setenv(name, value)
        # What was made for another one is kept, and would be asked.
        fsspec.get_filesystem_class("s3").clear_instance_cache()
        yield


@contextmanager
def running(port: int, host: str = "127.0.0.1") -> Iterator["subprocess.Popen[bytes]"]:
    """Until the end."""
    code = "from moto.server import main; main()"
    command = [sys.executable, "-W", "ignore", "-c", code, "-H", host, "-p", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for(("127.0.0.1", port))
            yield process
        finally:
            process.kill()


def wait_for(address: tuple[str, int]) -> None:
    """Until somebody listens."""
    began = monotonic()
    while True:
        try:
            return socket.create_connection(address, 1).close()
        except OSError:
            assert monotonic() - began < LONGEST
            sleep(0.05)
