"""The command that describes a dataset."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from nodegraft.cli.errors import user_errors
from nodegraft.cli.options import DataRoot, DatasetOptions, name_value_pairs

if TYPE_CHECKING:
    from nodegraft.graph.statistics import GraphStatistics


@user_errors
def info(
    name: Annotated[str, typer.Argument(help="See: nodegraft lab datasets.")],
    data: DataRoot = None,
    dataset_settings: DatasetOptions = None,
) -> None:
    """Read a dataset and describe it."""
    from rich.console import Console

    from nodegraft.base.parameters.build import parse
    from nodegraft.datasets.templates.dataset import REGISTRY
    from nodegraft.graph.statistics import describe

    dataset = parse(REGISTRY.get(name), name_value_pairs(dataset_settings))
    console = Console()
    with console.status(f"reading {name}"):
        loaded = dataset.load(data)
        numbers = describe(loaded.graph, loaded.labels)
    console.print(f"[bold]{name}[/]: {dataset.summary}", highlight=False)
    console.print(f"from: {dataset.citation}", highlight=False)
    console.print(_statistics_table(numbers))
    if len(numbers.kinds) > 1:
        console.print(_kinds_table(numbers))
    console.print(f"default setting: {loaded.setting}", highlight=False)
    console.print(f"content hash: {loaded.content_hash}", highlight=False)
    for note in loaded.notes:
        console.print(f"[yellow]note:[/] {note}", highlight=False)


def _statistics_table(numbers: "GraphStatistics") -> Table:
    from nodegraft.cli.display.run import percent
    from nodegraft.graph.statistics import QUANTILES

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


def _kinds_table(numbers: "GraphStatistics") -> Table:
    from rich.box import SIMPLE

    from nodegraft.cli.display.run import percent

    table = Table(box=SIMPLE, pad_edge=False)
    for heading in ("kind of edges", "edges", "direction", "weights", "inside a class", "adjusted"):
        is_number = heading in ("edges", "inside a class", "adjusted")
        table.add_column(heading, justify="right" if is_number else "left")
    for kind in numbers.kinds:
        table.add_row(
            escape(kind.name),
            f"{kind.edges:,}",
            "yes" if kind.directed else "no",
            "yes" if kind.weighted else "no",
            percent(kind.homophily),
            percent(kind.adjusted_homophily),
        )
    return table
