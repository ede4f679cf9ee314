"""The command that teaches one dataset to one method and measures it."""

import json
from typing import Annotated, Any, cast

import typer

from nodegraft.cli.errors import user_errors
from nodegraft.cli.options import DataRoot, DatasetOptions, name_value_pairs


@user_errors
def run(
    dataset: Annotated[str, typer.Option(help="See: nodegraft lab datasets.")],
    method: Annotated[str, typer.Option(help="See: nodegraft lab methods.")] = "graft",
    seed: Annotated[int, typer.Option(help="Draws the split and starts the method.")] = 0,
    node_seed: Annotated[
        int | None, typer.Option(help="Draws which nodes teach; else --seed does.")
    ] = None,
    data: DataRoot = None,
    out: Annotated[str, typer.Option(help="Folder or URL for the run record.")] = "runs",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Set a parameter of the method."),
    ] = None,
    dataset_settings: DatasetOptions = None,
    ways: Annotated[int | None, typer.Option(help="New classes a session.")] = None,
    shots: Annotated[int | None, typer.Option(help="Labelled nodes a new class.")] = None,
    least_shots: Annotated[
        int | None,
        typer.Option(help="Draw the number of labels of each new class from this to --shots."),
    ] = None,
    arrival: Annotated[
        str,
        typer.Option(help="Which nodes exist when: growing, present, with-class or isolated."),
    ] = "growing",
    protocol: Annotated[
        str, typer.Option(help="'strict', or 'published' (leaky, for comparison with old papers).")
    ] = "strict",
    without: Annotated[
        list[str] | None,
        typer.Option(help="Leave out an ingredient of the published protocol."),
    ] = None,
    rehearse: Annotated[
        bool,
        typer.Option(
            "--rehearse", help="Teach the validation classes instead: to choose settings."
        ),
    ] = False,
    threads: Annotated[
        int, typer.Option(min=1, help="Threads for torch; one is usually fastest.")
    ] = 1,
    as_json: Annotated[
        bool, typer.Option("--json", help="The record on standard output, the rest on error.")
    ] = False,
) -> None:
    """Teach one dataset to one method, session by session, under the strict protocol."""
    import torch
    from rich.console import Console
    from rich.markup import escape

    from nodegraft.base.files.folder import WriteOnceFolder
    from nodegraft.base.parameters.build import read
    from nodegraft.benchmark.job import Job
    from nodegraft.benchmark.records.archive import Archive
    from nodegraft.cli.display.run import RunDisplay, summary_table
    from nodegraft.datasets.templates.dataset import REGISTRY as DATASETS
    from nodegraft.model.registry import REGISTRY as METHODS

    torch.set_num_threads(threads)
    console = Console(stderr=as_json)
    job = Job(
        dataset=dataset,
        method=method,
        seed=seed,
        node_seed=node_seed,
        parameters=read(METHODS.get(method), name_value_pairs(settings)),
        dataset_options=read(DATASETS.get(dataset), name_value_pairs(dataset_settings)),
        ways=ways,
        shots=shots,
        least_shots=least_shots,
        arrival=cast(Any, arrival),
        protocol=cast(Any, protocol),
        without=tuple(without or ()),
        rehearse=rehearse,
    )
    # What cannot work should not wait for the data, let alone for the run.
    job.make_model()
    WriteOnceFolder(out).check_writable()
    with console.status(f"reading {dataset}"):
        loaded = job.load(data)
    stream = job.stream(loaded)
    for note in loaded.notes:
        console.print(f"[yellow]note:[/] {escape(note)}", highlight=False)
    title = f"{job.title}\n{stream.split.setting}\n{arrival}, {job.protocol_name} protocol"
    with RunDisplay(console, title, len(stream)) as display:
        record = job.run(loaded, stream, display)
    place = Archive(out).write(record)
    console.print(summary_table(record.document["summary"]))
    console.print(f"record: {place}", highlight=False, soft_wrap=True, markup=False)
    if as_json:
        Console().out(json.dumps(record.document, indent=2), highlight=False)
