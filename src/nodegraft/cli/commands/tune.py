"""The command that chooses hyper-parameters on validation classes."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nodegraft.cli.errors import user_errors
from nodegraft.cli.options import DataRoot

if TYPE_CHECKING:
    from nodegraft.benchmark.job import Job


@user_errors
def tune(
    plan: Annotated[Path, typer.Argument(help="A TOML file; see experiments/search/.")],
    data: DataRoot = None,
) -> None:
    """Choose a method's parameters on validation classes, dataset by dataset.

    Trials are kept beside PLAN, and a search goes on where it was cut.
    """
    import torch
    from rich.console import Console

    from nodegraft.base.files.folder import WriteOnceFolder
    from nodegraft.cli.display.run import percent
    from nodegraft.datasets.templates.dataset import load_dataset
    from nodegraft.runners.search import Search, search

    torch.set_num_threads(1)
    wanted, console = Search.read(plan), Console()
    WriteOnceFolder(plan.parent).check_writable()

    load = cache(lambda name: load_dataset(name, data))  # once, not for every trial

    def score(job: "Job") -> float:
        loaded = load(job.dataset)
        summary = job.run(loaded, job.stream(loaded)).document["summary"]
        return float(summary["harmonic_mean"])

    for dataset, trial in search(wanted, plan.with_suffix(".json"), score):
        values = ", ".join(f"{name}={value}" for name, value in trial.parameters.items())
        said = f"{dataset}  {percent(trial.score)}  {values}"
        console.print(said, highlight=False, markup=False)
    console.print(f"trials: {plan.with_suffix('.json')}", highlight=False, soft_wrap=True)
