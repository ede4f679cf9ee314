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
from nodegraft.cli.render.values import percent, points
from nodegraft.cli.results.lab import AccuracyMatrix, Compacted, Page, QueryResult, SuiteTables
from nodegraft.cli.terminal import Terminal, line

MAX_NAMES = 10
"""Maximum number of run records that an error message lists by name."""


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
    from nodegraft.lab.benchmark.query import OVERVIEW, query_records  # It needs DuckDB.

    terminal.stage(f"reading records in {runs}")
    result = query_records(runs, sql or OVERVIEW)
    text: tuple[RenderableType, ...] = (query_table(result),)
    if sql is None and not result.num_rows:
        text += ("There is no strict run with default settings: query others with --sql.",)
    rows = [] if terminal.format == "table" else result.to_pylist()
    return Output(QueryResult(rows), text, tables=[result])


@command
def matrix(
    terminal: Terminal,
    runs: RecordFolder = "runs",
    run: Annotated[
        str | None, typer.Option(help="Name of the record; needed if there are several.")
    ] = None,
) -> Output[AccuracyMatrix]:
    """Show the accuracy of a run by session and by the session in which classes arrived."""
    import numpy as np
    import pyarrow as pa

    from nodegraft.evaluation.metrics import anytime_accuracy, backward_transfer
    from nodegraft.lab.benchmark.archive import Archive

    terminal.stage(f"reading records in {runs}")
    archive = Archive(runs)
    names = [document["run"] for document in archive.documents()]
    if not names:
        raise ParameterError(
            f"There is no record in {runs}: make some with nodegraft lab run or lab bench."
        )
    record = archive.find(names[0] if run is None and len(names) == 1 else run or "")
    if record is None:
        raise ParameterError(
            f"{counted(len(names), 'record')} in {runs}, none chosen by --run {run or 'NAME'}. "
            f"Names: {', '.join(names[:MAX_NAMES])}{', …' * (len(names) > MAX_NAMES)}"
        )
    accuracies = record.accuracy_matrix()
    rows = [
        {"session": session}
        | {
            f"group {group}": None if np.isnan(value) else float(value)
            for group, value in enumerate(values)
        }
        for session, values in enumerate(accuracies)
    ]
    anytime, backward = anytime_accuracy(accuracies), backward_transfer(accuracies)
    value = AccuracyMatrix(record.run, anytime, float(accuracies[-1].mean()), backward, rows)
    shares = [
        {
            name: share if name == "session" or share is None else round(100 * share, 1)
            for name, share in row.items()
        }
        for row in rows
    ]
    transfer = "" if backward is None else f", backward transfer {points(backward)}"
    text = (
        query_table(pa.Table.from_pylist(shares)),
        f"Accuracy in %. Mean over groups: anytime {percent(anytime)}, last session "
        f"{percent(value.last_accuracy)}{transfer}.",
    )
    return Output(value, text)


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
    from nodegraft.lab.report.page import write_report  # Matplotlib is an optional extra.

    WriteOnceFolder(out).check_writable()
    terminal.stage("making tables and drawing figures")
    place = str(write_report(runs, suites, out))
    return Output(Page(place), (line(f"report: {place}"),))


COMMANDS = {
    "results": results,
    "matrix": matrix,
    "compact": compact,
    "table": table,
    "report": report,
}
