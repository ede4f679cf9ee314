"""Groups of run records by dataset, method and protocol, and statistics of run records."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from nodegraft.analysis.own_labels.comparison import Estimate
from nodegraft.evaluation.metrics import interval
from nodegraft.evaluation.protocol import STRICT
from nodegraft.lab.benchmark.suite import SuiteEntry

Record: TypeAlias = Mapping[str, Any]
# (dataset, name in tables, protocol) -> run records, one for each seed
Groups: TypeAlias = dict[tuple[str, str, str], list[Record]]
T = TypeVar("T")

LAST_ACCURACY = "last_accuracy"
SETTING = re.compile(r"( \d+-(way|shot)| from \d+)+$")


def group(pairs: Iterable[tuple[SuiteEntry, Record | None]]) -> Groups:
    """Group the records of a suite by dataset, name and protocol; skip jobs without a record.

    >>> from nodegraft.lab.benchmark.job import Job
    >>> entry = SuiteEntry("plain", Job(dataset="gentoo", method="sgc-mean"))
    >>> list(group([(entry, {"seed": 0}), (entry, None)]).items())
    [(('gentoo', 'plain', 'strict'), [{'seed': 0}])]
    """
    groups: Groups = {}
    for entry, record in pairs:
        if record is not None:
            key = (entry.job.dataset, entry.name, entry.job.protocol_name)
            groups.setdefault(key, []).append(record)
    return groups


def without_setting(name: str) -> str:
    """Return a method's name without the numbers of classes and labels that a suite appends.

    >>> without_setting("graft 3-way 5-shot")
    'graft'
    """
    return SETTING.sub("", name)


def merge_settings(groups: Groups) -> Groups:
    """Merge the groups of a method's settings, separately for each dataset and protocol.

    >>> list(merge_settings({("gentoo", f"graft {k}-shot", "strict"): [] for k in (1, 5)}))
    [('gentoo', 'graft', 'strict')]
    """
    merged: Groups = {}
    for (dataset, name, protocol), runs in groups.items():
        merged.setdefault((dataset, without_setting(name), protocol), []).extend(runs)
    return merged


def unique(items: Iterable[T]) -> list[T]:
    """Return each item once, in the order of first appearance.

    >>> unique("banana")
    ['b', 'a', 'n']
    """
    return list(dict.fromkeys(items))


def datasets(groups: Groups) -> list[str]:
    """Return the names of the datasets, in the order of the suite.

    >>> datasets({("gentoo", "a", "strict"): [], ("gentoo", "b", "strict"): []})
    ['gentoo']
    """
    return unique(dataset for dataset, _, _ in groups)


def by_method(groups: Groups, dataset: str, protocol: str = STRICT) -> dict[str, list[Record]]:
    """Return the runs of each method on a dataset under a protocol, without upper references.

    >>> list(by_method({("gentoo", "a", "strict"): [], ("debian", "b", "strict"): []}, "gentoo"))
    ['a']
    """
    return {n: runs for (d, n, p), runs in groups.items() if (d, p) == (dataset, protocol)}


def comparable_groups(groups: Groups) -> Groups:
    """Return the groups of runs that may be compared.

    They follow the strict protocol, and no method in them gets more labels than the others.

    >>> groups = {("gentoo", "a", "strict"): [], ("gentoo", "a", "published (leaky)"): []}
    >>> list(comparable_groups(groups))
    [('gentoo', 'a', 'strict')]
    """
    return {key: runs for key, runs in groups.items() if key[2] == STRICT}


def summary_values(runs: Sequence[Record], field: str = LAST_ACCURACY) -> list[float]:
    """Return the value of a summary field for each run.

    >>> summary_values([{"summary": {"last_accuracy": 0.5}}])
    [0.5]
    """
    return [run["summary"][field] for run in runs]


def mean(runs: Sequence[Record], field: str = LAST_ACCURACY) -> float:
    """Return the mean of a summary field over runs.

    >>> mean([{"summary": {"last_accuracy": 0.5}}, {"summary": {"last_accuracy": 0.7}}])
    0.6
    """
    return float(np.mean(summary_values(runs, field)))


def paired_differences(before: Sequence[Record], after: Sequence[Record]) -> list[float]:
    """Return the last accuracy of `after` minus that of `before`, for each seed that both have.

    >>> one, two, lone = ({"seed": s, "summary": {"last_accuracy": a}}
    ...                   for s, a in ((1, 0.5), (1, 0.75), (2, 0.9)))
    >>> paired_differences([one, lone], [two])
    [0.25]
    """
    earlier = {run["seed"]: run["summary"][LAST_ACCURACY] for run in before}
    pairs = [(run["summary"][LAST_ACCURACY], earlier.get(run["seed"])) for run in after]
    return [last - first for last, first in pairs if first is not None]


def points_ahead(runs: Sequence[Record], other: Sequence[Record]) -> Estimate | None:
    """Return the lead of `runs` over `other` in points, paired by seed; None without a pair.

    >>> low, high = ([{"seed": 0, "summary": {"last_accuracy": share}}] for share in (0.5, 0.75))
    >>> points_ahead(high, low)
    Estimate(mean=25.0, half_width=0.0, seeds=1)
    """
    differences = paired_differences(other, runs)
    return Estimate.of([100 * share for share in differences]) if differences else None


def losses_per_class(runs: Sequence[Record]) -> list[float]:
    """Return the drop of macro accuracy of each run, divided by its number of new classes.

    >>> losses_per_class([{"setting": {"novel": 4}, "summary": {"performance_drop": 0.5}}])
    [0.125]
    """
    return [run["summary"]["performance_drop"] / run["setting"]["novel"] for run in runs]


def session_seconds(runs: Sequence[Record]) -> list[float]:
    """Return each run's mean seconds to learn and predict a session after session 0.

    >>> sessions = [{"seconds": taken, "query_seconds": 0.5} for taken in (2.0, 0.1, 0.3)]
    >>> session_seconds([{"sessions": sessions}])
    [0.7]
    """
    return [float(np.mean([_seconds(session) for session in run["sessions"][1:]])) for run in runs]


def median_seconds(runs: Sequence[Record]) -> tuple[float, float]:
    """Return two medians over runs: seconds to learn and predict session 0, and a later session."""
    training = [_seconds(run["sessions"][0]) for run in runs]
    # Use medians, because other processes sometimes slowed down the machine.
    return float(np.median(training)), float(np.median(session_seconds(runs)))


def _seconds(session: Mapping[str, Any]) -> float:
    # Include prediction time, because a method may delay its work until prediction.
    return float(session["seconds"] + session["query_seconds"])


def accuracy_curve(runs: Sequence[Record]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean macro accuracy by session in percent, and half-widths of 95 % intervals.

    >>> run = {"sessions": [{"macro_accuracy": 0.8}, {"macro_accuracy": 0.5}]}
    >>> [part.tolist() for part in accuracy_curve([run])]
    [[80.0, 50.0], [0.0, 0.0]]

    Args:
        runs: Run records with the same number of sessions; at least one record.
    """
    shares = [[session["macro_accuracy"] for session in run["sessions"]] for run in runs]
    values = 100 * np.array(shares, dtype=np.float64)
    return values.mean(axis=0), np.array([interval(column) for column in values.T])


