"""Commands of the benchmark that read run records: query, compact, tables and report."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from nodegraft.base.counting import counted
from nodegraft.base.errors import ParameterError
from nodegraft.cli.options import RecordFolder, SuiteFile
from nodegraft.cli.output import command, print_line
from nodegraft.cli.render.lab import query_table

if TYPE_CHECKING:
    import pyarrow as pa


@command
def results(
    runs: RecordFolder = "runs",
    sql: Annotated[
        str | None,
        typer.Option(help="Query over the tables runs, sessions, classes and failures."),
    ] = None,
    to: Annotated[Path | None, typer.Option("--csv", help="Write the result to this file.")] = None,
) -> None:
    """Query run records by SQL (DuckDB); without --sql: means over seeds of strict default runs."""
    from nodegraft.lab.benchmark.query import OVERVIEW, query_records  # DuckDB is an extra

    result = query_records(runs, sql or OVERVIEW)
    if to is not None:
        _write_csv(result, to)
        return
    Console().print(query_table(result))
    if sql is None and not result.num_rows:
        Console().print("There is no strict run with default settings: query others with --sql.")


@command
def compact(runs: RecordFolder = "runs") -> None:
    """Pack all run records of a dataset into one Parquet file, without changing them."""
    from nodegraft.lab.benchmark.records.archive import Archive

    archive = Archive(runs)
    names = archive.compact()
    if not names:
        raise ParameterError(
            f"There is no record in {runs}: make some with `nodegraft lab run` or `bench`."
        )
    counts = f"{counted(len(archive.documents()), 'record')} in {counted(len(names), 'file')}"
    Console().print(f"{counts}: {', '.join(names)}", highlight=False, markup=False)


@command
def table(
    suite: SuiteFile,
    runs: Annotated[str, typer.Option(help="Folder or URL of run records.")] = "runs",
) -> None:
    """Print the tables of a suite as Markdown, from its run records."""
    from nodegraft.lab.benchmark.records.archive import read_documents
    from nodegraft.lab.benchmark.suite import Suite
    from nodegraft.lab.report.tables import suite_tables

    Console().out(suite_tables(Suite.read(suite), read_documents(runs)), highlight=False)


@command
def report(
    runs: RecordFolder,
    out: Annotated[Path, typer.Option(help="Folder for the page, its tables and figures.")],
    suites: Annotated[Path, typer.Option(help="Folder of TOML suites, or one of them.")] = Path(
        "experiments"
    ),
) -> None:
    """Write a report on all run records: recommended methods, tables and figures."""
    from nodegraft.base.files.folder import WriteOnceFolder
    from nodegraft.lab.report.site import write_report  # Matplotlib is an extra of its own

    console = Console()
    WriteOnceFolder(out).check_writable()
    with console.status("making tables and drawing figures"):
        place = write_report(runs, suites, out)
    print_line(f"report: {place}", console)


def _write_csv(result: "pa.Table", place: Path) -> None:
    import pyarrow as pa
    from pyarrow import csv

    for column, kind in enumerate(result.schema.types):
        # CSV cells hold no lists or structs: write those as JSON.
        if pa.types.is_nested(kind):
            texts = [json.dumps(value) for value in result.column(column).to_pylist()]
            result = result.set_column(column, result.column_names[column], pa.array(texts))
    try:
        csv.write_csv(result, place)
    except OSError as error:
        raise ParameterError(f"{place} cannot be written: {error}") from error


COMMANDS = {"results": results, "compact": compact, "table": table, "report": report}
