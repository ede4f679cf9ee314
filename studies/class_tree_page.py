"""Page of :mod:`studies.class_tree`: borrowing, back-off and calibration."""

from collections.abc import Sequence

import numpy as np
from studies.record_file import Record, matching

from nodegraft.analysis.rendering.table import Table
from nodegraft.lab.report.tables import percent

DESIGN = ("gentoo", "wordnet")
"""Graphs on whose inner streams the way to borrow was chosen."""

HELD_OUT = ("linux-sources", "metamath-theorems")
"""Graphs whose test streams were run once, after the choice."""

PLAIN = "nothing"
"""Name of the way in which no class borrows."""

ACCURACIES = {"all": "all classes", "known": "known", "new": "new", "top": "highest ancestor"}
WAYS = {"abstain": "abstain", "up": "up from the best class", "any": "deepest in any branch"}
WORLDS = ("open", "closed")
LEVEL = "0.90"


def page_text(records: Sequence[Record]) -> str:
    """Return the page as Markdown.

    Args:
        records: All records there are.
    """
    groups = {
        graph: seeds for graph in (*DESIGN, *HELD_OUT) if (seeds := matching(records, graph=graph))
    }
    parts = [
        "<!-- Written by studies/class_tree.py. -->",
        f"Accuracy. In the rows of *{PLAIN}*: in %, every class counting alike, mean ± half of the "
        "95 % interval over seeds. In the other rows: the difference from it in points, paired by "
        "seed.",
        "Five labels for each new class:",
        _borrowing(groups, "5"),
        "One label for each new class:",
        _borrowing(groups, "1"),
        f"Predictions with a confidence of {LEVEL} or more, in %, every node counting alike:",
        _answers(groups),
        "Accuracy and calibration of classes and of their highest ancestors, in % except for the "
        "expected calibration error (ECE), every node counting alike. The calibration of ancestors "
        "is that of nodes whose best class has one:",
        _ancestors(groups),
    ]
    return "\n\n".join(parts) + "\n"


def _borrowing(groups: dict[str, list[Record]], shots: str) -> str:
    rows = []
    for graph, seeds in groups.items():
        measured = [record["accuracy"][shots] for record in seeds]
        for way in measured[0]:
            cells = [_accuracy(measured, way, name) for name in ACCURACIES]
            rows.append([graph, seeds[0]["stream"], way, *cells, str(len(seeds))])
    head = ["graph", "stream", "borrowed", *ACCURACIES.values(), "seeds"]
    return Table.of(head, rows).markdown()


def _accuracy(measured: Sequence[Record], way: str, name: str) -> str:
    if way == PLAIN:
        return percent([record[way][name] for record in measured])
    return percent([record[way][name] - record[PLAIN][name] for record in measured], signed=True)


def _answers(groups: dict[str, list[Record]]) -> str:
    rows = []
    for graph, seeds in groups.items():
        for world in WORLDS:
            for way, words in WAYS.items():
                found = [record["back_off"][world][LEVEL][way] for record in seeds]
                every, new = ([record[group] for record in found] for group in ("all", "new"))
                above = [record["above"] for record in every]
                rows.append(
                    [
                        *(graph, world, words),
                        _mean(every, "coverage"),
                        _mean(every, "precision"),
                        _mean(new, "coverage"),
                        _mean(new, "precision"),
                        _mean(above, "coverage"),
                        _mean(above, "precision"),
                        _mean(above, "promised"),
                        str(len(seeds)),
                    ]
                )
    head = ["graph", "world", "prediction", "coverage", "precision", "coverage, new classes"]
    head += ["precision", "coverage, ancestors", "precision", "mean confidence", "seeds"]
    return Table.of(head, rows).markdown()


def _mean(measures: Sequence[Record], name: str) -> str:
    """Return the mean in %, over the seeds that have the number."""
    numbers = [record[name] for record in measures if record[name] is not None]
    return f"{100 * np.mean(numbers):.1f}" if numbers else "–"


def _ancestors(groups: dict[str, list[Record]]) -> str:
    rows = []
    for graph, seeds in groups.items():
        measures = [record["back_off"] for record in seeds]
        cells = [
            percent([record[name] for record in measures])
            for name in ("class_accuracy", "top_accuracy", "top_accuracy_of_sums")
        ]
        wrong = percent([1.0 - record["top_accuracy"] for record in measures])
        for kind in ("class_calibration", "top_calibration"):
            parts = [record[kind] for record in measures]
            cells.append(f"{np.mean([part['error'] for part in parts]):.3f}")
            cells += [_mean(parts, "probability"), _mean(parts, "accuracy")]
        rows.append([graph, *cells[:2], wrong, *cells[2:], str(len(seeds))])
    head = ["graph", "best class right, %", "its highest ancestor right", "wrong branch"]
    head += ["ancestor of largest sum right", "ECE of classes", "mean probability", "right"]
    head += ["ECE of highest ancestors", "mean probability", "right", "seeds"]
    return Table.of(head, rows).markdown()
