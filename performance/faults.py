"""What a kill costs: ``python -m performance.faults [node | namespaces | driver]``

``node``: a suite of 60 jobs of about a second on a Ray cluster of two nodes on this host, one node
killed with SIGKILL (all its processes) in the middle, against the same suite undisturbed.
``namespaces``: the same with each node in a network namespace of its own (needs root).
``driver``: ``nodegraft lab bench`` itself killed 20 times at random moments and started again.
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

from performance.networks import HERE, joined
from performance.ray_nodes import two_nodes

JOBS = 60
SECOND = 8000  # nodes of a graph on which a job takes about a second
LONGEST = 600.0
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
    """Of one killed node."""

    jobs: int
    records: int
    failures: int
    undisturbed: float
    killed: float
    done_before: int


def write_suite(folder: Path, jobs: int, nodes: int) -> Path:
    """One job a seed."""
    place = folder / "suite.toml"
    place.write_text(SUITE.format(seeds=list(range(jobs)), nodes=nodes))
    return place


def records(out: Path) -> int:
    """How many jobs are done."""
    return len(list(out.glob("*.json")))


def start_bench(suite: Path, out: Path, *options: str, within: Sequence[str] = ()) -> Driver:
    """The command a user types."""
    command = Path(sys.executable).with_name("nodegraft")
    return subprocess.Popen(  # noqa: S603
        [*within, str(command), "lab", "bench", str(suite), "--out", str(out), *options],
        stdout=subprocess.DEVNULL,
    )


def kill_a_node(folder: Path, jobs: int, nodes: int, *, namespaces: bool = False) -> Cost:
    """Run the suite undisturbed, then once more with a node killed after a third of it."""
    suite, out = write_suite(folder, jobs, nodes), folder / "killed"
    with ExitStack() as stack:
        one, two = stack.enter_context(joined()) if namespaces else (HERE, HERE)
        address, second = stack.enter_context(two_nodes(folder, one, two))
        began = monotonic()
        _finish(start_bench(suite, folder / "undisturbed", "--ray", address, within=one.within))
        undisturbed, began = monotonic() - began, monotonic()
        driver = start_bench(suite, out, "--ray", address, within=one.within)
        while records(out) < jobs // 3 and driver.poll() is None:
            sleep(0.05)
        before = records(out)
        second.kill()
        _finish(driver)
        killed = monotonic() - began
    failures = len(list(out.glob("failed/*.json")))
    return Cost(jobs, records(out), failures, undisturbed, killed, before)


def kill_the_driver(folder: Path, times: int, jobs: int, nodes: int) -> list[int]:
    """Kill ``bench`` at random moments and start it again; how many records each life added."""
    suite, out, gained = write_suite(folder, jobs, nodes), folder / "runs", []
    moments = random.Random(0)  # noqa: S311
    for life in range(times):
        before, driver = records(out), start_bench(suite, out)
        # Now and then while it starts, else at a random moment of its work.
        while life % 4 and records(out) == before and driver.poll() is None:
            sleep(0.02)
        sleep(moments.uniform(0.0, 2.5))
        os.kill(driver.pid, signal.SIGKILL)
        driver.wait()
        gained.append(records(out) - before)
    before = records(out)
    _finish(start_bench(suite, out))
    return [*gained, records(out) - before]


def _finish(driver: Driver) -> None:
    if driver.wait(timeout=LONGEST):
        raise RuntimeError(f"bench ended with exit code {driver.returncode}.")


def main(what: str) -> None:
    """Measure and tell."""
    with TemporaryDirectory() as name:
        if what == "driver":
            gained = kill_the_driver(Path(name), 20, JOBS, SECOND)
            print(f"records after each kill: {gained[:-1]}, the last life added {gained[-1]}")
            print(f"{sum(gained)} of {JOBS} jobs on record")
            return
        cost = kill_a_node(Path(name), JOBS, SECOND, namespaces=what == "namespaces")
    print(f"{cost.records} of {cost.jobs} jobs on record, {cost.failures} failures")
    times = f"{cost.killed:.1f} s instead of {cost.undisturbed:.1f} s"
    print(f"killed after {cost.done_before} jobs: {times}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="What a kill costs.")
    parser.add_argument("what", nargs="?", default="node", choices=("node", "namespaces", "driver"))
    main(parser.parse_args().what)
