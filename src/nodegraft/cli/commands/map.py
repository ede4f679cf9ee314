"""The command that draws where nodes lie for a method."""

from pathlib import Path
from typing import Annotated

import typer

from nodegraft.cli.errors import user_errors
from nodegraft.cli.options import DataRoot


@user_errors
def draw_map(
    dataset: Annotated[str, typer.Option(help="See: nodegraft lab datasets.")],
    method: Annotated[list[str], typer.Option(help="Once for each method to be shown.")],
    seed: Annotated[int, typer.Option(help="Draws the split and starts the methods.")] = 0,
    after: Annotated[int, typer.Option(help="After which session.")] = 2,
    data: DataRoot = None,
    out: Annotated[Path, typer.Option(help="Folder for the map.")] = Path("runs/maps"),
) -> None:
    """Where nodes lie for methods after some sessions; `nodegraft lab report` draws RUNS/maps."""
    import torch
    from rich.console import Console

    from nodegraft.base.files.folder import WriteOnceFolder
    from nodegraft.benchmark.job import Job
    from nodegraft.benchmark.map_points import map_points, write_map

    torch.set_num_threads(1)
    console = Console()
    jobs = [Job(dataset=dataset, method=name, seed=seed) for name in method]
    for job in jobs:
        job.make_model()  # a wrong name should not wait for the data
    WriteOnceFolder(out).check_writable()
    with console.status(f"reading {dataset}"):
        loaded = jobs[0].load(data)
    rows = []
    for job in jobs:
        with console.status(f"teaching {job.title}"):
            rows += map_points(job, loaded, after)
    place = write_map(rows, jobs[0], after, out)
    console.print(f"map: {place}", highlight=False, soft_wrap=True, markup=False)
