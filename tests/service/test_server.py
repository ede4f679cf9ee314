"""A service that listens: readers beside a writer, slow callers, and a stop that loses nothing."""

import http.client
import json
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from threading import Event, Thread
from time import monotonic, sleep
from typing import Any

import pytest

from nodegraft.base.errors import ParameterError
from nodegraft.service.auth import middleware, timeouts
from nodegraft.service.server import serve
from nodegraft.service.settings import Settings
from nodegraft.store.store import Store
from tests.service.running import Running, asked_over, free_port, running, started
from tests.service.served import lesson
from tests.slow_suite import slow
from tests.store.small import made, with_unreadable_model

# Clocks are watched: not beside each other.
pytestmark = pytest.mark.xdist_group("server")

New = dict[str, list[Any]]
READERS = 16
ASKED = list(range(40))
SERVE = (sys.executable, "-c", "from nodegraft.cli.entry import main; main()", "serve")


def read_until(done: Event, port: int, found: list[tuple[int, dict[str, Any]]]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    while not done.is_set():
        found.append(asked_over(connection, "POST", "/v1/predict", {"keys": ASKED, "top": 2}))
    connection.close()


def change_every_second(life: Running, new: New, seconds: float) -> int:
    """Teach a class, take it back, teach the other one …; how many changes that were."""
    began, changes = monotonic(), 0
    while monotonic() - began < seconds or changes < 2:
        body, path = lesson(new, changes // 2 % 2), "/v1/classes?promote=1"
        if changes % 2:
            body, path = {}, f"/v1/versions/{changes + 1}:undo?promote=1"
        status, made = life.ask("POST", path, body or None)
        assert status in (200, 201), made
        # Whoever taught is answered by what was taught.
        assert life.ask("GET", "/readyz")[1]["model_version"] == made["model_version"]
        changes += 1
        sleep(max(0.0, began + changes - monotonic()))
    return changes


@pytest.mark.parametrize("seconds", [3.0, pytest.param(60.0, marks=slow)])
def test_readers_beside_a_writer_get_answers_of_one_version_each(
    seconds: float, shop: Path, new: New
) -> None:
    found: list[tuple[int, dict[str, Any]]] = []
    done = Event()
    with running(shop) as life:
        readers = [Thread(target=read_until, args=(done, life.port, found)) for _ in range(READERS)]
        for reader in readers:
            reader.start()
        try:
            changes = change_every_second(life, new, seconds)
        finally:
            done.set()
            for reader in readers:
                reader.join()
    assert {status for status, _ in found} == {200}
    said = {str(answer["predictions"]): answer["model_version"] for _, answer in found}
    versions = {answer["model_version"] for _, answer in found}
    assert len(versions) >= changes > 1
    with Store.open(shop) as store:
        wanted = {number: store.predict(ASKED, version=number, top=2) for number in versions}
        graphs = {one.number: one.graph for one in store.history()}
    for _, answer in found[:: max(1, len(found) // 500)]:
        number = answer["model_version"]
        classes = [one["class"] for one in answer["predictions"]]
        sure = [one["confidence"] for one in answer["predictions"]]
        assert classes == wanted[number].predictions
        assert sure == pytest.approx(wanted[number].confidence.tolist(), abs=1e-9)
        assert answer["graph_version"] == graphs[number]
    # Versions with the same labels say the same: the first one, and two with a new class each.
    assert len(said) == min(3, 1 + (changes + 1) // 2)


def impatient() -> None:
    for module in (middleware, timeouts):
        vars(module)["BODY_SECONDS"] = 1.0


def test_slow_callers_are_sent_away_and_hold_up_nobody(shop: Path) -> None:
    with running(shop, impatient) as life:
        began = monotonic()
        silent = [socket.create_connection(("127.0.0.1", life.port), 20) for _ in range(30)]
        slow_bodies = [socket.create_connection(("127.0.0.1", life.port), 20) for _ in range(30)]
        for one in slow_bodies:
            one.sendall(
                b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\n"
                b"Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{"
            )
        assert life.ask("POST", "/v1/predict", {"keys": [1]})[0] == 200
        assert all(one.recv(100).startswith(b"HTTP/1.1 408 ") for one in slow_bodies)
        assert all(one.recv(100) == b"" for one in silent)
        assert monotonic() - began < 10.0
        for one in (*silent, *slow_bodies):
            one.close()


def test_a_body_that_is_cut_changes_nothing(shop: Path, new: New) -> None:
    with running(shop) as life:
        content = json.dumps(lesson(new)).encode()
        head = f"POST /v1/classes HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(content) + 1}"
        with socket.create_connection(("127.0.0.1", life.port), 20) as caller:
            caller.sendall(head.encode() + b"\r\nContent-Type: application/json\r\n\r\n" + content)
        assert life.ask("GET", "/v1/versions")[1]["newest"] == 1
    with Store.open(shop) as store:
        assert store.newest == 1


def test_what_has_begun_is_ended_before_a_service_stops(shop: Path, new: New) -> None:
    life = started(shop, free_port())
    answers: list[tuple[int, dict[str, Any]]] = []
    teacher = Thread(target=lambda: answers.append(life.ask("POST", "/v1/classes", lesson(new))))
    teacher.start()
    sleep(0.05)
    life.stop()
    teacher.join()
    assert answers[0][0] == 201
    with Store.open(shop) as store:
        assert store.newest == answers[0][1]["model_version"] == 2


def counted(port: int) -> bytes:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        connection.request("GET", "/metrics")
        return connection.getresponse().read()


def test_several_workers_answer_from_the_command_line(shop: Path, new: New, tmp_path: Path) -> None:
    port = free_port()
    command = [*SERVE, str(shop), "--port", str(port)]
    # Into a file: a pipe that nobody reads would fill, and the service wait.
    log = tmp_path / "log"
    with log.open("wb") as told, subprocess.Popen([*command, "--workers", "2"], stderr=told) as run:
        try:
            life = Running(run.pid, port)
            wait_until_ready(life)
            assert life.ask("POST", "/v1/classes?promote=1", lesson(new))[0] == 201
            # The other worker follows: the oldest version that any of them has is counted.
            began = monotonic()
            while b"nodegraft_model_version 2.0" not in counted(port):
                assert monotonic() - began < 20
                sleep(0.05)
            assert life.ask("GET", "/readyz")[1]["model_version"] == 2
        finally:
            run.terminate()
            run.wait(30)
    assert run.returncode == 0
    first, *lines = log.read_text().splitlines()
    assert f"at http://127.0.0.1:{port}" in first
    assert all(line.startswith("{") for line in lines)


def test_a_port_that_is_taken_is_told(shop: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(
            ParameterError, match=r"Cannot listen on port .*: Address already in use"
        ):
            serve(Settings(shop, port=port))


def wait_until_ready(life: Running) -> None:
    began = monotonic()
    while True:
        try:
            if life.ask("GET", "/readyz")[0] == 200:
                return
        except OSError:
            sleep(0.1)
        assert monotonic() - began < 120


def test_a_version_that_cannot_be_read_is_told_in_one_line(tmp_path: Path) -> None:
    store, _ = made(tmp_path / "old", method="graft")
    with_unreadable_model(store).close()
    command = [*SERVE, str(store.place), "--port", str(free_port())]
    ended = subprocess.run(command, timeout=120, check=False, capture_output=True, text=True)
    assert ended.returncode != 0
    (told,) = [line for line in ended.stderr.splitlines() if "confidence_" in line]
    assert json.loads(told)["message"].startswith("UnreadableModelError: The saved state")
    assert "Traceback" not in ended.stderr
