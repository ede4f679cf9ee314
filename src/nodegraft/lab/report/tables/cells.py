"""How numbers and names look in the cells of a table."""

from collections.abc import Sequence

import numpy as np

from nodegraft.evaluation.metrics import interval
from nodegraft.lab.report.groups import Groups, Record, mean, median_seconds


def percent(shares: Sequence[float | None], signed: bool = False) -> str:
    """Mean and half the width of its 95 % interval, in percent.

    >>> percent([0.5]), percent([0.4, 0.6]), percent([None]), percent([])
    ('50.0', '50.0 ± 127.1', '–', '–')

    Args:
        shares: One for each seed, between 0 and 1; None if it was not measured.
        signed: Whether a plus stands before positive numbers, as for differences.
    """
    if not shares or None in shares:
        return "–"
    values = 100 * np.array(shares, dtype=np.float64)
    mean = f"{values.mean():+.1f}" if signed else f"{values.mean():.1f}"
    return mean if values.size < 2 else f"{mean} ± {interval(values):.1f}"


def with_seeds(name: str, groups_of_row: Sequence[Sequence[Record]], groups: Groups) -> str:
    """A method's name, and how many seeds it has where not all of ``groups`` have as many.

    >>> groups = {("gentoo", "a", "strict"): [{}], ("gentoo", "b", "strict"): [{}, {}]}
    >>> with_seeds("b", [[{}, {}]], groups)
    'b (n = 2)'

    Args:
        name: The method's name.
        groups_of_row: The runs that the row is about, group by group.
        groups: All records of the table, grouped; see group().
    """
    if len({len(runs) for runs in groups.values()}) < 2:
        return name
    return f"{name} (n = {range_text([len(runs) for runs in groups_of_row if runs])})"


def range_text(sizes: Sequence[int]) -> str:
    """The smallest and the largest, or the one there is.

    >>> range_text([3, 5, 4]), range_text([5, 5])
    ('3 to 5', '5')

    Args:
        sizes: Numbers, at least one.
    """
    low, high = min(sizes), max(sizes)
    return str(low) if low == high else f"{low} to {high}"


def learning_seconds(runs: Sequence[Record]) -> list[str]:
    """Seconds of learning and then answering: session 0, and a later one.

    >>> sessions = [{"seconds": one, "query_seconds": 0.5} for one in (2.0, 0.25)]
    >>> learning_seconds([{"sessions": sessions}])
    ['2.5', '0.750']

    Args:
        runs: Records of runs, at least one.
    """
    training, session = median_seconds(runs)
    return [f"{training:.1f}", f"{session:.3f}"]


def session_seconds(runs: Sequence[Record]) -> str:
    """Seconds of a later session, learning and answering: mean and half of its 95 % interval.

    >>> sessions = [{"seconds": one, "query_seconds": 0.5} for one in (2.0, 0.25)]
    >>> session_seconds([{"sessions": sessions}])
    '0.75'

    Args:
        runs: Records of runs, at least one.
    """
    taken = [
        np.mean([one["seconds"] + one["query_seconds"] for one in run["sessions"][1:]])
        for run in runs
    ]
    mean = f"{np.mean(taken):.2f}"
    return mean if len(taken) < 2 else f"{mean} ± {interval(np.array(taken)):.2f}"


def kept_megabytes(runs: Sequence[Record]) -> str:
    """Megabytes that models keep after the last session.

    >>> kept_megabytes([{"summary": {"kept_bytes": 2_500_000}}])
    '2.50'

    Args:
        runs: Records of runs, at least one.
    """
    return f"{mean(runs, 'kept_bytes') / 1e6:.2f}"
