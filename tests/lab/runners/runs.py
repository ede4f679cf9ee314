"""Small jobs, and how two runners' records are compared."""

from pathlib import Path
from typing import Any

from nodegraft.lab.benchmark.archive import read_documents
from nodegraft.lab.benchmark.job import Job
from nodegraft.lab.benchmark.record import comparable
from nodegraft.lab.runners.local import JobEnded, Runner

SMALL = {"nodes": 300, "classes": 8}


def job(seed: int = 0, method: str = "sgc-mean", **parameters: int) -> Job:
    return Job(
        dataset="synthetic",
        method=method,
        seed=seed,
        parameters=parameters,
        dataset_options=SMALL,
    )


def ended(runner: Runner, jobs: list[Job], out: str | Path) -> list[JobEnded]:
    with runner:
        return [event for event in runner.run(jobs, None, out) if isinstance(event, JobEnded)]


def contents(out: str | Path) -> list[dict[str, Any]]:
    """All that a record says but for clocks and versions."""
    return [comparable(record) for record in read_documents(out)]
