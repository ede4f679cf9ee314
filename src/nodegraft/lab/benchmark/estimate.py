"""How long a job will take, from the records of jobs like it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import median
from typing import Any

from nodegraft.lab.benchmark.job import Job


class Estimates:
    """Medians over records of one dataset and method; seeds and small settings hardly matter.

    >>> Estimates([]).seconds(Job(dataset="synthetic", method="graft")) is None
    True

    Args:
        records: What earlier runs say.
    """

    def __init__(self, records: Iterable[Mapping[str, Any]]) -> None:
        seen = defaultdict(list)
        for record in records:
            seen[record["dataset"], record["method"]].append(_seconds(record))
        self._medians = {like: median(seconds) for like, seconds in seen.items()}

    def seconds(self, job: Job) -> float | None:
        """Return the median seconds of fit and prediction; None without a record of a similar job."""
        return self._medians.get((job.dataset, job.method))

    def total(self, jobs: Iterable[Job]) -> tuple[float, int]:
        """Seconds of all jobs one after the other, and how many of them nothing is known about.

        Those count as much as the others on average.
        """
        each = [self.seconds(job) for job in jobs]
        known = [seconds for seconds in each if seconds is not None]
        average = sum(known) / len(known) if known else 0.0
        return average * len(each), len(each) - len(known)


def _seconds(record: Mapping[str, Any]) -> float:
    return float(sum(one["seconds"] + one["query_seconds"] for one in record["sessions"]))
