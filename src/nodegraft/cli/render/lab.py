"""Rendering of benchmark runs, suites, datasets and records as text and tables."""

from typing import TYPE_CHECKING, Any, ClassVar

from rich.box import SIMPLE
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from nodegraft.base.counting import counted
from nodegraft.cli.render.values import GAP, duration, file_size, percent, points

if TYPE_CHECKING:
    import pyarrow as pa

    from nodegraft.cli.results.lab import Dataset, Method
    from nodegraft.evaluation.protocol import SessionResult
    from nodegraft.graph.statistics import GraphStatistics
    from nodegraft.lab.runners.local import JobEnded

COLUMNS = ("session", "classes", "macro", "micro", "known", "novel", "harmonic", "seconds")


class MethodTable(Table):
    """Table of methods, whose last columns are omitted on a narrow terminal."""

    MIN_WIDTHS: ClassVar = {"what it does": 26, "can also": 24, "from": 16}
    """Heading of each column behind the name -> its minimum width in characters."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render the table."""
        names, *others = (
            max(cell_len(str(cell)) for cell in column.cells) for column in self.columns
        )
        least, omitted = list(self.MIN_WIDTHS.values()), list[str]()
        # The table has one more character at each end.
        while (spare := options.max_width - 2 - names - sum(width + GAP for width in least)) < 0:
            if len(least) == 1:
                break
            least.pop()
            omitted.insert(0, str(self.columns.pop().header))
        for column, width, longest in zip(self.columns[1:], least, others, strict=False):
            column.width = min(longest, width + max(0, spare) // len(least))
        if omitted:
            self.caption = f"Not shown, because the line is short: {', '.join(omitted)} (--json)."
            self.caption_justify = "left"
        return super().__rich_console__(console, options)


def job_line(event: "JobEnded", count: str) -> Text:
    """Return a line about a job that ended: the path of its record, or its error.

    Args:
        count: Number of ended jobs and of all jobs, such as 3/12.
    """
    job = f"{count} {event.job.title}, {event.job.protocol_name}: "
    if not event.error:
        return Text(f"{job}{event.place}")
    reason = event.error.strip().rpartition("\n")[2]
    return Text(f"{job}FAILED, {reason}\n  traceback: {event.place}", style="red")


def suite_status(
    title: str, counts: tuple[int, int, int], seconds: float, without_estimate: int
) -> str:
    """Return how many jobs of a suite will run, and their estimated duration.

    >>> suite_status("graft", (2, 3, 6), 60.0, 2)
    'graft: 2 jobs to run, 3 of 6 done, 1 failed before (run them again with --retry-failed)'

    Args:
        counts: Numbers of jobs to run, of jobs that are done, and of all jobs.
        seconds: Estimated duration in seconds.
        without_estimate: Number of jobs to run whose duration has no estimate.
    """
    to_run, finished, total = counts
    text = f"{title}: {counted(to_run, 'job')} to run, {finished} of {total} done"
    if finished + to_run < total:
        failed = total - finished - to_run
        text += f", {failed} failed before (run them again with --retry-failed)"
    if to_run == without_estimate:
        return text
    text += f"\nabout {duration(seconds)} in one process, estimated from earlier records"
    return text + (f"; no estimate for {without_estimate} of them" if without_estimate else "")


def session_table(title: str) -> Table:
    """Return an empty table of sessions, with its columns."""
    table = Table(title=title, title_justify="left", caption_justify="left", box=SIMPLE, padding=0)
    table.caption = "accuracies in percent; all but micro are averages over classes"
    for name in COLUMNS:
        table.add_column(name, justify="right")
    return table


def session_row(result: "SessionResult") -> list[str]:
    """Return the table cells for a session, in the order of `COLUMNS`."""
    shares = (
        result.macro_accuracy,
        result.micro_accuracy,
        result.known_accuracy,
        result.novel_accuracy,
        result.harmonic_mean,
    )
    cells = [percent(share).removesuffix(" %") for share in shares]
    return [str(result.index), str(result.classes), *cells, f"{result.seconds:.2f}"]


def summary_table(summary: dict[str, Any]) -> Table:
    """Return the summary of a run as a table, with a row for each number."""
    rows = {
        "A0, before the first new class": percent(summary["first_accuracy"]),
        "last session": percent(summary["last_accuracy"]),
        "average over sessions": percent(summary["average_accuracy"]),
        "performance drop (PD)": points(summary["performance_drop"]),
        "relative drop (RPD)": percent(summary["relative_performance_drop"]),
        "harmonic mean, known and novel": percent(summary["harmonic_mean"]),
        "average forgetting": points(summary["average_forgetting"]),
        "training time": f"{summary['seconds']:.2f} s",
        "model size": file_size(summary["kept_bytes"]),
    }
    return _two_columns(rows)


def statistics_table(numbers: "GraphStatistics", quantiles: tuple[float, ...]) -> Table:
    """Return sizes, homophily and degrees of a graph as a table, with a row for each number."""
    degrees = " ".join(str(value) for value in numbers.degree_quantiles)
    marks = "/".join(f"{100 * quantile:.0f}" for quantile in quantiles)
    merged = " (between two nodes, all types count once)" if len(numbers.kinds) > 1 else ""
    rows = {
        "nodes": f"{numbers.nodes:,} ({numbers.isolated:,} without an edge)",
        "undirected edges": f"{numbers.edges:,}{merged}",
        "features": f"{numbers.features:,} ({numbers.features_per_node:.1f} non-zero per node)",
        "classes": f"{numbers.classes} (sizes: smallest {numbers.smallest_class:,}, "
        f"median {numbers.median_class:,}, largest {numbers.largest_class:,})",
        "edges within a class": f"{percent(numbers.homophily)} "
        f"(homophily adjusted for chance: {percent(numbers.adjusted_homophily)})",
        f"degrees at {marks} %": degrees,
    }
    return _two_columns(rows)


def edge_types_table(numbers: "GraphStatistics") -> Table:
    """Return a table with edge count and homophily of each edge type."""
    table = Table(box=SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("edge type", overflow="fold")
    table.add_column("edges", justify="right", no_wrap=True)
    for heading in ("directed", "weighted"):
        table.add_column(heading, no_wrap=True)
    for heading in ("within\na class", "adjusted"):
        table.add_column(heading, justify="right", no_wrap=True)
    for kind in numbers.kinds:
        table.add_row(
            escape(kind.name),
            f"{kind.edges:,}",
            "yes" if kind.directed else "no",
            "yes" if kind.weighted else "no",
            percent(kind.homophily),
            percent(kind.adjusted_homophily),
        )
    return table


def methods_table(methods: "list[Method]") -> Table:
    """Return a table with a row for each method; a narrow terminal shows its first columns."""
    table = MethodTable(box=SIMPLE, pad_edge=False)
    table.add_column("method", no_wrap=True)
    for heading in MethodTable.MIN_WIDTHS:
        table.add_column(heading, overflow="fold")
    for method in methods:
        cells = (method.summary, ", ".join(method.capabilities) or "–", method.citation)
        table.add_row(method.method, *map(escape, cells))
    return table


def datasets_table(datasets: "list[Dataset]") -> Table:
    """Return a table with a row for each dataset, including its missing files."""
    table = Table(box=SIMPLE, pad_edge=False)
    table.add_column("dataset", no_wrap=True)
    table.add_column("files", no_wrap=True)
    table.add_column("what it is, and which files are missing", overflow="fold")
    for dataset in datasets:
        files, name = dataset.missing, dataset.dataset
        missing = ", ".join(files)
        if len(files) > 3:
            missing = f"{len(files)} files; nodegraft lab info {name} lists them"
        about = dataset.summary + (missing and f"\nmissing: {missing}")
        table.add_row(name, "found" if dataset.found else "missing", escape(about))
    return table


def query_table(result: "pa.Table") -> Table:
    """Return the result of a query as a table; texts are left-aligned, numbers right-aligned."""
    from pyarrow.types import is_string

    table = Table(box=SIMPLE, pad_edge=False)
    for name, kind in zip(result.column_names, result.schema.types, strict=True):
        table.add_column(
            escape(name), justify="left" if is_string(kind) else "right", overflow="fold"
        )
    for row in result.to_pylist():
        table.add_row(*("–" if value is None else escape(str(value)) for value in row.values()))
    return table


def _two_columns(rows: dict[str, str]) -> Table:
    table = Table.grid(padding=(0, 2))
    for name, value in rows.items():
        table.add_row(name, value)
    return table
