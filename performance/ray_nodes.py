"""Ray nodes as real processes on this machine, in its own network or in others on it."""

import os
import re
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

import psutil
from performance.networks import HERE, Host
from performance.process_family import family

PORT = 6399
SECONDS_TO_START = 90


class Node:
    """One ``ray start --block`` and all it started."""

    def __init__(self, arguments: list[str], log: Path, within: Sequence[str]) -> None:
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
        # Whoever started others goes last, or these are nobody's any more.
        members = family(self.process.pid)[::-1]
        for member in members:
            try:
                member.send_signal(signal.SIGKILL)
            except psutil.NoSuchProcess:
                continue
        self.process.wait()
        return len(members)


@contextmanager
def two_nodes(folder: Path, one: Host = HERE, two: Host = HERE) -> Iterator[tuple[str, Node]]:
    """A head and a second node of one CPU each; gives the cluster's address and the second.

    Args:
        folder: For what they say.
        one: Where the head runs.
        two: Where the second node runs.
    """
    # Inherited by all: whoever does not know it is not let in.
    os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    address = f"{one.address}:{PORT}"
    common = ["--num-cpus=1", "--object-store-memory=200000000"]
    head = Node(
        [
            "--head",
            f"--port={PORT}",
            f"--node-ip-address={one.address}",
            "--include-dashboard=false",
            *common,
        ],
        folder / "head.log",
        one.within,
    )
    started = [head]
    try:
        head.wait_until_started()
        second = Node(
            [f"--address={address}", f"--node-ip-address={two.address}", *common],
            folder / "second.log",
            two.within,
        )
        started.append(second)
        second.wait_until_started()
        yield address, second
    finally:
        for node in started:
            if node.process.poll() is None:
                node.kill()
