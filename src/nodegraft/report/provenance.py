"""How a table or figure was made: the commands, the seeds, and how many jobs are on record."""

from collections.abc import Mapping, Sequence
from shlex import join
from typing import Any

from nodegraft.benchmark.job import Job
from nodegraft.benchmark.suite import Entry

FOLDERS = ("--data", "DIR", "--out", "RUNS")


def bench_command(suite: str) -> str:
    """What makes all records of a suite.

    >>> bench_command("experiments/leak.toml")
    'nodegraft bench experiments/leak.toml --data DIR --out RUNS'
    """
    return join(["nodegraft", "bench", suite, *FOLDERS])


def run_command(job: Job) -> str:
    """What makes the record of one job.

    >>> run_command(Job(dataset="gentoo", method="graft", seed=3, parameters={"walks": False}))
    'nodegraft run --dataset gentoo --method graft --seed 3 --set walks=false --data DIR --out RUNS'
    """
    words = ["--dataset", job.dataset, "--method", job.method, "--seed", str(job.seed)]
    words += _settings("--set", job.parameters) + _settings("--dataset-set", job.dataset_options)
    if job.ways is not None:
        words += ["--ways", str(job.ways)]
    if job.shots is not None:
        words += ["--shots", str(job.shots)]
    if job.arrival != "with-class":
        words += ["--arrival", job.arrival]
    if job.protocol != "strict":
        words += ["--protocol", job.protocol]
    words += ["--rehearse"] * job.rehearse
    return join(["nodegraft", "run", *words, *FOLDERS])


def seeds_told(entries: Sequence[Entry]) -> str:
    """How many seeds the methods have, counted on their datasets.

    >>> job = {"dataset": "gentoo", "method": "graft"}
    >>> seeds_told([Entry("graft", Job(**job, seed=seed)) for seed in (0, 1)])
    '2 seeds'
    """
    seeds: dict[tuple[str, str], set[int]] = {}
    for entry in entries:
        seeds.setdefault((entry.job.dataset, entry.name), set()).add(entry.job.seed)
    sizes = sorted({len(found) for found in seeds.values()})
    if not sizes:
        return "no seeds"
    count = str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    return f"{count} seed{'s' if sizes[-1] > 1 else ''}"


def _settings(option: str, values: Mapping[str, Any]) -> list[str]:
    words = []
    for name, value in values.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        words += [option, f"{name}={text}"]
    return words
