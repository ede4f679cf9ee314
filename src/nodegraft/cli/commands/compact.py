"""The command that puts loose records together."""

from typing import Annotated

import typer

from nodegraft.base.counting import counted
from nodegraft.base.errors import ParameterError
from nodegraft.cli.errors import user_errors


@user_errors
def compact(
    runs: Annotated[str, typer.Argument(help="Folder or URL of run records.")] = "runs",
) -> None:
    """Put all records of a dataset into one Parquet file; what they say stays the same."""
    from rich.console import Console

    from nodegraft.benchmark.records.archive import Archive

    archive = Archive(runs)
    names = archive.compact()
    if not names:
        raise ParameterError(f"No record in {runs}: `nodegraft lab bench` or `run` makes them.")
    said = f"{counted(len(archive.documents()), 'record')} in {counted(len(names), 'file')}"
    Console().print(f"{said}: {', '.join(names)}", highlight=False, markup=False)
