"""Overhead of a runner: 60 jobs of about a second, against the same jobs without a runner.

``python -m performance.runner_overhead`` runs the jobs in a plain pool of processes and with the
local runner, then as plain Ray tasks and with the Ray runner: two at a time, alternating.
"""

import argparse
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import torch

from nodegraft.lab.benchmark.archive import Archive
from nodegraft.lab.benchmark.job import Job
from nodegraft.lab.datasets.templates.dataset import LoadedDataset, load_dataset
from nodegraft.lab.runners.local import LocalRunner, Runner
from nodegraft.lab.runners.ray_cluster import RayRunner

WORKERS = 2
OPTIONS = {"nodes": 10_000, "classes": 20}
Run = Callable[[Sequence[Job], str], None]


def bare_job(job: Job, loaded: LoadedDataset, out: str) -> None:
    """Run a job and write its record."""
    torch.set_num_threads(1)
    Archive(out).write(job.run(loaded, job.stream(loaded)))


def load_and_run(job: Job, out: str) -> None:
    """Run a job in a process that loads the graph itself, once."""
    bare_job(job, _graph(), out)


@cache
def _graph() -> LoadedDataset:
    return load_dataset("synthetic", None, **OPTIONS)


def bare_processes(jobs: Sequence[Job], out: str) -> None:
    """Run jobs in a pool of the standard library."""
    with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn")) as pool:
        for future in [pool.submit(load_and_run, job, out) for job in jobs]:
            future.result()


def bare_ray(jobs: Sequence[Job], out: str) -> None:
    """Run jobs as Ray tasks, all submitted at once."""
    import ray  # after the runner has set up authentication

    graph, task = ray.put(jobs[0].load()), ray.remote(bare_job)
    ray.get([task.remote(job, graph, out) for job in jobs])


def with_runner(runner: Runner) -> Run:
    """Return a function that runs jobs with a runner."""

    def run(jobs: Sequence[Job], out: str) -> None:
        for event in runner.run(jobs, None, out):
            if getattr(event, "error", ""):
                raise RuntimeError(event)

    return run


def seconds(run: Run, jobs: Sequence[Job]) -> float:
    """Return the seconds of a run into an empty folder."""
    with TemporaryDirectory() as out:
        start = perf_counter()
        run(jobs, out)
        elapsed = perf_counter() - start
        records = len(list(Path(out).glob("*.json")))
        if records != len(jobs):
            raise RuntimeError(f"{records} records of {len(jobs)} jobs were written.")
    return elapsed


def main() -> None:
    """Print the time of each runner and of the jobs without it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--jobs", type=int, default=60)
    options = parser.parse_args()
    jobs = [
        Job(dataset="synthetic", method="graft", seed=seed, dataset_options=OPTIONS)
        for seed in range(options.jobs)
    ]
    with LocalRunner(WORKERS) as local:
        compare("processes", bare_processes, with_runner(local), jobs)
    with RayRunner("local", cpus=WORKERS) as cluster:
        seconds(bare_ray, jobs[:WORKERS])  # the workers import their modules
        compare("Ray", bare_ray, with_runner(cluster), jobs)


def compare(engine: str, bare: Run, runner: Run, jobs: Sequence[Job]) -> None:
    """Run the jobs twice each way, and print the sums and their ratio."""
    # In this order, so that a machine that slows down steadily favours neither.
    rounds = [seconds(run, jobs) for run in (bare, runner, runner, bare)]
    plain, ours = rounds[0] + rounds[3], rounds[1] + rounds[2]
    print(f"{engine}: bare {plain:.1f} s, runner {ours:.1f} s, x{ours / plain:.3f}", flush=True)


if __name__ == "__main__":
    main()
