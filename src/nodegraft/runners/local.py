"""Jobs on this machine: processes that each write their own records."""

import traceback
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path

import torch

from nodegraft.benchmark.job import Job
from nodegraft.datasets.base import LoadedDataset, load_dataset


@dataclass(frozen=True)
class Outcome:
    """How a job ended: with a record, or with the text of its error."""

    job: Job
    record: Path | None
    error: str = ""


def run_jobs(
    jobs: Sequence[Job], data: Path | None, out: Path, workers: int = 1
) -> Iterator[Outcome]:
    """Run all jobs, each in one of ``workers`` processes; outcomes come as they end."""
    # Forking a process in which torch has run is not safe.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        futures = [pool.submit(run_job, job, data, out) for job in jobs]
        for future in as_completed(futures):
            yield future.result()


def run_job(job: Job, data: Path | None, out: Path) -> Outcome:
    """Run one job on one thread and write its record; an error is told, not raised."""
    torch.set_num_threads(1)
    try:
        loaded = _loaded(job.dataset, tuple(job.dataset_options.items()), data)
        return Outcome(job, job.run(loaded, job.stream(loaded)).write(out))
    except Exception:
        return Outcome(job, None, traceback.format_exc())


@lru_cache(maxsize=1)
def _loaded(name: str, options: Iterable[tuple[str, object]], data: Path | None) -> LoadedDataset:
    return load_dataset(name, data, **dict(options))
