"""Processes that train together, as ``torchrun`` starts them, and what each of them runs."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from socket import socket
from time import monotonic, sleep
from typing import Any

import nodegraft

ROOT = Path(__file__).parents[3]


def environment() -> dict[str, str]:
    """The environment of a process that imports nodegraft and its tests."""
    package = Path(nodegraft.__file__).parents[1]
    path = os.pathsep.join((str(package), str(ROOT)))
    return os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}


def wait_until(condition: Callable[[], bool], seconds: float = 150) -> None:
    """Wait until a condition is met; fail after some seconds."""
    end = monotonic() + seconds
    while not condition():
        assert monotonic() < end, "it did not happen in time"
        sleep(0.05)


def start(arguments: Sequence[str], ranks: int = 2) -> list["subprocess.Popen[str]"]:
    """Start Python once for each rank, with the environment that torchrun gives to it."""
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    common = environment() | {
        "TORCHELASTIC_RUN_ID": "test",
        "WORLD_SIZE": str(ranks),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
    }
    return [
        subprocess.Popen(
            [sys.executable, *arguments],
            env=common | {"RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(ranks)
    ]


def outputs(processes: Sequence["subprocess.Popen[str]"], seconds: float = 150) -> list[str]:
    """Wait for the processes to end, and return what each has printed."""
    try:
        return [process.communicate(timeout=seconds)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def results(arguments: Sequence[str], ranks: int = 2, seconds: float = 150) -> list[Any]:
    """Return the last line that each rank prints, which is JSON; all ranks must succeed."""
    processes = start(arguments, ranks)
    printed = outputs(processes, seconds)
    assert not any(process.returncode for process in processes), printed
    return [json.loads(text.splitlines()[-1]) for text in printed]
