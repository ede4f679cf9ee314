"""Runner of jobs as Ray tasks, on one machine or on many.

Each graph is put into Ray's object store once; workers map it into memory instead of reading files,
and write their own records. If a cluster node dies, its tasks are retried on other nodes.
"""

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from nodegraft.base.errors import NodegraftError
from nodegraft.base.extras import extra
from nodegraft.lab.benchmark.job import Job
from nodegraft.lab.datasets.templates.dataset import LoadedDataset
from nodegraft.lab.runners.local import JobEnded, JobEvent, JobStarted, record_failure, run_job
from nodegraft.runners.ray_connection import RETRIES, RayCluster

with extra("ray", package="ray", purpose="A Ray cluster"):
    import ray


class RayRunner(RayCluster):
    """Runner of jobs on a Ray cluster."""

    def run(self, jobs: Sequence[Job], data: Path | None, out: str | Path) -> Iterator[JobEvent]:
        """Run all jobs; yield an event when a job starts and when it ends."""
        if jobs and not self.capacity():
            raise NodegraftError(f"No node of the cluster has room for one job: {self._resources}.")
        place, graphs = _everywhere(out), SharedGraphs(jobs, data)
        waiting, running = deque(jobs), dict[Any, Job]()
        task = self._task()
        while waiting or running:
            # Queue more tasks than can run: this hides network latency and lets a cluster scale up.
            while waiting and len(running) < 2 * max(1, self.capacity()):
                job = waiting.popleft()
                running[task.remote(job, graphs.of(job), place)] = job
                yield JobStarted(job)
            for ready in ray.wait(list(running), timeout=1.0)[0]:
                job = running.pop(ready)
                graphs.done(job)
                yield _ended(ready, job, place)

    def _task(self) -> Any:
        # Ray retries only failures of the cluster, because run_job() returns errors of jobs as
        # results.
        return ray.remote(
            num_cpus=self._resources.cpus,
            num_gpus=self._resources.gpus,
            memory=self._resources.memory,
            max_retries=RETRIES,
        )(_run_job)


class SharedGraphs:
    """Datasets in Ray's object store; each is stored from its first job to its last job.

    Args:
        jobs: All jobs that will be run.
        data: Folder that holds the data folders.
    """

    def __init__(self, jobs: Sequence[Job], data: Path | None) -> None:
        self._data = data
        self._remaining_jobs = Counter(_which(job) for job in jobs)
        self._stored: dict[str, Any] = {}

    def of(self, job: Job) -> Any:
        """Return a Ray reference to a job's dataset, which is stored before its first job."""
        which = _which(job)
        if which not in self._stored:
            self._stored[which] = ray.put(job.load(self._data))
        return self._stored[which]

    def done(self, job: Job) -> None:
        """Release the dataset of an ended job if no other job needs it."""
        which = _which(job)
        self._remaining_jobs[which] -= 1
        if not self._remaining_jobs[which]:
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
    # Make the path absolute, because workers have other working folders.
    return str(out) if "://" in str(out) else str(Path(out).absolute())
