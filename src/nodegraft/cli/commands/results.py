"""The command that asks the records by SQL."""

from pathlib import Path
from typing import Annotated, Any

import typer

from nodegraft.cli.errors import user_errors


@user_errors
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
    """Ask the records by SQL (DuckDB); without --sql: means over seeds of strict default runs."""
    from pyarrow.types import is_string
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from nodegraft.benchmark.query import OVERVIEW, query_records  # DuckDB is an extra

    answer = query_records(runs, sql or OVERVIEW)
    if to is not None:
        _write_csv(answer, to)
        return
    table = Table(box=SIMPLE, pad_edge=False)
    for name, kind in zip(answer.column_names, answer.schema.types, strict=True):
        table.add_column(
            escape(name), justify="left" if is_string(kind) else "right", overflow="fold"
        )
    for row in answer.to_pylist():
        table.add_row(*("–" if value is None else escape(str(value)) for value in row.values()))
    Console().print(table)
    if sql is None and not answer.num_rows:
        Console().print("No record is of a strict run with default settings: ask by --sql.")


def _write_csv(answer: Any, place: Path) -> None:
    import json

    import pyarrow as pa
    from pyarrow import csv

    from nodegraft.base.errors import ParameterError

    for column, kind in enumerate(answer.schema.types):
        # A cell of CSV holds no list and no table: those are written as JSON.
        if pa.types.is_nested(kind):
            texts = [json.dumps(value) for value in answer.column(column).to_pylist()]
            answer = answer.set_column(column, answer.column_names[column], pa.array(texts))
    try:
        csv.write_csv(answer, place)
    except OSError as error:
        raise ParameterError(f"{place} cannot be written: {error}") from error
