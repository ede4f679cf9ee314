"""Jobs as Ray tasks, on this machine or on many.

Each graph is put into the object store once; workers map it instead of reading files, and write
their own records. A task whose node dies runs again elsewhere.
"""

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nodegraft.base.errors import NodegraftError
from nodegraft.base.extras import extra
from nodegraft.base.parameters.constraints import (
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
)
from nodegraft.base.parameters.validate import validate
from nodegraft.benchmark.job import Job
from nodegraft.datasets.templates.dataset import LoadedDataset
from nodegraft.runners.ray_connection import connected
from nodegraft.runners.work import JobEnded, JobEvent, JobStarted, record_failure, run_job

with extra("ray", package="ray", purpose="A Ray cluster"):
    import ray

RETRIES = 5


@dataclass(frozen=True)
class JobResources:
    """What one job may use of a node."""

    cpus: PositiveFloat = 1.0
    """CPUs, or a part of one."""

    memory: NonNegativeInt = 0
    """Bytes; 0 asks for none in particular."""

    gpus: NonNegativeFloat = 0.0
    """GPUs, or a part of one."""

    def __post_init__(self) -> None:
        validate(self)

    def jobs_on(self, node: dict[str, float]) -> int:
        """How many jobs fit into a node.

        >>> JobResources(cpus=1, memory=2**30).jobs_on({"CPU": 8, "memory": 5 * 2**30})
        5

        Args:
            node: What it has, as Ray tells it.
        """
        asked = {"CPU": self.cpus, "memory": float(self.memory), "GPU": self.gpus}
        return int(min(node.get(name, 0) // amount for name, amount in asked.items() if amount))


class RayRunner:
    """A Ray cluster that is there, or one for this process alone.

    Args:
        address: Where it is, or ``local`` to start one here.
        resources: What one job may use.
        cpus: How many CPUs a local one has.
    """

    def __init__(
        self, address: str, resources: JobResources | None = None, cpus: int | None = None
    ) -> None:
        self._connection = connected(address, cpus)
        self._resources = resources or JobResources()

    def __enter__(self) -> "RayRunner":
        self._connection.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.__exit__(None, None, None)

    def capacity(self) -> int:
        """How many jobs the nodes alive have room for."""
        nodes: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
        return sum(self._resources.jobs_on(node["Resources"]) for node in nodes if node["Alive"])

    def run(self, jobs: Sequence[Job], data: Path | None, out: str | Path) -> Iterator[JobEvent]:
        """Run all jobs; tells when each is given away and how it ends.

        Args:
            jobs: The jobs.
            data: The folder that holds the data folders.
            out: The folder for the records.
        """
        if jobs and not self.capacity():
            raise NodegraftError(f"No node of the cluster has room for one job: {self._resources}.")
        place, graphs = _everywhere(out), SharedGraphs(jobs, data)
        waiting, given = deque(jobs), dict[Any, Job]()
        task = self._task()
        while waiting or given:
            # A queue behind the busy ones hides the way there and back, and lets a cluster grow.
            while waiting and len(given) < 2 * max(1, self.capacity()):
                job = waiting.popleft()
                given[task.remote(job, graphs.of(job), place)] = job
                yield JobStarted(job)
            for ready in ray.wait(list(given), timeout=1.0)[0]:
                job = given.pop(ready)
                graphs.done(job)
                yield _ended(ready, job, place)

    def _task(self) -> Any:
        # Only what is no fault of the job runs again: its own errors are told by run_job().
        return ray.remote(
            num_cpus=self._resources.cpus,
            num_gpus=self._resources.gpus,
            memory=self._resources.memory,
            max_retries=RETRIES,
        )(_run_job)


class SharedGraphs:
    """Each graph is in the object store from its first job to its last.

    Args:
        jobs: All jobs that will ask for one.
        data: The folder that holds the data folders.
    """

    def __init__(self, jobs: Sequence[Job], data: Path | None) -> None:
        self._data = data
        self._left = Counter(_which(job) for job in jobs)
        self._stored: dict[str, Any] = {}

    def of(self, job: Job) -> Any:
        """A reference to the dataset of a job.

        Args:
            job: The job.
        """
        which = _which(job)
        if which not in self._stored:
            self._stored[which] = ray.put(job.load(self._data))
        return self._stored[which]

    def done(self, job: Job) -> None:
        """One job less to come.

        Args:
            job: The one that ended.
        """
        which = _which(job)
        self._left[which] -= 1
        if not self._left[which]:
            del self._stored[which]


def _which(job: Job) -> str:
    return f"{job.dataset} {sorted(job.dataset_options.items())}"


def _run_job(job: Job, loaded: LoadedDataset, out: str) -> JobEnded:
    return run_job(job, lambda: loaded, out)


def _ended(task: Any, job: Job, out: str) -> JobEnded:
    try:
        ended: JobEnded = ray.get(task)
    except ray.exceptions.RayError as error:
        return record_failure(job, f"{type(error).__name__}: {error}", out)
    return ended


def _everywhere(out: str | Path) -> str:
    # Workers have working folders of their own.
    return str(out) if "://" in str(out) else str(Path(out).absolute())