def run_counts(groups: Groups) -> dict[str, int]:
    """Count the comparable runs of each method, in the order of the suite.

    >>> run_counts({("gentoo", "a", "strict"): [{}], ("debian", "a", "strict"): [{}, {}]})
    {'a': 3}
    """
    total: dict[str, int] = {}
    for (_, name, _), runs in comparable_groups(groups).items():
        total[name] = total.get(name, 0) + len(runs)
    return total


def mean_over_datasets(groups: Groups, name: str, field: str = LAST_ACCURACY) -> float:
    """Return a method's mean of a summary field, with equal weight for each dataset.

    >>> runs = [{"summary": {"last_accuracy": 0.5}}]
    >>> mean_over_datasets({("gentoo", "a", "strict"): runs, ("debian", "a", "strict"): runs}, "a")
    0.5
    """
    own = [runs for (_, other, _), runs in comparable_groups(groups).items() if other == name]
    return float(np.mean([mean(runs, field) for runs in own]))


def ranking(groups: Groups) -> list[str]:
    """Return the methods that were measured on every dataset, highest last accuracy first.

    >>> low, high = ([{"summary": {"last_accuracy": share}}] for share in (0.2, 0.4))
    >>> ranking({("gentoo", "a", "strict"): low, ("gentoo", "b", "strict"): high})
    ['b', 'a']
    """
    everywhere = [
        set(by_method(groups, dataset)) for dataset in datasets(comparable_groups(groups))
    ]
    names = [name for name in run_counts(groups) if all(name in methods for methods in everywhere)]
    return sorted(names, key=lambda name: -mean_over_datasets(groups, name))
