"""Kinds of tables that a suite may list: means over seeds with 95 % intervals."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from nodegraft.analysis.rendering.table import Table
from nodegraft.base.errors import ParameterError
from nodegraft.evaluation.metrics import interval
from nodegraft.evaluation.protocol import STRICT
from nodegraft.evaluation.published import PUBLISHED
from nodegraft.lab.benchmark.suite import Suite
from nodegraft.lab.report.groups import (
    LAST_ACCURACY,
    Groups,
    Record,
    by_method,
    datasets,
    group,
    losses_per_class,
    mean,
    median_seconds,
    paired_differences,
    session_seconds,
    summary_values,
    unique,
)

# Column title -> field of a record's summary.
SUMMARY = {
    "A0": "first_accuracy",
    "last": LAST_ACCURACY,
    "known": "last_known_accuracy",
    "novel": "last_novel_accuracy",
}
COMPARED = {**SUMMARY, "average": "average_accuracy"}
DROPS = {"PD": "performance_drop", "RPD": "relative_performance_drop"}
STREAM = {**DROPS, "average": "average_accuracy", "harmonic mean": "harmonic_mean"}
KINDS_OF_CLASSES = {
    "base": "base_accuracy",
    "pseudo-novel": "pseudo_novel_accuracy",
    "novel": "novel_accuracy",
}
MEANS = "Macro accuracy in %, mean ± half of the 95 % interval over seeds"


@dataclass(frozen=True)
class TableKind:
    """Kind of table that a suite may list."""

    title: str
    """Heading above the tables."""

    how_to_read: str
    """Explanation below the heading."""

    make: Callable[[Groups], list[Table]]
    """Function that makes the tables from grouped records."""


def suite_tables(suite: Suite, records: Sequence[Record]) -> str:
    """Return all tables of a suite in Markdown; raise an error if a job has no record."""
    pairs = suite.with_records(records)
    missing = [entry for entry, record in pairs if record is None]
    if missing:
        first = missing[0]
        raise ParameterError(
            f"{len(missing)} of {len(pairs)} jobs have no record, such as {first.name} on "
            f"{first.job.dataset}, seed {first.job.seed}: run `nodegraft lab bench` first."
        )
    tables = make_tables(suite.tables, group(pairs))
    return "\n\n".join(table.markdown() for table in tables)


def make_tables(names: Sequence[str], groups: Groups) -> list[Table]:
    """Return the tables of each of the named kinds.

    >>> make_tables(["comparison"], {})
    []
    """
    check_names(names)
    return [table for name in names for table in TABLES[name].make(groups)]


def check_names(names: Sequence[str]) -> None:
    """Raise an error if a name is not a kind of table."""
    for name in names:
        if name not in TABLES:
            raise ParameterError(f"There is no table {name!r}; there are {', '.join(TABLES)}.")


def percent(shares: Sequence[float | None], signed: bool = False) -> str:
    """Format the mean of values in percent, with half the width of its 95 % interval.

    >>> percent([0.5]), percent([0.4, 0.6]), percent([None]), percent([])
    ('50.0', '50.0 ± 127.1', '–', '–')

    Args:
        shares: Value of each seed, between 0 and 1; None if it was not measured.
        signed: Whether positive numbers start with a plus sign, as for differences.
    """
    if not shares or None in shares:
        return "–"
    values = 100 * np.array(shares, dtype=np.float64)
    mean = f"{values.mean():+.1f}" if signed else f"{values.mean():.1f}"
    return mean if values.size < 2 else f"{mean} ± {interval(values):.1f}"


def range_text(sizes: Sequence[float]) -> str:
    """Format the smallest and the largest number, or a single number if they are equal.

    >>> range_text([3, 5, 4]), range_text([5, 5])
    ('3 to 5', '5')
    """
    low, high = min(sizes), max(sizes)
    return str(low) if low == high else f"{low} to {high}"


def _overview(groups: Groups) -> list[Table]:
    """Make a table of strict and, if measured, leaky accuracies by dataset and method."""
    rows = []
    both = ("A0", "last") if any(protocol == PUBLISHED for _, _, protocol in groups) else ()
    for dataset, name in unique((dataset, name) for dataset, name, _ in groups):
        strict = groups.get((dataset, name, STRICT), [])
        leaky = groups.get((dataset, name, PUBLISHED), [])
        cells = _percents(strict, SUMMARY.values())
        cells += _percents(leaky, [SUMMARY[column] for column in both])
        rows.append([dataset, _with_seeds(name, [strict or leaky], groups), *cells])
    leaky_columns = [f"*leaky* {column}" for column in both]
    return [Table.of(["dataset", "method", *SUMMARY, *leaky_columns], rows)]


def _sessions_in_full(groups: Groups) -> list[Table]:
    names = datasets(groups)
    order = sorted(groups, key=lambda key: (names.index(key[0]), key[2], -mean(groups[key])))
    return _by_session({key: groups[key] for key in order}, STREAM)


def _known_and_novel(groups: Groups) -> list[Table]:
    """Make a table for each dataset and method: accuracy by role of classes and by session."""
    tables = []
    for (dataset, name, protocol), runs in groups.items():
        rows = [[kind, *_percents_by_session(runs, f)] for kind, f in KINDS_OF_CLASSES.items()]
        head = ["classes", *map(str, range(len(runs[0]["sessions"])))]
        label = _with_seeds(name, [runs], groups)
        caption = f"**{dataset}**, {label}, {protocol} protocol: by kind of class, %"
        tables.append(Table.of(head, rows, caption))
    return tables


def _comparison(groups: Groups) -> list[Table]:
    """Make a table for each dataset, highest last accuracy first.

    The column ``behind`` is the difference to the best method of the strict protocol, paired by
    seed.
    """
    tables = []
    for dataset in datasets(groups):
        by_name = [(name, p, runs) for (d, name, p), runs in groups.items() if d == dataset]
        by_name.sort(key=lambda item: -mean(item[2]))
        best = next((runs for _, protocol, runs in by_name if protocol == STRICT), [])
        rows = []
        for name, protocol, runs in by_name:
            is_compared = protocol == STRICT and runs is not best
            behind = percent(paired_differences(best, runs) if is_compared else [], signed=True)
            note = protocol.removeprefix(STRICT).removeprefix(", ")
            label = _with_seeds(f"{name} — {note}" if note else name, [runs], groups)
            rows.append([label, *_percents(runs, COMPARED.values()), behind, *_costs(runs)])
        head = ["method", *COMPARED, "behind", "training s", "session s", "kept MB"]
        tables.append(Table.of(head, rows, f"**{dataset}**"))
    return tables


def _new_classes(groups: Groups) -> list[Table]:
    """Make a table for each dataset: first and last accuracy, and accuracy lost per new class."""
    head = ["method", "A0", "last", "lost per new class", "seconds a session"]
    tables = []
    for dataset in datasets(groups):
        runs = by_method(groups, dataset)
        rows = [
            [
                _with_seeds(name, [runs[name]], groups),
                *_percents(runs[name], ["first_accuracy", LAST_ACCURACY]),
                percent(losses_per_class(runs[name])),
                _seconds(session_seconds(runs[name])),
            ]
            for name in sorted(runs, key=lambda name: -mean(runs[name]))
        ]
        tables.append(Table.of(head, rows, f"**{dataset}**"))
    return tables


def _by_session(groups: Groups, stream: dict[str, str]) -> list[Table]:
    """Make a table for each dataset and protocol: accuracy by session, drops and cost."""
    tables = []
    costs = ["training s", "session s", "kept MB"][: 3 if stream is STREAM else 2]
    for dataset, protocol in unique((dataset, protocol) for dataset, _, protocol in groups):
        by_name = by_method(groups, dataset, protocol)
        count = max(len(runs[0]["sessions"]) for runs in by_name.values())
        rows = [
            [
                _with_seeds(name, [runs], groups),
                *_percents_by_session(runs, "macro_accuracy"),
                *_percents(runs, stream.values()),
                *_costs(runs)[: len(costs)],
            ]
            for name, runs in by_name.items()
        ]
        caption = f"**{dataset}**, {protocol} protocol: macro accuracy by session, %"
        head = ["method", *map(str, range(count)), *stream, *costs]
        tables.append(Table.of(head, rows, caption))
    return tables


def _side_by_side(
    groups: Groups, fields: Iterable[str], head: Callable[[str], Sequence[str]], corner: str
) -> list[Table]:
    """Make a table with a row for each method and protocol, and columns for each dataset.

    Args:
        fields: Summary fields that are shown for each dataset.
        head: Function that returns the column titles of a dataset.
        corner: Title of the first column.
    """
    columns, fields = datasets(groups), list(fields)
    rows = []
    for name, protocol in unique((name, protocol) for _, name, protocol in groups):
        runs = [groups.get((dataset, name, protocol), []) for dataset in columns]
        cells = [cell for own in runs for cell in _percents(own, fields)]
        rows.append([_with_seeds(name, runs, groups), *cells])
    return [Table.of([corner, *(title for column in columns for title in head(column))], rows)]


def _percents(runs: Sequence[Record], fields: Iterable[str]) -> list[str]:
    return [percent(summary_values(runs, field)) for field in fields]


def _percents_by_session(runs: Sequence[Record], field: str) -> list[str]:
    count = len(runs[0]["sessions"])
    return [percent([run["sessions"][i][field] for run in runs]) for i in range(count)]


def _costs(runs: Sequence[Record]) -> list[str]:
    """Return cells: median seconds of session 0 and of a later session, and megabytes of state."""
    training, session = median_seconds(runs)
    return [f"{training:.1f}", f"{session:.3f}", f"{mean(runs, 'kept_bytes') / 1e6:.2f}"]


def _seconds(values: Sequence[float]) -> str:
    mean = f"{np.mean(values):.2f}"
    return mean if len(values) < 2 else f"{mean} ± {interval(np.array(values)):.2f}"


def _with_seeds(name: str, groups_of_row: Sequence[Sequence[Record]], groups: Groups) -> str:
    """Append the number of seeds to a name if the groups have different numbers of seeds."""
    if len({len(runs) for runs in groups.values()}) < 2:
        return name
    return f"{name} (n = {range_text([len(runs) for runs in groups_of_row if runs])})"


TABLES = {
    "overview": TableKind(
        "Overview", f"{MEANS}; leaky numbers are of the published protocol.", _overview
    ),
    "last-session": TableKind(
        "After the last session",
        f"{MEANS}, over all classes.",
        lambda groups: _side_by_side(groups, [LAST_ACCURACY], lambda name: [name], "method"),
    ),
    "sessions": TableKind(
        "Every session",
        f"Columns 0, 1, … are sessions. {MEANS}; PD in points, RPD in %.",
        lambda groups: _by_session(groups, DROPS),
    ),
    "sessions-in-full": TableKind(
        "Every session, with cost",
        f"Columns 0, 1, … are sessions, best last session first. {MEANS}; PD in points, RPD in %.",
        _sessions_in_full,
    ),
    "known-and-novel": TableKind(
        "Known and novel classes", f"Columns 0, 1, … are sessions. {MEANS}.", _known_and_novel
    ),
    "matrix": TableKind(
        "Variants side by side",
        f"{MEANS}: at session 0 (A0), after the last one, and then on known and on novel classes.",
        lambda groups: _side_by_side(
            groups, SUMMARY.values(), lambda name: [f"{name} {column}" for column in SUMMARY], ""
        ),
    ),
    "comparison": TableKind(
        "Methods compared",
        f"Best last session first. {MEANS}; “behind” in points, paired by seed. Known and novel "
        "are accuracies on these classes after the last session.",
        _comparison,
    ),
    "new-classes": TableKind(
        "Cost of new classes",
        f"Best last session first. {MEANS}; “lost per new class” is A0 minus last in points, "
        "divided by the number of new classes. Seconds are those of learning a session and "
        "predicting all test nodes.",
        _new_classes,
    ),
    "unknown-classes": TableKind(
        "Detection of unknown classes",
        "The probability, in %, that the confidence in a node of a known class is higher than that "
        "in a node of a class that arrives later (AUROC), over the sessions between the first and "
        "the last; mean ± half of the 95 % interval over seeds. 50 is guessing.",
        lambda groups: _side_by_side(groups, ["unknown_auroc"], lambda name: [name], "method"),
    ),
}
