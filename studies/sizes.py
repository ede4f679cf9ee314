"""Accuracy of ``graft`` against the size of the graph, on a block model with weak features.

    python -m studies.sizes                     # measure what is missing, then write the table
    python -m studies.sizes --large             # 2,000,000 nodes, too (about 6 GB of memory)
    python -m studies.sizes --nodes 20000 60000 --seeds 2
    python -m studies.sizes --nodes             # write the table again

20 classes of equal size whose means lie half a standard deviation apart, eight edges for each node,
of which four in five stay within a class. Twelve classes have 20 labels each, then eight are added
with five labels each; 20,000 other nodes are predicted. Signals are the same at every size, so
accuracy should be, too. Each measurement is a process of its own on one thread. Writes
``studies/records/sizes.json``, one measurement after the other, and from it
``docs/explanation/sizes-measured.md``.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median

import numpy as np
import torch
from numpy.typing import NDArray
from performance.add_classes import timed
from performance.anonymous_peak import AnonymousPeak
from studies.record_file import PAGES, Record

import nodegraft as ng
from nodegraft.analysis.rendering.table import Table
from nodegraft.base.seeds import Seeds
from nodegraft.graph.block_model import BlockModel
from nodegraft.graph.labels import NodeLabels
from nodegraft.lab.report.tables import percent
from studies import record_file

RECORDS = record_file.FOLDER / "sizes.json"
SIZES, LARGE_SIZES = (20_000, 60_000, 185_000, 195_000, 600_000), (2_000_000,)
ONE_SEED_FROM = 600_000
"""Graphs of so many nodes are drawn once only."""

CLASSES, FIRST, FIRST_LABELS, NEW_LABELS = 20, 12, 20, 5
QUERIES = 20_000
"""How many nodes are asked about."""


@dataclass(frozen=True)
class Case:
    """Drawn graph with its labels and queries."""

    graph: ng.Graph
    """The graph; keys are row numbers."""

    members: NodeLabels
    """All nodes by class."""

    first: NodeLabels
    """Labels of the classes that a model is fitted on."""

    new: NodeLabels
    """Labels of the classes that are added."""

    queries: NDArray[np.int64]
    """Nodes without a label, ascending."""

    @classmethod
    def draw(cls, nodes: int, seed: int) -> "Case":
        """Draw a case.

        Args:
            nodes: How many nodes the graph has.
            seed: Draws the graph, the labels and the queries.
        """
        graph, members = BlockModel(nodes=nodes, classes=CLASSES, signal=0.5, seed=seed).draw()
        draws = Seeds(seed).generator("labels")
        counts = [FIRST_LABELS] * FIRST + [NEW_LABELS] * (CLASSES - FIRST)
        labels = {
            name: np.sort(draws.choice(rows, count, replace=False))
            for (name, rows), count in zip(members.items(), counts, strict=True)
        }
        others = np.setdiff1d(graph.rows, np.concatenate(list(labels.values())))
        queries = np.sort(draws.choice(others, min(QUERIES, others.size), replace=False))
        first, new = (
            NodeLabels({name: labels[name] for name in names})
            for names in (members.classes[:FIRST], members.classes[FIRST:])
        )
        return cls(graph, members, first, new, queries)

    def macro_accuracy(self, predictions: Sequence[str]) -> float:
        """Return the mean over classes of the share of queries that are predicted correctly.

        Args:
            predictions: The predicted class of each query.
        """
        predicted = np.array(predictions)
        recalls = [
            (predicted[np.isin(self.queries, rows)] == name).mean()
            for name, rows in self.members.items()
        ]
        return float(np.mean(recalls))


def main() -> None:
    """Measure what is missing, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--nodes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--seeds", type=int, default=3, help="below 600,000 nodes; one above")
    parser.add_argument("--large", action="store_true", help="measure 2,000,000 nodes, too")
    options = parser.parse_args()
    sizes = [*options.nodes, *(LARGE_SIZES if options.large else ())]
    wanted = (
        (nodes, seed)
        for nodes in sizes
        for seed in range(options.seeds if nodes < ONE_SEED_FROM else 1)
    )
    apart = partial(record_file.measured_apart, measured)
    record_file.add_missing(RECORDS, ("nodes", "seed"), wanted, apart)
    (PAGES / "sizes-measured.md").write_text(table_page(record_file.read(RECORDS)))


def measured(nodes: int, seed: int) -> Record:
    """Measure one case: accuracy, seconds of the processor, memory above that of the graph.

    Args:
        nodes: How many nodes the graph has.
        seed: Draws everything.
    """
    torch.set_num_threads(1)
    case, model = Case.draw(nodes, seed), ng.Graft()
    *others, last = case.new
    asked = case.queries.tolist()
    # The thread that watches memory takes a little of the processor, too.
    with AnonymousPeak() as memory:
        fit, _ = timed(lambda: model.fit(case.graph, case.first))
        model.add_classes(case.graph, case.new.select(others))
        model.predict(case.graph, asked[:1])

        def add_one() -> None:
            model.add_classes(case.graph, case.new.select([last]))
            model.predict(case.graph, asked[:1])

        one_more, _ = timed(add_one)
        predictions = model.predict(case.graph, asked)
    return {
        "accuracy": round(case.macro_accuracy(predictions), 4),
        "times": model.times_.tolist(),
        "fit_seconds": float(f"{fit:.3g}"),
        "class_seconds": float(f"{one_more:.3g}"),
        "anonymous_bytes": memory.bytes,
    }


def table_page(records: Sequence[Record]) -> str:
    """Return the table as Markdown: a row for each size, with the median of seconds and of memory.

    Args:
        records: All records there are.
    """
    rows = []
    for nodes in sorted({record["nodes"] for record in records}):
        some = record_file.matching(records, nodes=nodes)
        fit, one_more, memory = (
            median(record[name] for record in some)
            for name in ("fit_seconds", "class_seconds", "anonymous_bytes")
        )
        accuracy = percent([record["accuracy"] for record in some])
        numbers = [f"{fit:.1f}", f"{one_more:.2f}", f"{memory / 1e6:,.0f}"]
        rows.append([f"{nodes:,}", str(len(some)), accuracy, *numbers])
    head = ["nodes", "seeds", "macro accuracy", "fit, s", "one more class, s", "memory, MB"]
    return f"<!-- Written by studies/sizes.py. -->\n\n{Table.of(head, rows).markdown()}\n"


if __name__ == "__main__":
    main()
