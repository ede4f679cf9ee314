"""A store that is served by replicas on Ray, by the command that people type."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from tests.runners.test_ray_serve import LONGEST, needs_ray_serve
from tests.service.running import Running, free_port
from tests.service.served import lesson
from tests.slow_suite import slow

pytestmark = pytest.mark.xdist_group("ray")

New = dict[str, list[Any]]


def ready(life: Running, process: "subprocess.Popen[bytes]") -> None:
    began = monotonic()
    while True:
        try:
            assert life.ask("GET", "/readyz")[0] == 200
            return
        except (OSError, ValueError):
            assert process.poll() is None
            assert monotonic() - began < LONGEST
            sleep(0.5)


@slow
def test_a_store_is_asked_and_taught_on_ray(shop: Path, new: New) -> None:
    needs_ray_serve()
    port = free_port()
    main = "from nodegraft.cli.entry import main; main()"
    command = [sys.executable, "-c", main, "serve", str(shop)]
    command += ["--ray", "local", "--workers", "2", "--port", str(port), "--rate", "0"]
    with subprocess.Popen(command) as process:
        try:
            life = Running(process.pid, port)
            ready(life, process)
            status, found = life.ask("POST", "/v1/predict", {"keys": [1, 2], "top": 2})
            assert status == 200
            assert found["model_version"] == 1
            assert [one["node"] for one in found["predictions"]] == [1, 2]
            asked = ("POST", "/v1/classes?promote=1", lesson(new))
            status, made = life.ask(*asked, Idempotency_Key="once")
            assert (status, made.get("model_version")) == (201, 2), made
            # Whichever replica gets it: it was done already.
            assert all(life.ask(*asked, Idempotency_Key="once")[1] == made for _ in range(4))
            # Both replicas follow within a second or two.
            sleep(3.0)
            versions = [life.ask("GET", "/v1/classes")[1]["model_version"] for _ in range(20)]
            assert versions == [2] * 20
            assert life.ask("GET", "/v1/classes", Host="evil.example")[0] == 400
        finally:
            os.kill(process.pid, signal.SIGTERM)
        assert process.wait(60) == 0
