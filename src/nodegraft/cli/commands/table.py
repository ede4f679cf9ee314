"""The command that makes the tables of a suite."""

from pathlib import Path
from typing import Annotated

import typer

from nodegraft.cli.errors import user_errors


@user_errors
def table(
    suite: Annotated[Path, typer.Argument(help="A TOML file; see experiments/.")],
    runs: Annotated[str, typer.Option(help="Folder or URL of run records.")] = "runs",
) -> None:
    """The tables of a suite, in Markdown, from its run records."""
    from rich.console import Console

    from nodegraft.benchmark.records.archive import read_documents
    from nodegraft.benchmark.suite import Suite
    from nodegraft.report.tables.catalogue import suite_tables

    Console().out(suite_tables(Suite.read(suite), read_documents(runs)), highlight=False)
