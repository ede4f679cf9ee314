"""Commands of the benchmark that list methods and datasets, and describe a dataset."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from nodegraft.cli.folder import fill_folder
from nodegraft.cli.inputs import name_value_pairs
from nodegraft.cli.options import DataRoot, DatasetSettings
from nodegraft.cli.output import Output, command
from nodegraft.cli.render.lab import (
    datasets_table,
    edge_types_table,
    methods_table,
    statistics_table,
)
from nodegraft.cli.results.lab import Dataset, DatasetInfo, Datasets, EdgeType, Method, Methods
from nodegraft.cli.terminal import Terminal


@command
def info(
    name: Annotated[str, typer.Argument(help="Dataset; list them with: nodegraft lab datasets.")],
    terminal: Terminal,
    data: DataRoot = None,
    dataset_settings: DatasetSettings = None,
    card: Annotated[
        Path | None,
        typer.Option(help="New folder for a dataset card: README.md and croissant.json."),
    ] = None,
) -> Output[DatasetInfo]:
    """Read a dataset and describe it."""
    from nodegraft.base.parameters.build import parse
    from nodegraft.graph.statistics import QUANTILES, describe
    from nodegraft.lab.datasets.templates.dataset import REGISTRY
    from nodegraft.lab.datasets.templates.dataset_card import UNKNOWN_LICENCE, dataset_card

    dataset = parse(REGISTRY.get(name), name_value_pairs(dataset_settings))
    terminal.stage(f"reading {name}")
    loaded = dataset.load(data)
    terminal.stage(f"measuring {name}")
    numbers = describe(loaded.graph, loaded.labels)
    text: list[RenderableType] = [
        Text.assemble((name, "bold"), f": {dataset.summary}"),
        f"from: {dataset.citation}",
        f"licence: {dataset.licence or UNKNOWN_LICENCE}",
        statistics_table(numbers, QUANTILES),
    ]
    if len(numbers.kinds) > 1:
        text.append(edge_types_table(numbers))
    text += [f"default setting: {loaded.setting}", f"content hash: {loaded.content_hash}"]
    text += [Text.assemble(("note:", "yellow"), f" {note}") for note in loaded.notes]
    fields = asdict(numbers)
    kinds, quantiles = fields.pop("kinds"), fields.pop("degree_quantiles")
    value = DatasetInfo(
        dataset=name,
        summary=dataset.summary,
        citation=dataset.citation,
        licence=dataset.licence,
        **fields,
        degree_quantiles=dict(zip(map(str, QUANTILES), quantiles, strict=True)),
        edge_types=[EdgeType(**kind) for kind in kinds],
        setting=asdict(loaded.setting),
        content_hash=loaded.content_hash,
        notes=list(loaded.notes),
    )
    if card is not None:
        files = dataset.locate(data) if dataset.required_files else {}
        fill_folder(card, dataset_card(type(dataset), loaded, numbers, files))
        text.append(f"Dataset card: {card}")
    return Output(value, tuple(text))


@command
def list_methods() -> Output[Methods]:
    """List all methods, their optional capabilities, and their papers."""
    from nodegraft.model.registry import REGISTRY

    classes = {name: REGISTRY.get(name) for name in REGISTRY.names()}
    methods = [
        Method(name, method.summary, sorted(method.capabilities()), method.citation)
        for name, method in classes.items()
    ]
    return Output(Methods(methods), (methods_table(methods),))


@command
def list_datasets(data: DataRoot = None) -> Output[Datasets]:
    """List all datasets, and whether their files are present."""
    from nodegraft.lab.datasets.templates.dataset import REGISTRY

    datasets = [_dataset(name, data) for name in REGISTRY.names()]
    return Output(Datasets(datasets), (datasets_table(datasets),))


def _dataset(name: str, root: Path | None) -> Dataset:
    from nodegraft.base.errors import MissingFileError
    from nodegraft.lab.datasets.templates.dataset import REGISTRY

    dataset, missing = REGISTRY.get(name), list[str]()
    try:
        if dataset.required_files:
            dataset().locate(root)
    except MissingFileError:
        missing = list(dataset.required_files)
    return Dataset(name, dataset.summary, not missing, missing)


COMMANDS = {"info": info, "methods": list_methods, "datasets": list_datasets}
