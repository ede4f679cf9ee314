"""Commands about many runs: run a suite, make its tables, search for settings."""

from functools import cache
from pathlib import Path
from typing import Annotated

import torch
import typer
from rich.console import Console

from nodegraft.base.errors import NodegraftError, ParameterError
from nodegraft.benchmark.job import Job
from nodegraft.benchmark.results import read_records
from nodegraft.benchmark.suite import Suite
from nodegraft.cli.display import percent
from nodegraft.cli.guard import says_what_is_wrong
from nodegraft.cli.options import DataRoot
from nodegraft.datasets.base import load_dataset
from nodegraft.report.tables import suite_tables
from nodegraft.runners.local import run_jobs


@says_what_is_wrong
def bench(
    suite: Annotated[Path, typer.Argument(help="A TOML file; see experiments/.")],
    data: DataRoot = None,
    out: Annotated[Path, typer.Option(help="Folder for the run records.")] = Path("runs"),
    workers: Annotated[int, typer.Option(help="How many processes run jobs.")] = 1,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what is left.")] = False,
) -> None:
    """Run every job of a suite that has no record yet; stop and start it at will."""
    wanted = Suite.read(suite)
    left = [entry.job for entry in wanted.missing(read_records(out))]
    console = Console()
    done = len(wanted.entries) - len(left)
    console.print(f"{wanted.title}: {len(left)} jobs to do, {done} of {len(wanted.entries)} done")
    if dry_run:
        return
    failed = 0
    for number, outcome in enumerate(run_jobs(left, data, out, workers), start=1):
        failed += bool(outcome.error)
        ending = outcome.error or str(outcome.record)
        line = f"{number}/{len(left)} {outcome.job.title}, {outcome.job.protocol_name}: {ending}"
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    if failed:
        raise ParameterError(f"{failed} jobs failed; the same command tries them again.")


@says_what_is_wrong
def table(
    suite: Annotated[Path, typer.Argument(help="A TOML file; see experiments/.")],
    runs: Annotated[Path, typer.Option(help="Folder of run records.")] = Path("runs"),
) -> None:
    """The tables of a suite, in Markdown, from its run records."""
    typer.echo(suite_tables(Suite.read(suite), read_records(runs)))


@says_what_is_wrong
def tune(
    plan: Annotated[Path, typer.Argument(help="A TOML file; see experiments/search/.")],
    data: DataRoot = None,
) -> None:
    """Choose a method's fields on validation classes; trials and the best are kept beside PLAN."""
    try:
        # Optuna is an extra of its own.
        from nodegraft.runners.search import Search, search
    except ModuleNotFoundError as error:
        raise NodegraftError(str(error)) from error
    torch.set_num_threads(1)
    wanted, console = Search.read(plan), Console()

    load = cache(lambda name: load_dataset(name, data))  # once, not for every trial

    def judge(job: Job) -> float:
        loaded = load(job.dataset)
        summary = job.run(loaded, job.stream(loaded)).document["summary"]
        return float(summary["harmonic_mean"])

    for trial in search(wanted, plan.with_suffix(".json"), judge):
        values = ", ".join(f"{name}={value}" for name, value in trial.parameters.items())
        console.print(f"{percent(trial.score)}  {values}", highlight=False)
    console.print(f"trials: {plan.with_suffix('.json')}", highlight=False, soft_wrap=True)
