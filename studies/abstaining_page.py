"""Tables and curves of the records of :mod:`studies.abstaining`."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from studies.figures.abstaining import (
    AbstainingCurves,
    Acceptance,
    ErrorCurve,
    describe_abstaining,
)
from studies.record_file import Record, matching

from nodegraft.analysis.rendering.table import Table

GRAPHS = ("amazon-clothing", "gentoo", "wordnet", "debian")
LEVELS = (0.90, 0.95)
WAYS = {"macro": "every class alike", "natural": "every node alike"}
SESSIONS = {"first": "session 0", "middle": "middle session", "last": "last session"}


def by_graph(records: Sequence[Record]) -> dict[str, list[Record]]:
    """Return the records of each measured graph, seed by seed."""
    seeds = {graph: matching(records, graph=graph) for graph in GRAPHS}
    return {graph: some for graph, some in seeds.items() if some}


def curves_by_graph(records: Sequence[Record]) -> list[AbstainingCurves]:
    """Join the records of each graph into curves to draw."""
    return [
        AbstainingCurves(
            graph,
            {
                told_way: {told: _curve(seeds, key, way) for key, told in SESSIONS.items()}
                for way, told_way in WAYS.items()
            },
        )
        for graph, seeds in by_graph(records).items()
    ]


def _curve(seeds: Sequence[Record], session: str, way: str) -> ErrorCurve:
    parts = [record["sessions"][session][way] for record in seeds]
    return ErrorCurve(
        [part["errors"] for part in parts], {level: _acceptance(parts, level) for level in LEVELS}
    )


def _acceptance(parts: Sequence[Record], level: float) -> Acceptance:
    accepted = [part["accepted"][f"{level:.2f}"] for part in parts]
    precision = [
        np.nan if acceptance["precision"] is None else acceptance["precision"]
        for acceptance in accepted
    ]
    return Acceptance([acceptance["coverage"] for acceptance in accepted], precision)


def page_text(records: Sequence[Record]) -> str:
    """Return the page: tables, and the figure with its text alternative."""
    graphs = by_graph(records)
    image = (
        f"```{{image}} abstaining.svg\n:alt: {describe_abstaining(curves_by_graph(records))}\n```"
    )
    parts = [
        "<!-- Written by studies/abstaining.py. -->",
        "**Precision in %, worst seed in brackets, and coverage in %**",
        precision_table(graphs),
        image,
        "**Expected calibration error, worst seed in brackets, and mean confidence minus "
        "accuracy**",
        calibration_table(graphs),
        "**Last session, confidence at least 0.90, every node alike, in %: expected precision, "
        "measured precision counted in several ways, and where the mistakes are**",
        shortfall_table(graphs),
        "**Classes never added: AUROC of confidence, and how many % are rejected**",
        unknown_classes_table(graphs),
    ]
    return "\n\n".join(parts) + "\n"


def precision_table(graphs: Mapping[str, Sequence[Record]]) -> str:
    """Return a table with a row for each graph and session."""
    columns = [(way, level) for way in WAYS for level in LEVELS]
    heads = [f"{WAYS[way]}, at least {level:.2f}" for way, level in columns]
    rows = [
        [graph, told_session.removesuffix(" session").removeprefix("session ")]
        + [_precision(_curve(seeds, session, way).levels[level]) for way, level in columns]
        for graph, seeds in graphs.items()
        for session, told_session in SESSIONS.items()
    ]
    return Table.of(["graph", "session", *heads], rows).markdown()


def _precision(at: Acceptance) -> str:
    percent = 100 * np.array(at.precision)
    return f"{np.nanmean(percent):.1f} ({np.nanmin(percent):.1f}), {100 * np.mean(at.coverage):.0f}"


def calibration_table(graphs: Mapping[str, Sequence[Record]]) -> str:
    """A row for each graph."""
    columns = {
        "session 0, all": ("first", "all"),
        "last session, all": ("last", "all"),
        "last session, known classes": ("last", "known"),
        "last session, new classes": ("last", "new"),
        "last session, predicted class is known": ("last", "names_known"),
        "last session, predicted class is new": ("last", "names_new"),
    }

    def cell(seeds: Sequence[Record], session: str, part: str) -> str:
        parts = [record["sessions"][session]["calibration"][part] for record in seeds]
        errors = [part["error"] for part in parts]
        gap = np.mean([part["confidence"] - part["accuracy"] for part in parts])
        return f"{np.mean(errors):.3f} ({max(errors):.3f}), {gap:+.3f}"

    rows = [
        [graph, *(cell(seeds, *where) for where in columns.values())]
        for graph, seeds in graphs.items()
    ]
    return Table.of(["graph", *columns], rows).markdown()


def shortfall_table(graphs: Mapping[str, Sequence[Record]]) -> str:
    """Return a table with a column for each graph: other precisions, and causes of mistakes."""
    numbers: dict[str, Callable[[Record], float]] = {
        "expected precision": lambda last: _precision_at_first(
            last["natural"]["accepted"], "promised"
        ),
        "precision": lambda last: _precision_at_first(last["natural"]["accepted"]),
        "precision, classes as large as in the graph": lambda last: _precision_at_first(
            last["as_in_graph"]
        ),
        "precision, predicted class is known": lambda last: _precision_at_first(
            last["by_answer"]["known"]
        ),
        "precision, predicted class is new": lambda last: _precision_at_first(
            last["by_answer"]["new"]
        ),
        "precision, every predicted class alike": lambda last: _precision_at_first(
            last["by_answer"]["alike"]
        ),
        "precision, without the largest class": lambda last: _precision_at_first(
            last["largest_class"]["without_it"]
        ),
        "largest class, of all queries": lambda last: last["largest_class"]["of_queries"],
        "largest class, of mistakes": lambda last: last["largest_class"]["of_confident_mistakes"],
        "mistakes that name a smaller class": lambda last: last["mistaken_for_smaller"],
    }
    rows = [
        [name]
        + [
            f"{100 * np.mean([number(record['sessions']['last']) for record in seeds]):.1f}"
            for seeds in graphs.values()
        ]
        for name, number in numbers.items()
    ]
    return Table.of(["", *graphs], rows).markdown()


def _precision_at_first(accepted: Record, key: str = "precision") -> float:
    return float(accepted[f"{LEVELS[0]:.2f}"][key])


def unknown_classes_table(graphs: Mapping[str, Sequence[Record]]) -> str:
    """A row for each graph."""
    levels = [f"{level:.2f}" for level in LEVELS]
    heads = [f"{side} rejected at {level}" for level in levels for side in ("never added", "known")]
    keys = [f"{side}_rejected_{level}" for level in levels for side in ("unknown", "known")]

    def row(graph: str, seeds: Sequence[Record]) -> list[str]:
        parts = [record["unknown_classes"] for record in seeds]
        areas = [part["auroc"] for part in parts]
        rejected = [f"{100 * np.mean([part[key] for part in parts]):.0f}" for key in keys]
        return [graph, f"{np.mean(areas):.3f} ({min(areas):.3f})", *rejected]

    rows = [row(graph, seeds) for graph, seeds in graphs.items()]
    return Table.of(["graph", "AUROC (worst seed)", *heads], rows).markdown()
