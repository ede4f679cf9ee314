"""Commands about what was measured: a report of many runs, a map of what two methods see."""

from pathlib import Path
from typing import Annotated

import torch
import typer
from rich.console import Console

from nodegraft.benchmark.job import Job
from nodegraft.cli.guard import says_what_is_wrong
from nodegraft.cli.options import DataRoot
from nodegraft.report.embedding_points import map_points, write_map


@says_what_is_wrong
def report(
    runs: Annotated[Path, typer.Argument(help="Folder of run records.")],
    out: Annotated[Path, typer.Option(help="Folder for the page, its tables and figures.")],
    suites: Annotated[Path, typer.Option(help="A folder of TOML suites, or one of them.")] = Path(
        "experiments"
    ),
) -> None:
    """One page about all that is on record: which method to use, tables, figures."""
    from nodegraft.report.site import write_report  # Matplotlib is an extra of its own

    console = Console()
    with console.status("making tables and drawing figures"):
        place = write_report(runs, suites, out)
    console.print(f"report: {place}", highlight=False, soft_wrap=True)


@says_what_is_wrong
def draw_map(
    dataset: Annotated[str, typer.Option(help="See: nodegraft list datasets.")],
    method: Annotated[list[str], typer.Option(help="Once for each method to be shown.")],
    seed: Annotated[int, typer.Option(help="Draws the split and starts the methods.")] = 0,
    after: Annotated[int, typer.Option(help="After which session.")] = 2,
    data: DataRoot = None,
    out: Annotated[Path, typer.Option(help="Folder for the map.")] = Path("runs/maps"),
) -> None:
    """Where nodes lie for methods after some sessions; `nodegraft report` draws RUNS/maps."""
    torch.set_num_threads(1)
    console = Console()
    jobs = [Job(dataset=dataset, method=name, seed=seed) for name in method]
    for job in jobs:
        job.model()  # a wrong name should not wait for the data
    with console.status(f"reading {dataset}"):
        loaded = jobs[0].load(data)
    rows = []
    for job in jobs:
        with console.status(f"teaching {job.title}"):
            rows += map_points(job, loaded, after)
    place = write_map(rows, jobs[0], after, out)
    console.print(f"map: {place}", highlight=False, soft_wrap=True)
