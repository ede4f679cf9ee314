"""What a run looks like in a terminal: a progress bar and a growing table of sessions."""

from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from nodegraft.base.events import Listener
from nodegraft.base.progress import step_text
from nodegraft.evaluation.protocol import SessionResult

COLUMNS = ("session", "classes", "macro", "micro", "known", "novel", "harmonic", "seconds")


class RunDisplay(Listener):
    """Draws what :func:`nodegraft.evaluation.protocol.evaluate` tells it.

    Args:
        console: Where to.
        title: What stands above the table.
        sessions: How many sessions there will be.
    """

    def __init__(self, console: Console, title: str, sessions: int) -> None:
        self._table = _session_table(title)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("sessions"),
            TimeElapsedColumn(),
            console=console,
        )
        self._task = self._progress.add_task("teaching", total=sessions)
        self._status = Text(style="dim", no_wrap=True, overflow="ellipsis")
        self._console = console
        self._live = Live(
            Group(self._table, self._progress, self._status), console=console, refresh_per_second=8
        )

    def __enter__(self) -> "RunDisplay":
        self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._live.update(self._table)
        self._live.stop()
        if not self._console.is_terminal:
            # Into a file or a pipe the last frame is written without its line end.
            self._console.print()

    def step(self, stage: str, done: int, total: int, **numbers: float) -> None:
        """Show where a stage is, beside the bar."""
        self._status.plain = step_text(stage, done, total, **numbers)

    def session(self, result: SessionResult) -> None:
        """One more row."""
        self._table.add_row(*_row(result))
        self._progress.update(self._task, advance=1)
        self._status.plain = ""


def summary_table(summary: dict[str, Any]) -> Table:
    """The closing numbers, two columns.

    Args:
        summary: Of a record.
    """
    table = Table.grid(padding=(0, 2))
    rows = {
        "A0, before the first new class": percent(summary["first_accuracy"]),
        "last session": percent(summary["last_accuracy"]),
        "average over sessions": percent(summary["average_accuracy"]),
        "performance drop (PD)": points(summary["performance_drop"]),
        "relative drop (RPD)": percent(summary["relative_performance_drop"]),
        "harmonic mean, known and novel": percent(summary["harmonic_mean"]),
        "average forgetting": points(summary["average_forgetting"]),
        "learning took": f"{summary['seconds']:.2f} s",
        "model keeps": size(summary["kept_bytes"]),
    }
    for name, value in rows.items():
        table.add_row(name, value)
    return table


def percent(share: float | None) -> str:
    """A share as a percentage.

    >>> percent(0.5666), percent(None)
    ('56.7 %', '–')

    Args:
        share: Between 0 and 1, or None where there is none.
    """
    return _hundredths(share) + ("" if share is None else " %")


def points(share: float) -> str:
    """A difference of shares, in percentage points.

    Args:
        share: The difference.
    """
    return f"{100 * share:.1f} points"


def size(count: int) -> str:
    """Bytes for people.

    >>> size(999), size(2_500_000)
    ('999 B', '2.5 MB')

    Args:
        count: How many bytes.
    """
    number = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if number < 1000 or unit == "GB":
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1000
    raise AssertionError


def _hundredths(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"


def _session_table(title: str) -> Table:
    table = Table(title=title, title_justify="left", caption_justify="left")
    table.caption = "accuracies in percent; all but micro are averages over classes"
    for name in COLUMNS:
        table.add_column(name, justify="right")
    return table


def _row(result: SessionResult) -> list[str]:
    return [
        str(result.index),
        str(result.classes),
        _hundredths(result.macro_accuracy),
        _hundredths(result.micro_accuracy),
        _hundredths(result.known_accuracy),
        _hundredths(result.novel_accuracy),
        _hundredths(result.harmonic_mean),
        f"{result.seconds:.2f}",
    ]
