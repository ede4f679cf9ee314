"""Commands about many runs: make the tables of a suite, search for settings."""

from functools import cache
from pathlib import Path
from typing import Annotated

import torch
import typer
from rich.console import Console

from nodegraft.benchmark.job import Job
from nodegraft.benchmark.results import read_records
from nodegraft.benchmark.suite import Suite
from nodegraft.cli.display import percent
from nodegraft.cli.guard import says_what_is_wrong
from nodegraft.cli.options import DataRoot
from nodegraft.datasets.base import load_dataset
from nodegraft.report.tables import suite_tables


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
    from nodegraft.runners.search import Search, search  # Optuna is an extra of its own

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
