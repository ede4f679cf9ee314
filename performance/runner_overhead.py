"""What a runner costs: 60 jobs of about a second, against the same jobs without it.

``python performance/runner_overhead.py`` runs the jobs through a bare pool of processes and through
the local runner, then as bare Ray tasks and through the Ray runner: two at a time each, in turns.
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

JOBS, AT_ONCE = 60, 2
OPTIONS = {"nodes": 10_000, "classes": 20}
Run = Callable[[Sequence[Job], str], None]


def bare_job(job: Job, loaded: LoadedDataset, out: str) -> None:
    """What is to be done at least: run it and write the record."""
    torch.set_num_threads(1)
    Archive(out).write(job.run(loaded, job.stream(loaded)))


def load_and_run(job: Job, out: str) -> None:
    """The same in a process that reads the graph for itself, once."""
    bare_job(job, _graph(), out)


@cache
def _graph() -> LoadedDataset:
    return load_dataset("synthetic", None, **OPTIONS)


def bare_processes(jobs: Sequence[Job], out: str) -> None:
    """A pool of the standard library."""
    with ProcessPoolExecutor(AT_ONCE, mp_context=get_context("spawn")) as pool:
        for done in [pool.submit(load_and_run, job, out) for job in jobs]:
            done.result()


def bare_ray(jobs: Sequence[Job], out: str) -> None:
    """All tasks given to Ray at once."""
    import ray  # not before the runner has set its authentication

    graph, task = ray.put(jobs[0].load()), ray.remote(bare_job)
    ray.get([task.remote(job, graph, out) for job in jobs])


def through(runner: Runner) -> Run:
    """By one of ours."""

    def run(jobs: Sequence[Job], out: str) -> None:
        for event in runner.run(jobs, None, out):
            if getattr(event, "error", ""):
                raise RuntimeError(event)

    return run


def seconds(run: Run, jobs: Sequence[Job]) -> float:
    """Of one run into an empty folder."""
    with TemporaryDirectory() as out:
        began = perf_counter()
        run(jobs, out)
        took = perf_counter() - began
        if len(list(Path(out).glob("*.json"))) != len(jobs):
            raise RuntimeError("Not every job has its record.")
    return took


def main() -> None:
    """Measure and tell."""
    jobs = [
        Job(dataset="synthetic", method="graft", seed=seed, dataset_options=OPTIONS)
        for seed in range(JOBS)
    ]
    with LocalRunner(AT_ONCE) as local:
        tell("processes", *in_turns(bare_processes, through(local), jobs))
    with RayRunner("local", cpus=AT_ONCE) as cluster:
        seconds(bare_ray, jobs[:AT_ONCE])  # the workers' imports
        tell("Ray", *in_turns(bare_ray, through(cluster), jobs))


def in_turns(bare: Run, ours: Run, jobs: Sequence[Job]) -> tuple[float, float]:
    """The sum of two rounds each, so that a machine that slows down favours nobody."""
    rounds = [seconds(run, jobs) for run in (bare, ours, ours, bare)]
    return rounds[0] + rounds[3], rounds[1] + rounds[2]


def tell(engine: str, bare: float, ours: float) -> None:
    """One line."""
    print(f"{engine}: bare {bare:.1f} s, ours {ours:.1f} s, x{ours / bare:.3f}", flush=True)


if __name__ == "__main__":
    argparse.ArgumentParser(description="What a runner costs a job.").parse_args()
    main()
