"""Run jobs in processes on this machine; each runs one job after another and writes the records.

Workers are separate processes and not a pool: a pool breaks as a whole when one of its workers is
killed, and does not say which job that worker had.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import cast

from nodegraft.lab.benchmark.job import Job
from nodegraft.lab.datasets.templates.dataset import LoadedDataset, load_dataset
from nodegraft.lab.runners.work import JobEnded, JobEvent, JobStarted, record_failure, run_job
from nodegraft.runners.block_processes import start_child


class LocalRunner:
    """A number of processes; each loads its own graph.

    Args:
        workers: How many processes.
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
        """Run all jobs; tells when each is given away and how it ends."""
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
    """A process, and the job it has in hand.

    Args:
        data: The folder that holds the data folders.
        out: The folder for the records.
    """

    def __init__(self, data: Path | None, out: str) -> None:
        self._data, self._out = data, out
        self.job: Job | None = None
        self._start()

    def give(self, job: Job) -> Job:
        """Have it run a job."""
        if not self.process.is_alive():
            self._start()
        self.connection.send(job)
        self.job = job
        return job

    def take(self) -> JobEnded:
        """How the job ended; a process that died is the job's failure, and nobody else's."""
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
        """Whatever it is doing."""
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
