"""Commands of the benchmark that read run records: query, compact, tables and report."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType

from nodegraft.base.counting import counted
from nodegraft.base.errors import ParameterError
from nodegraft.cli.options import RecordFolder, SuiteFile
from nodegraft.cli.output import Output, command
from nodegraft.cli.render.lab import query_table
from nodegraft.cli.results.lab import Compacted, Page, QueryResult, SuiteTables
from nodegraft.cli.terminal import Terminal, line


@command
def results(
    terminal: Terminal,
    runs: RecordFolder = "runs",
    sql: Annotated[
        str | None,
        typer.Option(help="Query over the tables runs, sessions, classes and failures."),
    ] = None,
) -> Output[QueryResult]:
    """Query run records by SQL (DuckDB); without --sql: means over seeds of strict default runs."""
    from nodegraft.lab.benchmark.query import OVERVIEW, query_records  # DuckDB is an extra

    terminal.stage(f"reading records in {runs}")
    found = query_records(runs, sql or OVERVIEW)
    text: tuple[RenderableType, ...] = (query_table(found),)
    if sql is None and not found.num_rows:
        text += ("There is no strict run with default settings: query others with --sql.",)
    rows = [] if terminal.format == "table" else found.to_pylist()
    return Output(QueryResult(rows), text, tables=[found])


@command
def compact(terminal: Terminal, runs: RecordFolder = "runs") -> Output[Compacted]:
    """Pack all run records of a dataset into one Parquet file, without changing them."""
    from nodegraft.lab.benchmark.archive import Archive

    archive = Archive(runs)
    terminal.stage("packing records")
    names = archive.compact()
    if not names:
        raise ParameterError(
            f"There is no record in {runs}: make some with `nodegraft lab run` or `bench`."
        )
    value = Compacted(len(archive.documents()), list(names))
    counts = f"{counted(value.records, 'record')} in {counted(len(names), 'file')}"
    return Output(value, (f"{counts}: {', '.join(names)}",))


@command
def table(
    suite: SuiteFile,
    terminal: Terminal,
    runs: Annotated[str, typer.Option(help="Folder or URL of run records.")] = "runs",
) -> Output[SuiteTables]:
    """Print the tables of a suite as Markdown, from its run records."""
    from nodegraft.lab.benchmark.archive import read_documents
    from nodegraft.lab.benchmark.suite import Suite
    from nodegraft.lab.report.tables import suite_tables

    terminal.stage("making tables")
    text = suite_tables(Suite.read(suite), read_documents(runs))
    return Output(SuiteTables(text), (line(text),))


@command
def report(
    runs: RecordFolder,
    out: Annotated[Path, typer.Option(help="Folder for the page, its tables and figures.")],
    terminal: Terminal,
    suites: Annotated[Path, typer.Option(help="Folder of TOML suites, or one of them.")] = Path(
        "experiments"
    ),
) -> Output[Page]:
    """Write a report on all run records: recommended methods, tables and figures."""
    from nodegraft.base.files.folder import WriteOnceFolder
    from nodegraft.lab.report.page import write_report  # Matplotlib is an extra of its own

    WriteOnceFolder(out).check_writable()
    terminal.stage("making tables and drawing figures")
    place = str(write_report(runs, suites, out))
    return Output(Page(place), (line(f"report: {place}"),))


COMMANDS = {"results": results, "compact": compact, "table": table, "report": report}
