"""Any ASGI application on Ray Serve: asked through its proxy, replaced where it is killed."""

import http.client
import json
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from socket import socket
from time import monotonic, sleep
from typing import Any

import pytest

from nodegraft.base.errors import MissingExtraError, NodegraftError
from nodegraft.runners import ray_serve
from nodegraft.runners.ray_serve import replicated
from tests.service.running import free_port
from tests.slow_suite import slow

# Each starts a Ray of its own: not beside each other.
pytestmark = pytest.mark.xdist_group("ray")

LONGEST = 200.0
"""Seconds in which a replica is replaced on a busy machine."""


def needs_ray_serve() -> None:
    pytest.importorskip("ray.serve", reason="needs nodegraft[ray-serve]", exc_type=ImportError)


def echo() -> Callable[..., Any]:
    """A factory of an application without any framework; it can be sent to other processes."""

    def make(greeting: str) -> Any:
        async def app(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] != "http":
                return
            body = (await receive()).get("body", b"").decode()
            told = {"process": os.getpid(), "path": scope["path"], "told": greeting + body}
            headers = [(b"content-type", b"application/json")]
            await send({"type": "http.response.start", "status": 201, "headers": headers})
            await send({"type": "http.response.body", "body": json.dumps(told).encode()})

        return app

    return make


def ask(port: int, path: str = "/any/path") -> dict[str, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("POST", path, "anna")
    answer = connection.getresponse()
    assert answer.status == 201
    found: dict[str, Any] = json.loads(answer.read())
    connection.close()
    return found


def processes(port: int, enough: Callable[[set[int]], bool]) -> set[int]:
    """Who answers, asked until that is enough; errors of a replica that dies are not counted."""
    began, recent = monotonic(), list[int]()
    while not enough(set(recent[-40:])):
        assert monotonic() - began < LONGEST, recent[-40:]
        try:
            recent.append(ask(port)["process"])
        except (AssertionError, OSError, ValueError):
            sleep(0.2)
    return set(recent[-40:])


@slow
def test_an_application_has_replicas_and_one_that_is_killed_is_replaced() -> None:
    needs_ray_serve()
    port = free_port()
    with replicated(partial(echo(), "hello "), "echo", "local", 2, "127.0.0.1", port):
        assert ask(port, "/a/b%20c")["path"] == "/a/b c"
        assert ask(port)["told"] == "hello anna"
        first = processes(port, lambda found: len(found) == 2)
        assert os.getpid() not in first
        killed = min(first)
        os.kill(killed, signal.SIGKILL)
        after = processes(port, lambda found: len(found) == 2 and killed not in found)
        # A second one would answer the same requests.
        serve = ray_serve._serve()
        other = ray_serve._deployment(serve, partial(echo(), "no "), 1).bind()
        with pytest.raises(NodegraftError, match='used by application "echo"'):
            ray_serve._run(serve, other, "other")
        assert ask(port)["told"] == "hello anna"
    assert len(after - first) == 1
    with pytest.raises(OSError, match="refused"):
        ask(port)


@slow
def test_what_cannot_start_is_told() -> None:
    needs_ray_serve()

    def broken() -> Any:
        raise OSError("there is no such folder here")

    with (
        pytest.raises(NodegraftError, match=r"(?s)same path on every node.*no such folder"),
        replicated(broken, "broken", "local", 1, "127.0.0.1", free_port()),
    ):
        raise AssertionError("it started")


@slow
def test_a_port_that_is_taken_is_told() -> None:
    needs_ray_serve()
    with socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with (
            pytest.raises(NodegraftError, match="choose others with --host and --port") as told,
            replicated(partial(echo(), ""), "echo", "local", 1, "127.0.0.1", port),
        ):
            raise AssertionError("it started")
    assert "Traceback" not in str(told.value)
    assert "line " not in str(told.value)


def test_who_lacks_the_packages_is_told_which(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray.serve", None)
    monkeypatch.delattr("ray.serve", raising=False)
    with pytest.raises(MissingExtraError, match=r"nodegraft\[ray-serve\]"):
        ray_serve._serve()
