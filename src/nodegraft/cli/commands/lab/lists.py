"""Commands of the benchmark that list methods and datasets, and describe a dataset."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from nodegraft.cli.inputs import name_value_pairs
from nodegraft.cli.options import DataRoot, DatasetSettings
from nodegraft.cli.output import command
from nodegraft.cli.render.lab import edge_types_table, statistics_table


@command
def info(
    name: Annotated[str, typer.Argument(help="Dataset; list them with: nodegraft lab datasets.")],
    data: DataRoot = None,
    dataset_settings: DatasetSettings = None,
) -> None:
    """Read a dataset and describe it."""
    from nodegraft.base.parameters.build import parse
    from nodegraft.graph.statistics.statistics import QUANTILES, describe
    from nodegraft.lab.datasets.templates.dataset import REGISTRY

    dataset = parse(REGISTRY.get(name), name_value_pairs(dataset_settings))
    console = Console()
    with console.status(f"reading {name}"):
        loaded = dataset.load(data)
        numbers = describe(loaded.graph, loaded.labels)
    console.print(f"[bold]{name}[/]: {dataset.summary}", highlight=False)
    console.print(f"from: {dataset.citation}", highlight=False)
    console.print(statistics_table(numbers, QUANTILES))
    if len(numbers.kinds) > 1:
        console.print(edge_types_table(numbers))
    console.print(f"default setting: {loaded.setting}", highlight=False)
    console.print(f"content hash: {loaded.content_hash}", highlight=False)
    for note in loaded.notes:
        console.print(f"[yellow]note:[/] {note}", highlight=False)


@command
def list_methods() -> None:
    """List all methods, their optional capabilities, and their papers."""
    from rich.box import SIMPLE
    from rich.table import Table

    from nodegraft.model.registry import REGISTRY

    table = Table("method", "what it does", "can also", "from", box=SIMPLE)
    for name in REGISTRY.names():
        method = REGISTRY.get(name)
        capabilities = ", ".join(sorted(method.capabilities()))
        table.add_row(name, method.summary, capabilities or "–", method.citation)
    Console().print(table)


@command
def list_datasets(data: DataRoot = None) -> None:
    """List all datasets, and whether their files are present."""
    from rich.box import SIMPLE
    from rich.table import Table

    from nodegraft.lab.datasets.templates.dataset import REGISTRY

    table = Table("dataset", "what it is", "files", box=SIMPLE)
    for name in REGISTRY.names():
        table.add_row(name, REGISTRY.get(name).summary, _file_status(name, data))
    Console().print(table)


def _file_status(name: str, root: Path | None) -> str:
    from nodegraft.base.errors import MissingFileError
    from nodegraft.lab.datasets.templates.dataset import REGISTRY

    dataset = REGISTRY.get(name)
    if not dataset.required_files:
        return "none needed"
    try:
        dataset().locate(root)
    except MissingFileError:
        return "missing: " + ", ".join(dataset.required_files)
    return "found"


COMMANDS = {"info": info, "methods": list_methods, "datasets": list_datasets}
