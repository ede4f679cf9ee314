"""What a suite looks like in a terminal: one live line of counts, and what is running."""

from collections.abc import Callable
from time import monotonic

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from nodegraft.benchmark.estimate import Estimates
from nodegraft.benchmark.job import Job
from nodegraft.runners.work import JobEnded, JobEvent

NAMED = 4


class BenchDisplay:
    """Counts jobs done, running and failed, and tells the time left; lines into a file or pipe.

    Args:
        console: Where to.
        jobs: All jobs to come.
        estimates: How long they may take.
        capacity: How many can run at the same time now.
    """

    def __init__(
        self, console: Console, jobs: list[Job], estimates: Estimates, capacity: Callable[[], int]
    ) -> None:
        self._console, self._estimates, self._capacity = console, estimates, capacity
        self._left, self._in_hand = list(jobs), list[Job]()
        self._total, self.done, self.failed = len(jobs), 0, 0
        self._began = monotonic()
        self._expected, self._took = 0.0, 0.0
        self._live = Live(console=console, get_renderable=self._frame, refresh_per_second=4)

    def __enter__(self) -> "BenchDisplay":
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def handle(self, event: JobEvent) -> None:
        """Something happened to a job.

        Args:
            event: What happened.
        """
        if not isinstance(event, JobEnded):
            self._in_hand.append(event.job)
            return
        self._in_hand.remove(event.job)
        self._left.remove(event.job)
        self.failed += bool(event.error)
        self.done += not event.error
        self._took += event.seconds
        self._expected += self._estimates.seconds(event.job) or event.seconds
        if event.error or not self._console.is_terminal:
            self._console.print(self._line(event), soft_wrap=True)

    def time_left(self) -> float | None:
        """Seconds, or None while nothing is known."""
        expected, unknown = self._estimates.total(self._left)
        if unknown < len(self._left):
            # How much slower jobs were here than the records say.
            seconds = expected * (self._took / self._expected if self._expected else 1.0)
        elif self.done:
            seconds = self._took / (self.done + self.failed) * len(self._left)
        else:
            return None
        return seconds / max(1, self._capacity())

    def _line(self, event: JobEnded) -> Text:
        count = f"{self.done + self.failed}/{self._total} "
        job = f"{event.job.title}, {event.job.protocol_name}: "
        if not event.error:
            return Text(f"{count}{job}{event.place}")
        why = event.error.strip().rpartition("\n")[2]
        return Text(f"{count}{job}FAILED, {why}\n  traceback: {event.place}", style="red")

    def _frame(self) -> Group:
        running = min(len(self._in_hand), max(1, self._capacity()))
        left = self.time_left()
        counts = Table.grid(padding=(0, 2))
        counts.add_row(
            ProgressBar(total=self._total, completed=self.done + self.failed, width=30),
            f"{self.done} of {self._total} done",
            f"{running} running",
            Text(f"{self.failed} failed", style="red" if self.failed else ""),
            f"{duration(monotonic() - self._began)} so far",
            "" if left is None else f"about {duration(left)} left",
        )
        named = [Text(f"  {job.title}", style="dim") for job in self._in_hand[:running][:NAMED]]
        return Group(counts, *named)


def duration(seconds: float) -> str:
    """Time for people.

    >>> duration(42), duration(61), duration(7300)
    ('42 s', '1 min', '2 h 02 min')

    Args:
        seconds: How long.
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"
