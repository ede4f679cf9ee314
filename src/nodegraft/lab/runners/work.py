"""What a runner does with one job, wherever it runs, and what it tells meanwhile."""

import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Protocol, Self, TypeAlias

import torch

from nodegraft.lab.benchmark.job import Job
from nodegraft.lab.benchmark.records.archive import Archive, write_failure
from nodegraft.lab.datasets.templates.dataset import LoadedDataset


@dataclass(frozen=True)
class JobStarted:
    """A worker has been given a job."""

    job: Job
    """The job."""


@dataclass(frozen=True)
class JobEnded:
    """How a job ended: with a record, or with the text of its error; both are on disk."""

    job: Job
    """The job."""

    place: str
    """Where its record or its failure is."""

    seconds: float
    """How long it took."""

    error: str = ""
    """The traceback, where it failed."""


JobEvent: TypeAlias = JobStarted | JobEnded


class Runner(Protocol):
    """Where jobs run; a context, so that what it started ends with it."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def capacity(self) -> int:
        """How many jobs can run at the same time."""

    def run(self, jobs: Sequence[Job], data: Path | None, out: str | Path) -> Iterator[JobEvent]:
        """Run all jobs; tells when each is given away and how it ends."""


def run_job(
    job: Job, load: Callable[[], LoadedDataset], out: str, data: Path | None = None
) -> JobEnded:
    """Run one job on one thread and write its record; an error is told, not raised.

    Args:
        data: Folder that holds the data folders, which a sealed method must not read.
    """
    torch.set_num_threads(1)
    started = perf_counter()
    try:
        loaded = load()
        place = Archive(out).write(job.run(loaded, job.stream(loaded), data=data))
        return JobEnded(job, place, perf_counter() - started)
    except Exception:
        return record_failure(job, traceback.format_exc(), out, perf_counter() - started)


def record_failure(job: Job, error: str, out: str, seconds: float = 0.0) -> JobEnded:
    """Put a failure on record."""
    return JobEnded(job, write_failure(out, job, error), seconds, error)
