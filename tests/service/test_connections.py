"""Slow, idle and too many connections, refused tokens, and a stop that is announced."""

import asyncio
import json
import os
import resource
import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from time import monotonic, sleep

import pytest
from starlette.datastructures import Headers
from starlette.testclient import TestClient
from starlette.types import Receive

from nodegraft.service.auth import limits, middleware, timeouts
from nodegraft.service.auth.middleware import MAX_BUCKETS, Rate
from nodegraft.store.scope import Scope
from tests.service.running import Running, running
from tests.service.served import asked
from tests.service.token_help import added, bearer

# Clocks are watched: not beside each other.
pytestmark = pytest.mark.xdist_group("server")

CONNECTIONS = 2_000
QUESTION = {"keys": [1]}
HEAD = b"GET /v1/classes HTTP/1.1\r\nHost: localhost\r\n"
WHOLE = HEAD + b"\r\n"
PREDICT = b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
REFUSED = HEAD.replace(b"GET", b"POST") + b"Content-Length: 99\r\n\r\n{"


def short_timeouts() -> None:
    for module in (middleware, timeouts):
        vars(module)["BODY_SECONDS"] = 1.0


def seconds_until_closed(caller: socket.socket, longest: float) -> float:
    """Send a byte now and then, until the service has closed the connection."""
    began = monotonic()
    caller.settimeout(0.2)
    while monotonic() - began < longest:
        try:
            caller.sendall(b"x")
            if not caller.recv(10_000):
                break
        except TimeoutError:
            continue
        except OSError:
            break
    return monotonic() - began


BEGUN = {
    "first head": HEAD,
    "after a request": WHOLE,
    "second head": WHOLE + HEAD,
    "pipelined": 3 * WHOLE + HEAD,
    "body after 401": REFUSED,
}


@pytest.mark.parametrize("has_tokens", [False, True], ids=["open", "401"])
def test_slow_requests_are_cut_off_at_any_place(has_tokens: bool, shop: Path) -> None:
    if has_tokens:
        added(shop, "ci", Scope.READ)

    def seconds(begun: bytes) -> float:
        with socket.create_connection(("127.0.0.1", life.port), 5) as caller:
            caller.sendall(begun + b"X-Slow: ")
            return seconds_until_closed(caller, longest=6.0)

    with running(shop, short_timeouts) as life, ThreadPoolExecutor(len(BEGUN)) as callers:
        found = dict(zip(BEGUN, callers.map(seconds, BEGUN.values()), strict=True))
    assert {name: each for name, each in found.items() if each >= 4.0} == {}


def test_a_caller_who_does_not_read_is_cut_off(shop: Path) -> None:
    def prepare() -> None:
        vars(timeouts)["SEND_SECONDS"] = 1.0

    content = json.dumps({"keys": [1] * 10_000, "top": 4}).encode()
    sent = PREDICT + f"Content-Length: {len(content)}\r\n\r\n".encode() + content
    with running(shop, prepare) as life, socket.socket() as caller:
        caller.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        caller.connect(("127.0.0.1", life.port))
        caller.settimeout(20.0)
        began = monotonic()
        # The last ones do not fit into any buffer, so that the end of the connection is noticed.
        with pytest.raises(OSError, match=r"reset|Broken pipe"):
            caller.sendall(sent * 200)
        assert monotonic() - began < 15.0


