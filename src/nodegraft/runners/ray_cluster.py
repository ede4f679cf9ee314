"""Jobs as Ray tasks, on this machine or on many: the one door to Ray, which is an extra.

Each graph is put into the object store once; workers map it instead of reading files, and write
their own records. A task whose node dies runs again elsewhere.
"""

import logging
import os
import secrets
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from socket import create_connection
from typing import Any

from nodegraft.base.errors import NodegraftError
from nodegraft.base.extras import extra
from nodegraft.benchmark.job import Job
from nodegraft.datasets.base import LoadedDataset
from nodegraft.runners.work import Ended, Event, Started, failed, work

# Before Ray is imported: whoever reaches an open port needs the token, and nothing is sent home.
os.environ.setdefault("RAY_AUTH_MODE", "token")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

with extra("ray", package="ray", purpose="A Ray cluster"):
    import ray

LOCAL = "local"
RETRIES = 5
SECONDS_TO_ANSWER = 10
QUIET: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.WARNING}


@dataclass(frozen=True)
class Share:
    """What one job may use of a node; a fraction of a GPU is fine."""

    cpus: float = 1.0
    memory: int = 0
    gpus: float = 0.0

    def of(self, resources: dict[str, float]) -> int:
        """How many jobs fit into a node.

        >>> Share(cpus=1, memory=2**30).of({"CPU": 8, "memory": 5 * 2**30})
        5
        """
        asked = {"CPU": self.cpus, "memory": float(self.memory), "GPU": self.gpus}
        return int(
            min(resources.get(name, 0) // amount for name, amount in asked.items() if amount)
        )


class RayRunner:
    """A Ray cluster that is there, or one for this process alone (address ``local``)."""

    def __init__(self, address: str, share: Share | None = None, cpus: int | None = None) -> None:
        self._address, self._share, self._cpus = address, share or Share(), cpus

    def __enter__(self) -> "RayRunner":
        if self._address == LOCAL:
            # A token nobody else knows, and no dashboard.
            os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
            ray.init(LOCAL, num_cpus=self._cpus, include_dashboard=False, **QUIET)
        else:
            _join(self._address)
        return self

    def __exit__(self, *_: object) -> None:
        ray.shutdown()

    def at_once(self) -> int:
        """How many jobs the nodes alive have room for."""
        nodes: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
        return sum(self._share.of(node["Resources"]) for node in nodes if node["Alive"])

    def run(self, jobs: Sequence[Job], data: Path | None, out: str | Path) -> Iterator[Event]:
        """Run all jobs; tells when each is given away and how it ends."""
        if jobs and not self.at_once():
            raise NodegraftError(f"No node of the cluster has room for one job: {self._share}.")
        place, graphs = _everywhere(out), Graphs(jobs, data)
        waiting, given = deque(jobs), dict[Any, Job]()
        task = self._task()
        while waiting or given:
            # A queue behind the busy ones hides the way there and back, and lets a cluster grow.
            while waiting and len(given) < 2 * max(1, self.at_once()):
                job = waiting.popleft()
                given[task.remote(job, graphs.of(job), place)] = job
                yield Started(job)
            for ready in ray.wait(list(given), timeout=1.0)[0]:
                job = given.pop(ready)
                graphs.done(job)
                yield _ended(ready, job, place)

    def _task(self) -> Any:
        # Only what is no fault of the job runs again: its own errors are told by work().
        return ray.remote(
            num_cpus=self._share.cpus,
            num_gpus=self._share.gpus,
            memory=self._share.memory,
            max_retries=RETRIES,
        )(_work)


class Graphs:
    """Each graph is in the object store from its first job to its last."""

    def __init__(self, jobs: Sequence[Job], data: Path | None) -> None:
        self._data = data
        self._left = Counter(_which(job) for job in jobs)
        self._stored: dict[str, Any] = {}

    def of(self, job: Job) -> Any:
        """A reference to the dataset of a job."""
        which = _which(job)
        if which not in self._stored:
            self._stored[which] = ray.put(job.load(self._data))
        return self._stored[which]

    def done(self, job: Job) -> None:
        """One job less to come."""
        which = _which(job)
        self._left[which] -= 1
        if not self._left[which]:
            del self._stored[which]


def _join(address: str) -> None:
    host, _, port = address.rpartition(":")
    try:
        if host and port.isdigit():
            # Where nobody listens, Ray itself would try for minutes.
            create_connection((host, int(port)), timeout=SECONDS_TO_ANSWER).close()
        ray.init(address=address, **QUIET)
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise NodegraftError(
            f"No Ray cluster lets us in at {address!r}. Is it running, and has this machine its "
            f"token (`ray get-auth-token` there, RAY_AUTH_TOKEN here)? Ray says: {error}"
        ) from error


def _which(job: Job) -> str:
    return f"{job.dataset} {sorted(job.dataset_options.items())}"


def _work(job: Job, loaded: LoadedDataset, out: str) -> Ended:
    return work(job, lambda: loaded, out)


def _ended(task: Any, job: Job, out: str) -> Ended:
    try:
        ended: Ended = ray.get(task)
    except ray.exceptions.RayError as error:
        return failed(job, f"{type(error).__name__}: {error}", out)
    return ended


def _everywhere(out: str | Path) -> str:
    # Workers have working folders of their own.
    return str(out) if "://" in str(out) else str(Path(out).absolute())
