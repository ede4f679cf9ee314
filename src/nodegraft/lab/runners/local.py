"""Runners of jobs: one job in this process, or many in worker processes on this machine.

Each worker is a separate process, without a process pool: if a worker of a pool is killed, the
whole pool breaks and does not report which job this worker had.
"""

import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from multiprocessing.connection import Connection, wait
from pathlib import Path
from time import perf_counter
from typing import Protocol, Self, TypeAlias, cast

import torch

from nodegraft.lab.benchmark.archive import Archive, write_failure
from nodegraft.lab.benchmark.job import Job
from nodegraft.lab.datasets.templates.dataset import LoadedDataset, load_dataset
from nodegraft.runners.block_processes import start_child


@dataclass(frozen=True)
class JobStarted:
    """Event of a runner: a worker starts a job."""

    job: Job
    """Job that starts."""


@dataclass(frozen=True)
class JobEnded:
    """Event of a runner: a job ended with a record or an error, which is stored on disk."""

    job: Job
    """Job that ended."""

    place: str
    """Path of the record, or of the record of the failure."""

    seconds: float
    """Duration of the job in seconds."""

    error: str = ""
    """Traceback if the job failed; otherwise empty."""


JobEvent: TypeAlias = JobStarted | JobEnded


class Runner(Protocol):
    """Context manager that runs jobs; on exit it ends the processes that it started."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def capacity(self) -> int:
        """Return the number of jobs that can run at the same time."""

    def run(self, jobs: Sequence[Job], data: Path | None, out: str | Path) -> Iterator[JobEvent]:
        """Run all jobs; yield an event when a job starts and when it ends."""


def run_job(
    job: Job, load: Callable[[], LoadedDataset], out: str, data: Path | None = None
) -> JobEnded:
    """Run a job on a single thread and write its record; errors are returned, not raised."""
    torch.set_num_threads(1)
    started = perf_counter()
    try:
        loaded = load()
        place = Archive(out).write(job.run(loaded, job.stream(loaded), data=data))
        return JobEnded(job, place, perf_counter() - started)
    except Exception:
        return record_failure(job, traceback.format_exc(), out, perf_counter() - started)


def record_failure(job: Job, error: str, out: str, seconds: float = 0.0) -> JobEnded:
    """Write the record of a failed job and return the event of its end."""
    return JobEnded(job, write_failure(out, job, error), seconds, error)


class LocalRunner:
    """Runner of jobs in worker processes on this machine; each loads its own graph.

    Args:
        workers: Number of worker processes.
    """

    def __init__(self, workers: int = 1) -> None:
        self._count = workers
        self._workers: list[Worker] = []

    def __enter__(self) -> "LocalRunner":
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.end()

    def capacity(self) -> int:
        """Return the number of worker processes."""
        return self._count

    def processes(self) -> list[int]:
        """Return the process ids of the workers."""
        return [worker.process.pid or 0 for worker in self._workers]

    def run(self, jobs: Sequence[Job], data: Path | None, out: str | Path) -> Iterator[JobEvent]:
        """Run all jobs; yield an event when a job starts and when it ends."""
        waiting = deque(jobs)
        self._workers = [Worker(data, str(out)) for _ in range(min(self._count, len(jobs)))]
        while True:
            for worker in self._workers:
                if waiting and worker.job is None:
                    yield JobStarted(worker.give(waiting.popleft()))
            busy = {worker.connection: worker for worker in self._workers if worker.job is not None}
            if not busy:
                return
            for connection in wait(list(busy)):
                yield busy[cast(Connection, connection)].take()


class Worker:
    """Worker process, and the job that it runs.

    Args:
        data: Folder that holds the data folders.
        out: Path or URL of the folder of records.
    """

    def __init__(self, data: Path | None, out: str) -> None:
        self._data, self._out = data, out
        self.job: Job | None = None
        self._start()

    def give(self, job: Job) -> Job:
        """Send a job to the worker process, which is restarted if it has died."""
        if not self.process.is_alive():
            self._start()
        self.connection.send(job)
        self.job = job
        return job

    def take(self) -> JobEnded:
        """Return the event of the end of the job; if the process died, the job has failed."""
        job, self.job = self.job, None
        try:
            ended: JobEnded = self.connection.recv()
        except (EOFError, ConnectionError):
            self.process.join()
            code = self.process.exitcode
            error = f"The process ended with exit code {code} (-9: killed, often out of memory)."
            assert job is not None  # noqa: S101  (only a worker with a job is waited for)
            return record_failure(job, error, self._out)
        return ended

    def end(self) -> None:
        """Terminate the worker process, even while it runs a job."""
        self.process.terminate()
        self.process.join()

    def _start(self) -> None:
        self.process, self.connection = start_child(_serve, self._data, self._out)


def _serve(connection: Connection, data: Path | None, out: str) -> None:
    while True:
        try:
            job = connection.recv()
        except (EOFError, ConnectionError):
            return
        options = tuple(job.dataset_options.items())
        connection.send(run_job(job, partial(_loaded, job.dataset, options, data), out, data))


@lru_cache(maxsize=1)
def _loaded(name: str, options: Iterable[tuple[str, object]], data: Path | None) -> LoadedDataset:
    return load_dataset(name, data, **dict(options))
