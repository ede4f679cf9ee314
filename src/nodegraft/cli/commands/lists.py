"""Commands that list what there is to choose from."""

from pathlib import Path

from nodegraft.cli.errors import user_errors
from nodegraft.cli.options import DataRoot


@user_errors
def list_methods() -> None:
    """Every method, what it can do, and whose it is."""
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table

    from nodegraft.model.registry import REGISTRY

    table = Table("method", "what it does", "can also", "from", box=SIMPLE)
    for name in REGISTRY.names():
        method = REGISTRY.get(name)
        abilities = ", ".join(sorted(method.capabilities()))
        table.add_row(name, method.summary, abilities or "–", method.citation)
    Console().print(table)


@user_errors
def list_datasets(data: DataRoot = None) -> None:
    """Every dataset, and whether its files are where they are looked for."""
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table

    from nodegraft.datasets.templates.dataset import REGISTRY

    table = Table("dataset", "what it is", "files", box=SIMPLE)
    for name in REGISTRY.names():
        table.add_row(name, REGISTRY.get(name).summary, _found(name, data))
    Console().print(table)


def _found(name: str, root: Path | None) -> str:
    from nodegraft.base.errors import MissingFileError
    from nodegraft.datasets.templates.dataset import REGISTRY

    dataset = REGISTRY.get(name)
    if not dataset.required_files:
        return "none needed"
    try:
        dataset().locate(root)
    except MissingFileError:
        return "missing: " + ", ".join(dataset.required_files)
    return "found"
