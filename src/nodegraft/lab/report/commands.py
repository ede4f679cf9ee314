"""Commands that reproduce the numbers of a report."""

from shlex import join

from nodegraft.analysis.own_labels.comparison import Evaluation
from nodegraft.lab.benchmark.job import Job

FOLDERS = ("--data", "DIR", "--out", "RUNS")


def bench_command(suite: str) -> str:
    """Return the command that makes all records of a suite.

    >>> bench_command("experiments/heads.toml")
    'nodegraft lab bench experiments/heads.toml --data DIR --out RUNS'
    """
    return join(["nodegraft", "lab", "bench", suite, *FOLDERS])


def run_command(job: Job) -> str:
    """Return the command that makes the record of one job.

    >>> run_command(Job(dataset="gentoo", method="graft", seed=3))
    'nodegraft lab run --dataset gentoo --method graft --seed 3 --data DIR --out RUNS'
    """
    options: list[tuple[str, object]] = [
        ("--dataset", job.dataset),
        ("--method", job.method),
        ("--seed", job.seed),
        *(("--set", f"{name}={_text(value)}") for name, value in job.parameters.items()),
        *(
            ("--dataset-set", f"{name}={_text(value)}")
            for name, value in job.dataset_options.items()
        ),
        ("--ways", job.ways),
        ("--shots", job.shots),
        ("--node-seed", job.node_seed),
        ("--arrival", None if job.arrival == "growing" else job.arrival),
        ("--least-shots", job.least_shots),
        ("--protocol", None if job.protocol == "strict" else job.protocol),
        *(("--without", name) for name in job.without),
    ]
    given = [
        text for option, value in options if value is not None for text in (option, str(value))
    ]
    return join(["nodegraft", "lab", "run", *given, *["--rehearse"] * job.rehearse, *FOLDERS])


def evaluate_command(evaluation: Evaluation, store: str) -> str:
    """Return the command that compares methods on a store's own labels again."""
    arguments = [part for one in evaluation.methods for part in ("--method", one.method)]
    arguments += ["--seeds", str(evaluation.seeds), "--shots", str(evaluation.plan.setting.shots)]
    return join(["nodegraft", "evaluate", store, *arguments, "--version", str(evaluation.version)])


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
