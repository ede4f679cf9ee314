"""What stands in the tables of a suite: means over seeds with 95 % intervals."""

from collections.abc import Callable, Iterable, Sequence

from nodegraft.analysis.rendering.table import Table
from nodegraft.base.errors import ParameterError
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
    paired_differences,
    summary_values,
    unique,
)
from nodegraft.lab.report.tables.cells import (
    kept_megabytes,
    learning_seconds,
    percent,
    session_seconds,
    with_seeds,
)

SUMMARY = {
    "A0": "first_accuracy",
    "last": LAST_ACCURACY,
    "known": "last_known_accuracy",
    "novel": "last_novel_accuracy",
}
COMPARED = {**SUMMARY, "average": "average_accuracy"}
DROPS = {"PD": "performance_drop", "RPD": "relative_performance_drop"}
STREAM = {**DROPS, "average": "average_accuracy", "harmonic mean": "harmonic_mean"}


def suite_tables(suite: Suite, records: Sequence[Record]) -> str:
    """All tables a suite asks for, in Markdown; a job without a record is an error.

    Args:
        suite: Which jobs and tables there are.
        records: All that is on record.
    """
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
    """Tables by name, of what was recorded.

    >>> make_tables(["comparison"], {})
    []

    Args:
        names: Names of tables, as suites write them.
        groups: The records, grouped; see group().
    """
    check_names(names)
    return [table for name in names for table in TABLES[name](groups)]


def check_names(names: Sequence[str]) -> None:
    """An error where there is no table of a name.

    Args:
        names: Names of tables, as suites write them.
    """
    for name in names:
        if name not in TABLES:
            raise ParameterError(f"There is no table {name!r}; there are {', '.join(TABLES)}.")


def overview(groups: Groups) -> list[Table]:
    """A row for each dataset and method: strict and, where measured, leaky.

    Args:
        groups: The records, grouped; see group().
    """
    rows = []
    both = ("A0", "last") if any(protocol == PUBLISHED for _, _, protocol in groups) else ()
    for dataset, name in unique((dataset, name) for dataset, name, _ in groups):
        strict = groups.get((dataset, name, STRICT), [])
        leaky = groups.get((dataset, name, PUBLISHED), [])
        cells = [percent(summary_values(strict, field)) for field in SUMMARY.values()]
        cells += [percent(summary_values(leaky, SUMMARY[column])) for column in both]
        rows.append([dataset, with_seeds(name, [strict or leaky], groups), *cells])
    return [Table.of(["dataset", "method", *SUMMARY, *(f"*leaky* {one}" for one in both)], rows)]


def sessions(groups: Groups) -> list[Table]:
    """For each dataset: macro accuracy session by session, what was lost, and what it cost.

    Args:
        groups: The records, grouped; see group().
    """
    return _by_session(groups, DROPS, kept=False)


def sessions_in_full(groups: Groups) -> list[Table]:
    """The same with averages and what is kept, best last session first.

    Args:
        groups: The records, grouped; see group().
    """
    names = datasets(groups)
    order = sorted(groups, key=lambda key: (names.index(key[0]), key[2], -mean(groups[key])))
    return _by_session({key: groups[key] for key in order}, STREAM)


def known_and_novel(groups: Groups) -> list[Table]:
    """For each dataset: accuracy on known and on novel classes, session by session.

    Args:
        groups: The records, grouped; see group().
    """
    tables = []
    for (dataset, name, protocol), runs in groups.items():
        rows = [
            [label, *(percent([run["sessions"][i][field] for run in runs]) for i in _indices(runs))]
            for label, field in (
                ("base", "base_accuracy"),
                ("pseudo-novel", "pseudo_novel_accuracy"),
                ("novel", "novel_accuracy"),
            )
        ]
        head = ["classes", *map(str, _indices(runs))]
        label = with_seeds(name, [runs], groups)
        caption = f"**{dataset}**, {label}, {protocol} protocol: by kind of class, %"
        tables.append(Table.of(head, rows, caption))
    return tables


def matrix(groups: Groups) -> list[Table]:
    """A row for each variant; for each dataset A0, last session, known and novel at the last.

    Args:
        groups: The records, grouped; see group().
    """
    head = ["", *(f"{dataset} {column}" for dataset in datasets(groups) for column in SUMMARY)]
    return [Table.of(head, _side_by_side(groups, SUMMARY.values()))]


