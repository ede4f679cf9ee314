"""Jobs on this machine: processes that each run one job after another and write the records."""

import os
import signal
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection, wait
from pathlib import Path
from threading import Thread
from typing import cast

from nodegraft.benchmark.job import Job
from nodegraft.datasets.base import LoadedDataset, load_dataset
from nodegraft.runners.work import Ended, Event, Started, failed, work

# Forking a process in which torch has run is not safe.
_CONTEXT = get_context("spawn")


class LocalRunner:
    """A number of processes; each loads its own graph."""

    def __init__(self, workers: int = 1) -> None:
        self._workers = workers
        self._lanes: list[Lane] = []

    def __enter__(self) -> "LocalRunner":
        return self

    def __exit__(self, *_: object) -> None:
        for lane in self._lanes:
            lane.end()

    def at_once(self) -> int:
        """As many as there are processes."""
        return self._workers

    def processes(self) -> list[int]:
        """Their numbers."""
        return [lane.process.pid or 0 for lane in self._lanes]

    def run(self, jobs: Sequence[Job], data: Path | None, out: str | Path) -> Iterator[Event]:
        """Run all jobs; tells when each is given away and how it ends."""
        waiting = deque(jobs)
        self._lanes = [Lane(data, str(out)) for _ in range(min(self._workers, len(jobs)))]
        while True:
            for lane in self._lanes:
                if waiting and lane.job is None:
                    yield Started(lane.give(waiting.popleft()))
            busy = {lane.connection: lane for lane in self._lanes if lane.job is not None}
            if not busy:
                return
            for connection in wait(list(busy)):
                yield busy[cast(Connection, connection)].take()


class Lane:
    """A process, and the job it has in hand."""

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

    def take(self) -> Ended:
        """How the job ended; a process that died is the job's failure, and nobody else's."""
        job, self.job = self.job, None
        try:
            ended: Ended = self.connection.recv()
        except (EOFError, ConnectionError):
            self.process.join()
            code = self.process.exitcode
            error = f"The process ended with exit code {code} (-9: killed, often out of memory)."
            assert job is not None  # noqa: S101  (only a lane with a job is waited for)
            return failed(job, error, self._out)
        return ended

    def end(self) -> None:
        """Whatever it is doing."""
        self.process.terminate()
        self.process.join()

    def _start(self) -> None:
        self.connection, theirs = _CONTEXT.Pipe()
        self.process = _CONTEXT.Process(
            target=_serve, args=(theirs, self._data, self._out), daemon=True
        )
        with _deaf_to_ctrl_c():
            self.process.start()
        theirs.close()


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    # It reaches every process of a terminal, and a child inherits what is blocked from its first
    # moment on: the parent decides.
    resource_tracker.ensure_running()  # what starts it unblocks
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(connection: Connection, data: Path | None, out: str) -> None:
    Thread(target=_end_with_the_parent, daemon=True).start()
    while True:
        try:
            job = connection.recv()
        except (EOFError, ConnectionError):
            return
        options = tuple(job.dataset_options.items())
        connection.send(work(job, partial(_loaded, job.dataset, options, data), out))


def _end_with_the_parent() -> None:
    # A killed parent cannot say goodbye.
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


@lru_cache(maxsize=1)
def _loaded(name: str, options: Iterable[tuple[str, object]], data: Path | None) -> LoadedDataset:
    return load_dataset(name, data, **dict(options))
