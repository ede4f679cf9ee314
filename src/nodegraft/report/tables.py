"""Markdown tables from run records: means over seeds with 95 % intervals."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from nodegraft.base.errors import ParameterError
from nodegraft.benchmark.protocol import STRICT
from nodegraft.benchmark.published import PUBLISHED
from nodegraft.benchmark.suite import Suite
from nodegraft.metrics import interval

Record: TypeAlias = Mapping[str, Any]
# (dataset, name in the table, protocol) -> the records of its seeds
Groups: TypeAlias = dict[tuple[str, str, str], list[Record]]

SUMMARY = {
    "A0": "first_accuracy",
    "last": "last_accuracy",
    "known": "last_known_accuracy",
    "novel": "last_novel_accuracy",
}
COMPARED = {**SUMMARY, "average": "average_accuracy"}


def suite_tables(suite: Suite, records: Sequence[Record]) -> str:
    """All tables a suite asks for; a job without a record is an error."""
    pairs = suite.recorded(records)
    missing = [entry for entry, record in pairs if record is None]
    if missing:
        first = missing[0]
        raise ParameterError(
            f"{len(missing)} of {len(pairs)} jobs have no record, such as {first.name} on "
            f"{first.job.dataset}, seed {first.job.seed}: run `nodegraft bench` first."
        )
    groups: Groups = {}
    for entry, record in pairs:
        key = (entry.job.dataset, entry.name, entry.job.protocol_name)
        groups.setdefault(key, []).append(record or {})
    for name in suite.tables:
        if name not in TABLES:
            raise ParameterError(f"There is no table {name!r}; there are {', '.join(TABLES)}.")
    return "\n\n".join(TABLES[name](groups) for name in suite.tables)


def overview(groups: Groups) -> str:
    """A row for each dataset and method: strict and, where measured, leaky."""
    rows = []
    for dataset, name in _unique((dataset, name) for dataset, name, _ in groups):
        strict = groups.get((dataset, name, STRICT), [])
        leaky = groups.get((dataset, name, PUBLISHED), [])
        cells = [percent(_summaries(strict, field)) for field in SUMMARY.values()]
        cells += [percent(_summaries(leaky, SUMMARY[column])) for column in ("A0", "last")]
        rows.append([dataset, name, *cells])
    return markdown(["dataset", "method", *SUMMARY, "*leaky* A0", "*leaky* last"], rows)


def sessions(groups: Groups) -> str:
    """For each dataset: macro accuracy session by session, what was lost, and what it cost."""
    parts = []
    for dataset, protocol in _unique((dataset, protocol) for dataset, _, protocol in groups):
        chosen = {n: runs for (d, n, p), runs in groups.items() if (d, p) == (dataset, protocol)}
        count = max(len(runs[0]["sessions"]) for runs in chosen.values())
        head = ["method", *map(str, range(count)), "PD", "RPD", "training s", "session s"]
        rows = [[name, *_session_cells(runs)] for name, runs in chosen.items()]
        title = f"**{dataset}**, {protocol} protocol: macro accuracy by session, %"
        parts.append(f"{title}\n\n{markdown(head, rows)}")
    return "\n\n".join(parts)


def known_and_novel(groups: Groups) -> str:
    """For each dataset: accuracy on known and on novel classes, session by session."""
    parts = []
    for (dataset, name, protocol), runs in groups.items():
        rows = [
            [label, *(percent([run["sessions"][i][field] for run in runs]) for i in _indices(runs))]
            for label, field in (
                ("base", "base_accuracy"),
                ("pseudo-novel", "pseudo_novel_accuracy"),
                ("novel", "novel_accuracy"),
            )
        ]
        title = f"**{dataset}**, {name}, {protocol} protocol: by kind of class, %"
        parts.append(f"{title}\n\n{markdown(['classes', *map(str, _indices(runs))], rows)}")
    return "\n\n".join(parts)


def matrix(groups: Groups) -> str:
    """A row for each variant; for each dataset A0, last session, known and novel at the last."""
    datasets = _unique(dataset for dataset, _, _ in groups)
    head = ["", *(f"{dataset} {column}" for dataset in datasets for column in SUMMARY)]
    rows = []
    for name, protocol in _unique((name, protocol) for _, name, protocol in groups):
        cells = [
            percent(_summaries(groups.get((dataset, name, protocol), []), field))
            for dataset in datasets
            for field in SUMMARY.values()
        ]
        rows.append([name, *cells])
    return markdown(head, rows)


def comparison(groups: Groups) -> str:
    """For each dataset a row for each method, best last session first, with what it costs.

    ``behind`` is the paired difference over seeds to the best method that is no ceiling.
    """
    parts = []
    for dataset in _unique(dataset for dataset, _, _ in groups):
        chosen = [(name, p, runs) for (d, name, p), runs in groups.items() if d == dataset]
        chosen.sort(key=lambda item: -np.mean(_summaries(item[2], SUMMARY["last"])))
        best = next((runs for _, protocol, runs in chosen if protocol == STRICT), [])
        rows = []
        for name, protocol, runs in chosen:
            cells = [percent(_summaries(runs, field)) for field in COMPARED.values()]
            compared = protocol == STRICT and runs is not best
            cells.append(percent(_gains(best, runs), signed=True) if compared else "–")
            kept = np.mean(_summaries(runs, "kept_bytes")) / 1e6
            note = protocol.removeprefix(STRICT).removeprefix(", ")
            label = f"{name} — {note}" if note else name
            rows.append([label, *cells, *_seconds(runs), f"{kept:.2f}"])
        head = ["method", *COMPARED, "behind", "training s", "session s", "kept MB"]
        parts.append(f"**{dataset}**\n\n{markdown(head, rows)}")
    return "\n\n".join(parts)


def leak(groups: Groups) -> str:
    """What the published protocol's leak is worth: paired differences over seeds, in points."""
    rows = []
    for dataset, name in _unique((dataset, name) for dataset, name, _ in groups):
        strict = groups.get((dataset, name, STRICT))
        leaky = groups.get((dataset, name, PUBLISHED))
        if not strict or not leaky:
            continue
        row = [dataset, name]
        for field in (SUMMARY["A0"], SUMMARY["last"]):
            gains = percent(_gains(strict, leaky, field), signed=True)
            row += [percent(_summaries(runs, field)) for runs in (strict, leaky)]
            row.append(f"**{gains}**")
        rows.append(row)
    columns = [
        f"{place} {kind}" for place in ("A0", "last") for kind in ("strict", "leaky", "leak")
    ]
    return markdown(["dataset", "method", *columns], rows)


