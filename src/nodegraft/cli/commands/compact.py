"""The command that puts loose records together."""

from typing import Annotated

import typer

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
    count = len(archive.documents())
    Console().print(f"{count} records in {len(names)} files: {', '.join(names)}", highlight=False)
