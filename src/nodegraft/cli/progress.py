"""Progress displays of benchmark commands: a table for a run, and job counts for a suite."""

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from nodegraft.base.events import Listener, step_text
from nodegraft.cli.render import lab as render
from nodegraft.cli.render.values import duration

if TYPE_CHECKING:
    from nodegraft.evaluation.protocol import SessionResult
    from nodegraft.lab.benchmark.job import Estimates, Job
    from nodegraft.lab.runners.local import JobEvent


MAX_NAMED_JOBS = 4
"""Maximum number of running jobs that are listed by name."""


class RunDisplay(Listener):
    """Table of sessions with a progress bar, updated during a run of one method on one dataset.

    Args:
        console: Console to draw on.
        title: Title of the table.
        sessions: Number of sessions of the run.
    """

    def __init__(self, console: Console, title: str, sessions: int) -> None:
        self.table = render.session_table(title)
        """Table with a row for each finished session."""
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("sessions"),
            TimeElapsedColumn(),
            console=console,
        )
        self._task = self._progress.add_task("learning", total=sessions)
        self._status = Text(style="dim", no_wrap=True, overflow="ellipsis")
        self._console = console
        self._live = Live(
            Group(self.table, self._progress, self._status),
            console=console,
            refresh_per_second=8,
            transient=True,
        )

    def __enter__(self) -> "RunDisplay":
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def step(self, stage: str, done: int, total: int, **numbers: float) -> None:
        """Show the current step of a stage under the progress bar."""
        self._status.plain = step_text(stage, done, total, **numbers)

    def session(self, result: "SessionResult") -> None:
        """Add a row for a finished session."""
        self.table.add_row(*render.session_row(result))
        self._progress.update(self._task, advance=1)
        self._status.plain = ""


class SuiteDisplay:
    """Display of job counts (done, running, failed) and estimated time left.

    If the output is a file or pipe, plain lines are printed.

    Args:
        console: Console to draw on.
        jobs: Jobs that will be run.
        estimates: Estimated durations of the jobs.
        capacity: Function that returns the number of jobs that can currently run in parallel.
    """

    def __init__(
        self,
        console: Console,
        jobs: "list[Job]",
        estimates: "Estimates",
        capacity: Callable[[], int],
    ) -> None:
        self._console, self._estimates, self._capacity = console, estimates, capacity
        self._waiting, self._started = list(jobs), list["Job"]()
        self._total, self.done, self.failed = len(jobs), 0, 0
        self._start = monotonic()
        self._expected_seconds, self._actual_seconds = 0.0, 0.0
        self._live = Live(console=console, get_renderable=self._frame, refresh_per_second=4)

    def __enter__(self) -> "SuiteDisplay":
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def handle(self, event: "JobEvent") -> None:
        """Update the counts after a job has started or ended."""
        from nodegraft.lab.runners.local import JobEnded

        if not isinstance(event, JobEnded):
            self._started.append(event.job)
            return
        self._started.remove(event.job)
        self._waiting.remove(event.job)
        self.failed += bool(event.error)
        self.done += not event.error
        self._actual_seconds += event.seconds
        self._expected_seconds += self._estimates.seconds(event.job) or event.seconds
        if event.error or not self._console.is_terminal:
            count = f"{self.done + self.failed}/{self._total}"
            self._console.print(render.job_line(event, count), soft_wrap=True)

    def time_left(self) -> float | None:
        """Return the estimated time left in seconds; None without an estimate."""
        expected, unknown = self._estimates.total(self._waiting)
        if unknown < len(self._waiting):
            # Multiply the estimate by the ratio of actual to estimated time of the jobs that have
            # ended.
            ratio = self._actual_seconds / self._expected_seconds if self._expected_seconds else 1.0
            seconds = expected * ratio
        elif self.done:
            seconds = self._actual_seconds / (self.done + self.failed) * len(self._waiting)
        else:
            return None
        return seconds / max(1, self._capacity())

    def _frame(self) -> Group:
        """Return a progress bar with counts, and the titles of some running jobs."""
        running = self._started[: max(1, self._capacity())]
        seconds = self.time_left()
        counts = Table.grid(padding=(0, 2))
        counts.add_row(
            ProgressBar(total=self._total, completed=self.done + self.failed, width=30),
            f"{self.done} of {self._total} done",
            f"{len(running)} running",
            Text(f"{self.failed} failed", style="red" if self.failed else ""),
            f"{duration(monotonic() - self._start)} so far",
            "" if seconds is None else f"about {duration(seconds)} left",
        )
        named = [Text(f"  {job.title}", style="dim") for job in running[:MAX_NAMED_JOBS]]
        return Group(counts, *named)