TABLES: dict[str, Callable[[Groups], str]] = {
    "overview": overview,
    "sessions": sessions,
    "known-and-novel": known_and_novel,
    "matrix": matrix,
    "comparison": comparison,
    "leak": leak,
}


def percent(shares: Sequence[float | None], signed: bool = False) -> str:
    """Mean and half the width of its 95 % interval, in percent.

    >>> percent([0.5]), percent([0.4, 0.6]), percent([None]), percent([])
    ('50.0', '50.0 ± 127.1', '–', '–')
    """
    if not shares or None in shares:
        return "–"
    values = 100 * np.array(shares, dtype=np.float64)
    mean = f"{values.mean():+.1f}" if signed else f"{values.mean():.1f}"
    return mean if values.size < 2 else f"{mean} ± {interval(values):.1f}"


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table.

    >>> print(markdown(["a", "b"], [["1", "2"]]))
    | a | b |
    |---|---|
    | 1 | 2 |
    """
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def _session_cells(runs: list[Record]) -> list[str]:
    cells = [
        percent([run["sessions"][i]["macro_accuracy"] for run in runs]) for i in _indices(runs)
    ]
    cells += [
        percent(_summaries(runs, name))
        for name in ("performance_drop", "relative_performance_drop")
    ]
    return [*cells, *_seconds(runs)]


def _seconds(runs: list[Record]) -> list[str]:
    """Of learning: session 0, and the mean over later sessions."""
    training = [run["sessions"][0]["seconds"] for run in runs]
    later = [session["seconds"] for run in runs for session in run["sessions"][1:]]
    return [f"{np.mean(training):.1f}", f"{np.mean(later):.3f}"]


def _indices(runs: list[Record]) -> range:
    return range(len(runs[0]["sessions"]))


def _summaries(runs: Sequence[Record], field: str) -> list[float]:
    return [run["summary"][field] for run in runs]


def _gains(
    before: Sequence[Record], after: Sequence[Record], field: str = SUMMARY["last"]
) -> list[float]:
    pairs = zip(_summaries(before, field), _summaries(after, field), strict=True)
    return [second - first for first, second in pairs]


def _unique(items: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(items))
