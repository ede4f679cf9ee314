"""How a table or figure was made: the commands, the seeds, and how many jobs are on record."""

from collections.abc import Mapping, Sequence
from shlex import join
from typing import Any

from nodegraft.analysis.own_labels.comparison import Evaluation
from nodegraft.lab.benchmark.job import Job
from nodegraft.lab.benchmark.suite import SuiteEntry
from nodegraft.lab.report.tables.cells import range_text

FOLDERS = ("--data", "DIR", "--out", "RUNS")


def bench_command(suite: str) -> str:
    """What makes all records of a suite.

    >>> bench_command("experiments/heads.toml")
    'nodegraft lab bench experiments/heads.toml --data DIR --out RUNS'

    Args:
        suite: The path of its file.
    """
    return join(["nodegraft", "lab", "bench", suite, *FOLDERS])


def run_command(job: Job) -> str:
    """What makes the record of one job.

    >>> run_command(Job(dataset="gentoo", method="graft", seed=3))
    'nodegraft lab run --dataset gentoo --method graft --seed 3 --data DIR --out RUNS'

    Args:
        job: What is run.
    """
    arguments = ["--dataset", job.dataset, "--method", job.method, "--seed", str(job.seed)]
    arguments += _settings("--set", job.parameters) + _settings(
        "--dataset-set", job.dataset_options
    )
    if job.ways is not None:
        arguments += ["--ways", str(job.ways)]
    if job.shots is not None:
        arguments += ["--shots", str(job.shots)]
    if job.node_seed is not None:
        arguments += ["--node-seed", str(job.node_seed)]
    if job.arrival != "growing":
        arguments += ["--arrival", job.arrival]
    if job.least_shots is not None:
        arguments += ["--least-shots", str(job.least_shots)]
    if job.protocol != "strict":
        arguments += ["--protocol", job.protocol]
    for name in job.without:
        arguments += ["--without", name]
    arguments += ["--rehearse"] * job.rehearse
    return join(["nodegraft", "lab", "run", *arguments, *FOLDERS])


def evaluate_command(found: Evaluation, store: str) -> str:
    """What measures methods on a store's own labels again.

    Args:
        found: What was measured.
        store: The name of the store's folder.
    """
    arguments = [part for one in found.methods for part in ("--method", one.method)]
    arguments += ["--seeds", str(found.seeds), "--shots", str(found.plan.setting.shots)]
    return join(["nodegraft", "evaluate", store, *arguments, "--version", str(found.version)])


def seeds_text(entries: Sequence[SuiteEntry]) -> str:
    """How many seeds methods have on a dataset, from fewest to most.

    >>> job = {"dataset": "gentoo", "method": "graft"}
    >>> seeds_text([SuiteEntry("graft", Job(**job, seed=seed)) for seed in (0, 1)])
    '2 seeds'

    Args:
        entries: Those on record, at least one.
    """
    sizes = [size for found in _seeds(entries).values() for size in found]
    return f"{range_text(sizes)} seed{'s' if max(sizes) > 1 else ''}"


def seeds_by_method(entries: Sequence[SuiteEntry]) -> str:
    """The same for each method.

    >>> job = {"dataset": "gentoo", "method": "graft"}
    >>> seeds_by_method([SuiteEntry("graft", Job(**job, seed=seed)) for seed in (0, 1)])
    'graft 2'

    Args:
        entries: Those on record.
    """
    return ", ".join(f"{name} {range_text(sizes)}" for name, sizes in _seeds(entries).items())


def _seeds(entries: Sequence[SuiteEntry]) -> dict[str, list[int]]:
    """Name -> how many seeds it has, on one dataset after the other."""
    seeds: dict[str, dict[tuple[str, str], int]] = {}
    for entry in entries:
        of_name = seeds.setdefault(entry.name, {})
        place = (entry.job.dataset, entry.job.protocol)
        of_name[place] = of_name.get(place, 0) + 1
    return {name: list(found.values()) for name, found in seeds.items()}


def _settings(option: str, values: Mapping[str, Any]) -> list[str]:
    arguments = []
    for name, value in values.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        arguments += [option, f"{name}={text}"]
    return arguments