def comparison(groups: Groups) -> list[Table]:
    """For each dataset a row for each method, best last session first, with what it costs.

    ``behind`` is the difference to the best method that is no upper reference, paired by seed.

    Args:
        groups: The records, grouped; see group().
    """
    tables = []
    for dataset in datasets(groups):
        chosen = [(name, p, runs) for (d, name, p), runs in groups.items() if d == dataset]
        chosen.sort(key=lambda item: -mean(item[2]))
        best = next((runs for _, protocol, runs in chosen if protocol == STRICT), [])
        rows = []
        for name, protocol, runs in chosen:
            cells = [percent(summary_values(runs, field)) for field in COMPARED.values()]
            is_compared = protocol == STRICT and runs is not best
            behind = paired_differences(best, runs) if is_compared else []
            cells.append(percent(behind, signed=True))
            note = protocol.removeprefix(STRICT).removeprefix(", ")
            label = with_seeds(f"{name} — {note}" if note else name, [runs], groups)
            rows.append([label, *cells, *learning_seconds(runs), kept_megabytes(runs)])
        head = ["method", *COMPARED, "behind", "training s", "session s", "kept MB"]
        tables.append(Table.of(head, rows, f"**{dataset}**"))
    return tables


def new_classes(groups: Groups) -> list[Table]:
    """For each dataset what each method starts with, ends with, and loses for each new class.

    Args:
        groups: The records, grouped; see group().
    """
    head = ["method", "A0", "last", "lost per new class", "seconds a session"]
    tables = []
    for dataset in datasets(groups):
        found = by_method(groups, dataset)
        rows = [
            [
                with_seeds(name, [found[name]], groups),
                percent(summary_values(found[name], "first_accuracy")),
                percent(summary_values(found[name])),
                percent(losses_per_class(found[name])),
                session_seconds(found[name]),
            ]
            for name in sorted(found, key=lambda name: -mean(found[name]))
        ]
        tables.append(Table.of(head, rows, f"**{dataset}**"))
    return tables


def last_session(groups: Groups) -> list[Table]:
    """A row for each method: what it ends with on each dataset.

    Args:
        groups: The records, grouped; see group().
    """
    return [Table.of(["method", *datasets(groups)], _side_by_side(groups, [LAST_ACCURACY]))]


def unknown_classes(groups: Groups) -> list[Table]:
    """A row for each method: how well it tells classes still to come from those it knows.

    Args:
        groups: The records, grouped; see group().
    """
    return [Table.of(["method", *datasets(groups)], _side_by_side(groups, ["unknown_auroc"]))]


TABLES: dict[str, Callable[[Groups], list[Table]]] = {
    "overview": overview,
    "last-session": last_session,
    "sessions": sessions,
    "sessions-in-full": sessions_in_full,
    "known-and-novel": known_and_novel,
    "matrix": matrix,
    "comparison": comparison,
    "new-classes": new_classes,
    "unknown-classes": unknown_classes,
}


def _by_session(groups: Groups, stream: dict[str, str], kept: bool = True) -> list[Table]:
    tables = []
    for dataset, protocol in unique((dataset, protocol) for dataset, _, protocol in groups):
        chosen = by_method(groups, dataset, protocol)
        count = max(len(runs[0]["sessions"]) for runs in chosen.values())
        head = ["method", *map(str, range(count)), *stream, "training s", "session s"]
        rows = [
            [
                with_seeds(name, [runs], groups),
                *(
                    percent([run["sessions"][i]["macro_accuracy"] for run in runs])
                    for i in _indices(runs)
                ),
                *(percent(summary_values(runs, field)) for field in stream.values()),
                *learning_seconds(runs),
                *([kept_megabytes(runs)] if kept else []),
            ]
            for name, runs in chosen.items()
        ]
        caption = f"**{dataset}**, {protocol} protocol: macro accuracy by session, %"
        tables.append(Table.of([*head, *(["kept MB"] if kept else [])], rows, caption))
    return tables


def _side_by_side(groups: Groups, fields: Iterable[str]) -> list[list[str]]:
    """A row for each name and protocol; for each dataset these fields of the summaries."""
    columns, fields = datasets(groups), list(fields)
    rows = []
    for name, protocol in unique((name, protocol) for _, name, protocol in groups):
        found = [groups.get((dataset, name, protocol), []) for dataset in columns]
        cells = [percent(summary_values(runs, field)) for runs in found for field in fields]
        rows.append([with_seeds(name, found, groups), *cells])
    return rows


def _indices(runs: Sequence[Record]) -> range:
    return range(len(runs[0]["sessions"]))
