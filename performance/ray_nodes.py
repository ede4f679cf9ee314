"""Ray nodes as real processes on this machine, in its own network or in namespaces of their own."""

import os
import re
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

import psutil

PORT = 6399
SECONDS_TO_START = 90


class Node:
    """One ``ray start --block`` and all it started."""

    def __init__(self, arguments: list[str], log: Path, within: list[str]) -> None:
        command = [*within, str(Path(sys.executable).with_name("ray")), "start", "--block"]
        with log.open("wb") as file:
            self.process = subprocess.Popen(  # noqa: S603
                [*command, *arguments],
                stdout=file,
                stderr=subprocess.STDOUT,
                env=os.environ | {"RAY_AUTH_MODE": "token", "RAY_USAGE_STATS_ENABLED": "0"},
            )
        self._log = log

    def wait_until_started(self) -> None:
        """Until Ray says so."""
        end = monotonic() + SECONDS_TO_START
        while not re.search(r"Ray runtime started", self._log.read_text()):
            if monotonic() > end or self.process.poll() is not None:
                raise RuntimeError(f"The node did not start:\n{self._log.read_text()}")
            sleep(0.2)

    def kill(self) -> int:
        """SIGKILL for every process of the node, as when its power fails; returns how many."""
        family = psutil.Process(self.process.pid)
        members = [*family.children(recursive=True), family]
        for member in members:
            try:
                member.send_signal(signal.SIGKILL)
            except psutil.NoSuchProcess:
                continue
        self.process.wait()
        return len(members)


@contextmanager
def two_nodes(
    folder: Path,
    addresses: tuple[str, str],
    namespaces: tuple[str, ...] = (),
) -> Iterator[tuple[str, Node]]:
    """A head and a second node of one CPU each; gives the cluster's address and the second."""
    # Inherited by all: whoever does not know it is not let in.
    os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    within = [["ip", "netns", "exec", name] for name in namespaces] or [[], []]
    address = f"{addresses[0]}:{PORT}"
    common = ["--num-cpus=1", "--object-store-memory=200000000"]
    head = Node(
        [
            "--head",
            f"--port={PORT}",
            f"--node-ip-address={addresses[0]}",
            "--include-dashboard=false",
            *common,
        ],
        folder / "head.log",
        within[0],
    )
    started = [head]
    try:
        head.wait_until_started()
        second = Node(
            [f"--address={address}", f"--node-ip-address={addresses[1]}", *common],
            folder / "second.log",
            within[1],
        )
        started.append(second)
        second.wait_until_started()
        yield address, second
    finally:
        for node in started:
            if node.process.poll() is None:
                node.kill()


@contextmanager
def two_namespaces() -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """Two network namespaces joined by a cable; gives their names and addresses. Needs root."""
    names = (f"nodegraft-{os.getpid()}-a", f"nodegraft-{os.getpid()}-b")
    addresses = ("10.77.0.1", "10.77.0.2")
    try:
        for name in names:
            _ip("netns", "add", name)
        _ip(
            "link",
            "add",
            "cable-a",
            "netns",
            names[0],
            "type",
            "veth",
            "peer",
            "cable-b",
            "netns",
            names[1],
        )
        for name, address, end in zip(names, addresses, ("cable-a", "cable-b"), strict=True):
            _ip("-n", name, "address", "add", f"{address}/24", "dev", end)
            _ip("-n", name, "link", "set", end, "up")
            _ip("-n", name, "link", "set", "lo", "up")
        yield names, addresses
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "delete", name], check=False)  # noqa: S603, S607


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)  # noqa: S603, S607