@contextmanager
def many_open_files() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2 * CONNECTIONS:
        pytest.skip(f"{2 * CONNECTIONS} open files are not allowed here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2 * CONNECTIONS), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


BEGINNINGS = (b"", HEAD, WHOLE + HEAD, REFUSED, 3 * WHOLE + HEAD)


def hold(life: Running, ready: Event, done: Event) -> None:
    """Hold many connections that never finish a request, and go on opening new ones."""
    callers = list[socket.socket]()
    try:
        while not done.is_set():
            caller = socket.create_connection(("127.0.0.1", life.port), 20)
            callers.append(caller)
            with suppress(OSError):
                caller.sendall(BEGINNINGS[len(callers) % len(BEGINNINGS)])
            if len(callers) == CONNECTIONS:
                ready.set()
            if len(callers) > CONNECTIONS:
                callers.pop(0).close()
                sleep(0.01)
    finally:
        ready.set()
        for caller in callers:
            caller.close()


def test_an_honest_caller_is_served_beside_2000_connections(shop: Path) -> None:
    secret = added(shop, "ci", Scope.READ)
    ready, done = Event(), Event()

    def seconds(life: Running) -> float:
        began = monotonic()
        assert life.ask("POST", "/v1/predict", QUESTION, **bearer(secret))[0] == 200
        return monotonic() - began

    with many_open_files(), running(shop) as life:
        seconds(life)
        flood = Thread(target=hold, args=(life, ready, done))
        flood.start()
        try:
            # While all of them are opened at once, every caller waits for the others in turn.
            while not ready.is_set():
                assert seconds(life) < 10.0
            beside = sorted(seconds(life) for _ in range(50))
            assert beside[len(beside) // 2] < 1.0
            assert beside[-1] < 10.0
            open_files = len(list(Path(f"/proc/{life.process}/fd").iterdir()))
        finally:
            done.set()
            flood.join()
    assert open_files < timeouts.FLOOD * limits.MAX_CONNECTIONS + 200


def test_connections_with_requests_are_not_closed_for_new_ones(shop: Path) -> None:
    read_body = middleware._read_body

    async def read_and_wait(headers: Headers, receive: Receive) -> Receive:
        whole = await read_body(headers, receive)
        await asyncio.sleep(2.0 if "content-length" in headers else 0.0)
        return whole

    def prepare() -> None:
        timeouts.TimeoutProtocol.limit = 3
        vars(middleware)["_read_body"] = read_and_wait

    with running(shop, prepare) as life, ExitStack() as opened:
        callers = [
            opened.enter_context(socket.create_connection(("127.0.0.1", life.port), 20))
            for _ in range(3)
        ]
        for caller in callers:
            caller.sendall(PREDICT + b'Content-Length: 13\r\n\r\n{"keys":')
        sleep(0.2)
        for caller in callers:
            caller.sendall(b" [1]}")
        sleep(2 * timeouts.GRACE_SECONDS)
        with socket.create_connection(("127.0.0.1", life.port), 20) as refused:
            refused.sendall(WHOLE)
            assert refused.recv(100).startswith(b"HTTP/1.1 503 ")
        for caller in callers:
            assert caller.recv(100).startswith(b"HTTP/1.1 200 ")
        sleep(timeouts.GRACE_SECONDS)
        # They wait for another request now, and the longest waiting one makes room.
        assert life.ask("GET", "/readyz")[0] == 200


@pytest.mark.parametrize(
    "begun",
    [
        pytest.param(REFUSED.replace(b"/v1/classes", b"/livez"), id="probe"),
        pytest.param(PREDICT + b"Content-Length: 13\r\n\r\n{", id="anonymous caller"),
    ],
)
def test_connections_without_a_body_lock_nobody_out(begun: bytes, shop: Path) -> None:
    def prepare() -> None:
        timeouts.TimeoutProtocol.limit = 3

    with running(shop, prepare) as life, ExitStack() as opened:
        for _ in range(5):
            caller = socket.create_connection(("127.0.0.1", life.port), 20)
            opened.enter_context(caller).sendall(begun)
        sleep(2 * timeouts.GRACE_SECONDS)
        began = monotonic()
        assert life.ask("POST", "/v1/predict", QUESTION)[0] == 200
        assert monotonic() - began < 2.0


def test_unknown_tokens_are_limited_by_address_and_known_ones_work(shop: Path) -> None:
    secret = added(shop, "ci", Scope.READ)
    with asked(shop, failed_tokens=5.0) as client:
        statuses = [
            client.get("/v1/classes", headers=bearer(f"wrong{number}")).status_code
            for number in range(8)
        ]
        assert statuses == [401] * 5 + [429] * 3
        refused = client.get("/v1/classes", headers=bearer("wrong"))
        assert refused.json()["error"]["code"] == "too_many_failures"
        assert client.get("/v1/classes", headers=bearer(secret)).status_code == 200


def test_probes_have_a_bucket_of_their_own(shop: Path) -> None:
    with asked(shop, rate=1.0) as client:
        for _ in range(8):
            client.get("/livez")
        assert client.get("/livez").status_code == 429
        assert client.get("/v1/classes").status_code == 200


def test_visitors_of_the_page_are_limited_by_address(shop: Path) -> None:
    secret = added(shop, "reader", Scope.READ)
    with asked(shop, rate=1.0) as client:
        for _ in range(8):
            client.get("/")
        assert client.get("/page/page.css").status_code == 429
        assert client.get("/v1/classes", headers=bearer(secret)).status_code == 200
        other = TestClient(client.app, base_url="http://localhost", client=("127.0.0.2", 1))
        assert other.get("/").status_code == 200


def test_buckets_of_many_addresses_are_dropped_when_they_are_full_again() -> None:
    at = 0.0
    rate = Rate(1.0, lambda: at)
    for number in range(MAX_BUCKETS):
        assert rate.allows(f"address {number}")
    at = 6.0
    assert rate.allows("another")
    assert len(rate._buckets) == 1
    assert not rate.is_empty("another")


def test_readiness_is_false_before_a_service_stops(shop: Path) -> None:
    with running(shop, notice_seconds=2.0) as life:
        assert life.ask("GET", "/readyz")[0] == 200
        os.kill(life.process, signal.SIGTERM)
        sleep(0.3)
        status, told = life.ask("GET", "/readyz")
        assert (status, told["error"]["code"]) == (503, "stopping")
        assert life.ask("GET", "/v2/health/ready")[0] == 503
        # Callers that a load balancer still sends are served.
        assert life.ask("POST", "/v1/predict", QUESTION)[0] == 200
        assert life.ask("GET", "/v2/health/live")[0] == 200
