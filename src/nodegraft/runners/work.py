"""What a runner does with one job, wherever it runs, and what it tells meanwhile."""

import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Protocol, Self, TypeAlias

import torch

from nodegraft.benchmark.failures import write_failure
from nodegraft.benchmark.job import Job
from nodegraft.datasets.base import LoadedDataset


@dataclass(frozen=True)
class Started:
    """A process has been given a job."""

    job: Job


@dataclass(frozen=True)
class Ended:
    """How a job ended: with a record, or with the text of its error; both are on disk."""

    job: Job
    place: str
    seconds: float
    error: str = ""


Event: TypeAlias = Started | Ended


class Runner(Protocol):
    """Where jobs run; a context, so that what it started ends with it."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def at_once(self) -> int:
        """How many jobs can run at the same time."""

    def run(self, jobs: Sequence[Job], data: Path | None, out: str | Path) -> Iterator[Event]:
        """Run all jobs; tells when each is given away and how it ends. Records go to ``out``."""


def work(job: Job, load: Callable[[], LoadedDataset], out: str) -> Ended:
    """Run one job on one thread and write its record; an error is told, not raised."""
    torch.set_num_threads(1)
    started = perf_counter()
    try:
        loaded = load()
        place = job.run(loaded, job.stream(loaded)).write(out)
        return Ended(job, place, perf_counter() - started)
    except Exception:
        return failed(job, traceback.format_exc(), out, perf_counter() - started)


def failed(job: Job, error: str, out: str, seconds: float = 0.0) -> Ended:
    """Put a failure on record."""
    return Ended(job, write_failure(out, job, error), seconds, error)
