"""Time of adding a class, undoing and growing with ``graft``, up to the next prediction.

    python -m studies.teaching                 # 20,000 nodes, 195 classes of 5 labels
    python -m studies.teaching --large         # 1,000,000 nodes and 50 labels, too: 10 GB, an hour

A block model with strong features (:class:`~nodegraft.graph.block_model.BlockModel`, 128 columns,
mean degree 20). 190 classes are fitted; five more are taught one after the other, each with five
labels, and after each 100 nodes are asked about. Then the last class is undone, and the graph grows
by 100 nodes and 1,000 edges with ends drawn evenly. Seconds are those of the processor, on one
thread, medians over rounds; memory is what a fit takes beside the graph. Each measurement is a
process of its own. Writes ``studies/records/teaching.json`` and from it
``docs/explanation/teaching-measured.md``.
"""

import argparse
from collections.abc import Sequence
from functools import partial
from statistics import median

import numpy as np
import torch
from performance.add_classes import timed
from performance.anonymous_peak import AnonymousPeak
from studies.record_file import PAGES, Record

import nodegraft as ng
from nodegraft.analysis.rendering.table import Table
from nodegraft.graph.block_model import BlockModel
from studies import record_file

RECORDS = record_file.FOLDER / "teaching.json"
SMALL, LARGE = (20_000, 5), (1_000_000, 50)
"""Nodes, and labels of each class that is fitted."""

FIRST, TAUGHT, NEW_LABELS, ASKED = 190, 5, 5, 100
NEW_NODES, NEW_EDGES, GROWTHS = 100, 1000, 5


def main() -> None:
    """Measure what is missing, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--large", action="store_true", help="measure 1,000,000 nodes, too")
    options = parser.parse_args()
    wanted = [SMALL, LARGE] if options.large else [SMALL]
    apart = partial(record_file.measured_apart, measured)
    record_file.add_missing(RECORDS, ("nodes", "labels"), wanted, apart)
    (PAGES / "teaching-measured.md").write_text(table_page(record_file.read(RECORDS)))


def measured(nodes: int, labels: int) -> Record:
    """Measure one case.

    Args:
        nodes: How many nodes the graph has.
        labels: How many labels each fitted class has.
    """
    torch.set_num_threads(1)
    classes = FIRST + TAUGHT
    graph, members = BlockModel(
        nodes=nodes, classes=classes, degree=20.0, features=128, signal=1.5
    ).draw()
    first = {name: members[name][:labels].tolist() for name in members.classes[:FIRST]}
    model, asked = ng.Graft(), graph.rows[:ASKED]
    with AnonymousPeak() as memory:
        fit, _ = timed(lambda: model.fit(graph, first))
    first_answer, _ = timed(lambda: model.score_rows(graph, asked))

    def teach(name: str) -> None:
        model.add_classes(graph, {name: members[name][:NEW_LABELS].tolist()})
        model.score_rows(graph, asked)

    taught = [timed(partial(teach, name))[0] for name in members.classes[FIRST:]]

    def undo() -> None:
        model.remove_classes([members.classes[-1]])
        model.score_rows(graph, asked)

    undone, _ = timed(undo)
    grow = [_grow(model, graph, number) for number in range(GROWTHS)]
    return {
        "times": model.times_.tolist(),
        "fit_seconds": _short(fit),
        "fit_bytes": memory.bytes,
        "first_answer_seconds": _short(first_answer),
        "teach_seconds": _short(median(taught)),
        "undo_seconds": _short(undone),
        "grow_seconds": _short(median(grow)),
    }


def _grow(model: ng.Graft, graph: ng.Graph, seed: int) -> float:
    draws = np.random.default_rng(seed)
    keys = [graph.num_nodes + number for number in range(NEW_NODES)]
    rows = np.sort(draws.choice(graph.num_nodes, NEW_NODES, replace=False))
    features = np.asarray(graph.features(rows))
    source = draws.integers(graph.num_nodes + NEW_NODES, size=NEW_EDGES).tolist()
    target = draws.choice(keys, NEW_EDGES).tolist()

    def grow() -> None:
        larger = graph.grow(keys, features, list(zip(source, target, strict=True)))
        model.score_rows(larger, np.arange(graph.num_nodes, larger.num_nodes))

    return timed(grow)[0]


def _short(seconds: float) -> float:
    return float(f"{seconds:.3g}")


def table_page(records: Sequence[Record]) -> str:
    """Return the table as Markdown.

    Args:
        records: All records there are.
    """
    names = ["fit", "first_answer", "teach", "undo", "grow"]
    titles = ["fit", "first prediction", "add a class", "undo", "grow"]
    head = ["nodes", "labels of a class", *(f"{title}, s" for title in titles)]
    rows = [
        [
            f"{record['nodes']:,}",
            str(record["labels"]),
            *(f"{record[f'{name}_seconds']:g}" for name in names),
            f"{record['fit_bytes'] / 1e6:,.0f}",
        ]
        for record in sorted(records, key=lambda record: record["nodes"])
    ]
    table = Table.of([*head, "memory of a fit, MB"], rows).markdown()
    return f"<!-- Written by studies/teaching.py. -->\n\n{table}\n"


if __name__ == "__main__":
    main()
