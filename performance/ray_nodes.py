"""Ray nodes as processes on this machine, on its own network or in network namespaces."""

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
from performance.networks import LOCALHOST, Host
from performance.process_tree import process_tree

PORT = 6399
SECONDS_TO_START = 90


class Node:
    """``ray start --block`` and all processes that it started."""

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
        """Wait until Ray prints that the node has started."""
        deadline = monotonic() + SECONDS_TO_START
        while not re.search(r"Ray runtime started", self._log.read_text()):
            if monotonic() > deadline or self.process.poll() is not None:
                raise RuntimeError(f"The node did not start:\n{self._log.read_text()}")
            sleep(0.2)

    def kill(self) -> int:
        """Kill every process of the node (SIGKILL), as in a power failure; return their number."""
        # Parents last: children of a dead parent would no longer be listed.
        processes = process_tree(self.process.pid)[::-1]
        for process in processes:
            try:
                process.send_signal(signal.SIGKILL)
            except psutil.NoSuchProcess:
                continue
        self.process.wait()
        return len(processes)


@contextmanager
def two_nodes(
    folder: Path, head_host: Host = LOCALHOST, second_host: Host = LOCALHOST
) -> Iterator[tuple[str, Node]]:
    """Start a head and a second node with one CPU each; yield the address and the second node.

    Args:
        folder: Folder for the logs of both nodes.
        head_host: Host of the head.
        second_host: Host of the second node.
    """
    # Both nodes and their clients inherit the token; Ray refuses connections without it.
    os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    address = f"{head_host.address}:{PORT}"
    common = ["--num-cpus=1", "--object-store-memory=200000000"]
    head = Node(
        [
            "--head",
            f"--port={PORT}",
            f"--node-ip-address={head_host.address}",
            "--include-dashboard=false",
            *common,
        ],
        folder / "head.log",
        head_host.within,
    )
    nodes = [head]
    try:
        head.wait_until_started()
        second = Node(
            [f"--address={address}", f"--node-ip-address={second_host.address}", *common],
            folder / "second.log",
            second_host.within,
        )
        nodes.append(second)
        second.wait_until_started()
        yield address, second
    finally:
        for node in nodes:
            if node.process.poll() is None:
                node.kill()
