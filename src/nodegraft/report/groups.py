"""Run records put together: those of one method on one dataset, under one protocol."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from nodegraft.benchmark.suite import SuiteEntry
from nodegraft.evaluation.metrics import interval
from nodegraft.evaluation.protocol import STRICT

Record: TypeAlias = Mapping[str, Any]
# (dataset, name in the table, protocol) -> the records of its seeds
Groups: TypeAlias = dict[tuple[str, str, str], list[Record]]
T = TypeVar("T")

LAST = "last_accuracy"


def group(pairs: Iterable[tuple[SuiteEntry, Record | None]]) -> Groups:
    """What a suite's jobs recorded so far; a job without a record is left out.

    >>> from nodegraft.benchmark.job import Job
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


def unique(items: Iterable[T]) -> list[T]:
    """Each once, in the order of first sight.

    >>> unique("banana")
    ['b', 'a', 'n']
    """
    return list(dict.fromkeys(items))


def datasets(groups: Groups) -> list[str]:
    """Their names.

    >>> datasets({("gentoo", "a", "strict"): [], ("gentoo", "b", "strict"): []})
    ['gentoo']
    """
    return unique(dataset for dataset, _, _ in groups)


def by_method(groups: Groups, dataset: str, protocol: str = STRICT) -> dict[str, list[Record]]:
    """The runs on one dataset that may be compared: under one protocol, so without ceilings.

    >>> list(by_method({("gentoo", "a", "strict"): [], ("debian", "b", "strict"): []}, "gentoo"))
    ['a']
    """
    return {n: runs for (d, n, p), runs in groups.items() if (d, p) == (dataset, protocol)}


def compared(groups: Groups) -> Groups:
    """What may be compared with each other: strict runs, without ceilings.

    >>> list(compared({("gentoo", "a", "strict"): [], ("gentoo", "a", "published (leaky)"): []}))
    [('gentoo', 'a', 'strict')]
    """
    return {key: runs for key, runs in groups.items() if key[2] == STRICT}


def summaries(runs: Sequence[Record], field: str = LAST) -> list[float]:
    """A number of the summary, one for each run.

    >>> summaries([{"summary": {"last_accuracy": 0.5}}])
    [0.5]
    """
    return [run["summary"][field] for run in runs]


def mean(runs: Sequence[Record], field: str = LAST) -> float:
    """The mean of such a number over runs.

    >>> mean([{"summary": {"last_accuracy": 0.5}}, {"summary": {"last_accuracy": 0.7}}])
    0.6
    """
    return float(np.mean(summaries(runs, field)))


def gains(before: Sequence[Record], after: Sequence[Record], field: str = LAST) -> list[float]:
    """What ``after`` has more, seed by seed; seeds that only one of them has are left out.

    >>> one, two, lone = ({"seed": s, "summary": {"last_accuracy": a}}
    ...                   for s, a in ((1, 0.5), (1, 0.75), (2, 0.9)))
    >>> gains([one, lone], [two])
    [0.25]
    """
    earlier = {run["seed"]: run["summary"][field] for run in before}
    return [run["summary"][field] - earlier[run["seed"]] for run in after if run["seed"] in earlier]


def seconds(runs: Sequence[Record]) -> tuple[float, float]:
    """Of learning, the median over runs: session 0 (training), and a later session on average.

    >>> seconds([{"sessions": [{"seconds": 2.0}, {"seconds": 0.1}, {"seconds": 0.3}]}])
    (2.0, 0.2)
    """
    training = [run["sessions"][0]["seconds"] for run in runs]
    later = [np.mean([session["seconds"] for session in run["sessions"][1:]]) for run in runs]
    # Medians: a machine that was busy with something else now and then should not count.
    return float(np.median(training)), float(np.median(later))


def curve(runs: Sequence[Record]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Macro accuracy session by session in percent: means, and half the widths of intervals.

    >>> run = {"sessions": [{"macro_accuracy": 0.8}, {"macro_accuracy": 0.5}]}
    >>> [part.tolist() for part in curve([run])]
    [[80.0, 50.0], [0.0, 0.0]]
    """
    shares = [[session["macro_accuracy"] for session in run["sessions"]] for run in runs]
    values = 100 * np.array(shares, dtype=np.float64)
    return values.mean(axis=0), np.array([interval(column) for column in values.T])


def counts(groups: Groups) -> dict[str, int]:
    """How many comparable runs each method has, in the order of the suite.

    >>> counts({("gentoo", "a", "strict"): [{}], ("debian", "a", "strict"): [{}, {}]})
    {'a': 3}
    """
    total: dict[str, int] = {}
    for (_, name, _), runs in compared(groups).items():
        total[name] = total.get(name, 0) + len(runs)
    return total


def average(groups: Groups, name: str, field: str = LAST) -> float:
    """A method's mean over datasets, each of which counts alike.

    >>> runs = [{"summary": {"last_accuracy": 0.5}}]
    >>> average({("gentoo", "a", "strict"): runs, ("debian", "a", "strict"): runs}, "a")
    0.5
    """
    found = [runs for (_, other, _), runs in compared(groups).items() if other == name]
    return float(np.mean([mean(runs, field) for runs in found]))


def standing(groups: Groups) -> list[str]:
    """The methods that were measured on every dataset, best last session first.

    >>> low, high = ([{"summary": {"last_accuracy": share}}] for share in (0.2, 0.4))
    >>> standing({("gentoo", "a", "strict"): low, ("gentoo", "b", "strict"): high})
    ['b', 'a']
    """
    everywhere = [set(by_method(groups, dataset)) for dataset in datasets(compared(groups))]
    names = [name for name in counts(groups) if all(name in found for found in everywhere)]
    return sorted(names, key=lambda name: -average(groups, name))
