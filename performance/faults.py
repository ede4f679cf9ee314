"""Cost of a killed process: ``python -m performance.faults [node | namespaces | driver]``

``node``: a suite of 60 jobs of about a second on a Ray cluster of two nodes on this host. All
processes of one node are killed (SIGKILL) after a third of the jobs; the time is compared with that
of an undisturbed run. ``namespaces``: the same with each node in its own network namespace (needs
root). ``driver``: ``nodegraft lab bench`` is killed 20 times at random moments and started again.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import TypeAlias

from performance.networks import LOCALHOST, connected_hosts
from performance.ray_nodes import two_nodes

JOBS = 60
NODES = 8000
"""Nodes of a graph on which a job takes about a second."""

TIMEOUT = 600.0
SUITE = """
title = "jobs of about a second"
arrival = "growing"
seeds = {seeds}
datasets = [{{ dataset = "synthetic", set = {{ nodes = {nodes}, classes = 20 }} }}]
methods = [{{ method = "graft" }}]
"""

Driver: TypeAlias = "subprocess.Popen[bytes]"


@dataclass(frozen=True)
class Cost:
    """Records, failures and seconds of a suite with a killed node and of an undisturbed one."""

    jobs: int
    records: int
    failures: int
    undisturbed: float
    killed: float
    done_before: int
    """Records at the moment of the kill."""


def write_suite(folder: Path, jobs: int, nodes: int) -> Path:
    """Write a suite with a job for each seed."""
    path = folder / "suite.toml"
    path.write_text(SUITE.format(seeds=list(range(jobs)), nodes=nodes))
    return path


def records(out: Path) -> int:
    """Count the records in a folder."""
    return len(list(out.glob("*.json")))


def start_bench(suite: Path, out: Path, *options: str, within: Sequence[str] = ()) -> Driver:
    """Start ``nodegraft lab bench``."""
    command = Path(sys.executable).with_name("nodegraft")
    return subprocess.Popen(  # noqa: S603
        [*within, str(command), "lab", "bench", str(suite), "--out", str(out), *options],
        stdout=subprocess.DEVNULL,
    )


def kill_a_node(folder: Path, jobs: int, nodes: int, *, namespaces: bool = False) -> Cost:
    """Run the suite undisturbed, then again with a node killed after a third of the jobs."""
    suite, out = write_suite(folder, jobs, nodes), folder / "killed"
    with ExitStack() as stack:
        hosts = LOCALHOST, LOCALHOST
        if namespaces:
            hosts = stack.enter_context(connected_hosts())
        address, second = stack.enter_context(two_nodes(folder, *hosts))
        within = hosts[0].within
        start = monotonic()
        _finish(start_bench(suite, folder / "undisturbed", "--ray", address, within=within))
        undisturbed, start = monotonic() - start, monotonic()
        driver = start_bench(suite, out, "--ray", address, within=within)
        while records(out) < jobs // 3 and driver.poll() is None:
            sleep(0.05)
        before = records(out)
        second.kill()
        _finish(driver)
        killed = monotonic() - start
    failures = len(list(out.glob("failed/*.json")))
    return Cost(jobs, records(out), failures, undisturbed, killed, before)


def kill_the_driver(folder: Path, times: int, jobs: int, nodes: int) -> list[int]:
    """Kill and restart ``bench`` at random moments; return how many records each run added."""
    suite, out, added = write_suite(folder, jobs, nodes), folder / "runs", []
    moments = random.Random(0)  # noqa: S311
    for run in range(times):
        before, driver = records(out), start_bench(suite, out)
        # Every fourth run is killed while it starts, the others while they work.
        while run % 4 and records(out) == before and driver.poll() is None:
            sleep(0.02)
        sleep(moments.uniform(0.0, 2.5))
        os.kill(driver.pid, signal.SIGKILL)
        driver.wait()
        added.append(records(out) - before)
    before = records(out)
    _finish(start_bench(suite, out))
    return [*added, records(out) - before]


def _finish(driver: Driver) -> None:
    if driver.wait(timeout=TIMEOUT):
        raise RuntimeError(f"bench ended with exit code {driver.returncode}.")


def main() -> None:
    """Kill what the command line names, and print the cost."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    choices = ("node", "namespaces", "driver")
    parser.add_argument("target", nargs="?", default="node", choices=choices, help="what to kill")
    target = parser.parse_args().target
    with TemporaryDirectory() as name:
        if target == "driver":
            added = kill_the_driver(Path(name), 20, JOBS, NODES)
            print(f"records added before each kill: {added[:-1]}; by the last run: {added[-1]}")
            print(f"{sum(added)} of {JOBS} jobs recorded")
            return
        cost = kill_a_node(Path(name), JOBS, NODES, namespaces=target == "namespaces")
    print(f"{cost.records} of {cost.jobs} jobs recorded, {cost.failures} failures")
    times = f"{cost.killed:.1f} s instead of {cost.undisturbed:.1f} s"
    print(f"killed after {cost.done_before} jobs: {times}")


if __name__ == "__main__":
    main()
