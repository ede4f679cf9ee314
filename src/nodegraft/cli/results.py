"""The command that asks the records by SQL."""

from pathlib import Path
from typing import Annotated

import typer
from pyarrow import csv
from pyarrow.types import is_string
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from nodegraft.cli.guard import says_what_is_wrong


@says_what_is_wrong
def results(
    runs: Annotated[str, typer.Argument(help="Folder or URL of run records.")] = "runs",
    sql: Annotated[
        str | None,
        typer.Option(help="A query over the tables runs, sessions, classes and failures."),
    ] = None,
    to: Annotated[
        Path | None, typer.Option("--csv", help="Write the answer into this file.")
    ] = None,
) -> None:
    """Ask the records by SQL (DuckDB); else: means over seeds of strict runs as by default."""
    from nodegraft.benchmark.query import OVERVIEW, ask  # DuckDB is an extra

    answer = ask(runs, sql or OVERVIEW)
    if to is not None:
        csv.write_csv(answer, to)
        return
    table = Table(box=SIMPLE, pad_edge=False)
    for name, kind in zip(answer.column_names, answer.schema.types, strict=True):
        table.add_column(name, justify="left" if is_string(kind) else "right", overflow="fold")
    for row in answer.to_pylist():
        table.add_row(*("–" if value is None else str(value) for value in row.values()))
    Console().print(table)
