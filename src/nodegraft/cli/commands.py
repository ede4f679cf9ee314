"""The commands: parse, call, draw."""

import json
from pathlib import Path
from typing import Annotated, cast

import torch
import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from nodegraft.base.errors import MissingFileError, ParameterError
from nodegraft.base.parameters import parse, read
from nodegraft.benchmark.job import Job
from nodegraft.cli.bench import bench
from nodegraft.cli.display import RunDisplay, percent, summary_table
from nodegraft.cli.guard import says_what_is_wrong
from nodegraft.cli.options import DataRoot, DatasetOptions
from nodegraft.cli.reports import draw_map, report
from nodegraft.cli.results import results
from nodegraft.cli.suites import table, tune
from nodegraft.datasets.base import REGISTRY as DATASETS
from nodegraft.graph.statistics import QUANTILES, Statistics, describe
from nodegraft.graph.stream import Arrival
from nodegraft.methods.base import REGISTRY as METHODS

app = typer.Typer(
    help="Teach a graph model new classes from a handful of labelled nodes.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
listing = typer.Typer(help="What is there to choose from.", no_args_is_help=True)
data = typer.Typer(help="Look at datasets.", no_args_is_help=True)
app.add_typer(listing, name="list")
app.add_typer(data, name="data")


@app.command()
@says_what_is_wrong
def run(
    dataset: Annotated[str, typer.Option(help="See: nodegraft list datasets.")],
    method: Annotated[str, typer.Option(help="See: nodegraft list methods.")] = "graft",
    seed: Annotated[int, typer.Option(help="Draws the split and starts the method.")] = 0,
    data: DataRoot = None,
    out: Annotated[Path, typer.Option(help="Folder for the run record.")] = Path("runs"),
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Set a field of the method."),
    ] = None,
    dataset_settings: DatasetOptions = None,
    ways: Annotated[int | None, typer.Option(help="New classes a session.")] = None,
    shots: Annotated[int | None, typer.Option(help="Labelled nodes a new class.")] = None,
    arrival: Annotated[
        str, typer.Option(help="'with-class' (nodes come with their class) or 'present'.")
    ] = "with-class",
    protocol: Annotated[
        str, typer.Option(help="'strict', or 'published' (leaky, for comparison with old papers).")
    ] = "strict",
    rehearse: Annotated[
        bool,
        typer.Option(
            "--rehearse", help="Teach the validation classes instead: to choose settings."
        ),
    ] = False,
    threads: Annotated[int, typer.Option(help="Threads for torch; one is usually fastest.")] = 1,
    as_json: Annotated[
        bool, typer.Option("--json", help="The record on standard output, the rest on error.")
    ] = False,
) -> None:
    """Teach one dataset to one method, session by session, and measure it honestly."""
    torch.set_num_threads(threads)
    console = Console(stderr=as_json)
    job = Job(
        dataset=dataset,
        method=method,
        seed=seed,
        parameters=read(METHODS.get(method), _pairs(settings)),
        dataset_options=read(DATASETS.get(dataset), _pairs(dataset_settings)),
        ways=ways,
        shots=shots,
        arrival=cast(Arrival, arrival),
        protocol=protocol,
        rehearse=rehearse,
    )
    job.model()  # a wrong setting should not wait for the data
    with console.status(f"reading {dataset}"):
        loaded = job.load(data)
    stream = job.stream(loaded)
    for note in loaded.notes:
        console.print(f"[yellow]note:[/] {note}", highlight=False)
    title = f"{job.title}\n{stream.split.setting}\n{arrival}, {job.protocol_name} protocol"
    with RunDisplay(console, title, len(stream)) as display:
        record = job.run(loaded, stream, display)
    place = record.write(out)
    console.print(summary_table(record.document["summary"]))
    console.print(f"record: {place}", highlight=False, soft_wrap=True)
    if as_json:
        typer.echo(json.dumps(record.document, indent=2))


for command in (bench, results, table, report, tune):
    app.command()(command)
app.command("map")(draw_map)


@listing.command("methods")
@says_what_is_wrong
def list_methods() -> None:
    """Every method, what it can do, and whose it is."""
    table = Table("method", "what it does", "can also", "from", box=SIMPLE)
    for name in METHODS.names():
        method = METHODS.get(name)
        abilities = ", ".join(sorted(method.capabilities()))
        table.add_row(name, method.summary, abilities or "–", method.citation)
    Console().print(table)


@listing.command("datasets")
@says_what_is_wrong
def list_datasets(data: DataRoot = None) -> None:
    """Every dataset, and whether its files are where they are looked for."""
    table = Table("dataset", "what it is", "files", box=SIMPLE)
    for name in DATASETS.names():
        table.add_row(name, DATASETS.get(name).summary, _found(name, data))
    Console().print(table)


@data.command("info")
@says_what_is_wrong
def info(
    name: Annotated[str, typer.Argument(help="See: nodegraft list datasets.")],
    data: DataRoot = None,
    dataset_settings: DatasetOptions = None,
) -> None:
    """Read a dataset and describe it."""
    dataset = parse(DATASETS.get(name), _pairs(dataset_settings))
    console = Console()
    with console.status(f"reading {name}"):
        loaded = dataset.load(data)
        numbers = describe(loaded.graph, loaded.labels)
    console.print(f"[bold]{name}[/]: {dataset.summary}", highlight=False)
    console.print(f"from: {dataset.citation}", highlight=False)
    console.print(_statistics_table(numbers))
    console.print(f"default setting: {loaded.setting}", highlight=False)
    console.print(f"content hash: {loaded.content_hash}", highlight=False)
    for note in loaded.notes:
        console.print(f"[yellow]note:[/] {note}", highlight=False)


def _statistics_table(numbers: Statistics) -> Table:
    table = Table.grid(padding=(0, 2))
    degrees = " ".join(str(value) for value in numbers.degree_quantiles)
    marks = "/".join(f"{100 * quantile:.0f}" for quantile in QUANTILES)
    rows = {
        "nodes": f"{numbers.nodes:,} ({numbers.isolated:,} without an edge)",
        "undirected edges": f"{numbers.edges:,}",
        "features": f"{numbers.features:,} ({numbers.features_per_node:.1f} stored a node)",
        "classes": f"{numbers.classes} (sizes: smallest {numbers.smallest_class:,}, "
        f"median {numbers.median_class:,}, largest {numbers.largest_class:,})",
        "edges inside a class": f"{percent(numbers.homophily)} "
        f"(adjusted for chance: {percent(numbers.adjusted_homophily)})",
        f"degrees at {marks} %": degrees,
    }
    for name, value in rows.items():
        table.add_row(name, value)
    return table


def _found(name: str, root: Path | None) -> str:
    dataset = DATASETS.get(name)
    if not dataset.wanted:
        return "none needed"
    try:
        dataset().locate(root)
    except MissingFileError:
        return "missing: " + ", ".join(dataset.wanted)
    return "found"


def _pairs(settings: list[str] | None) -> dict[str, str]:
    pairs = {}
    for setting in settings or []:
        name, equals, value = setting.partition("=")
        if not equals:
            raise ParameterError(f"{setting!r} must look like name=value.")
        pairs[name.strip().replace("-", "_")] = value.strip()
    return pairs
