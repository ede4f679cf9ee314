"""Spread of accuracy by the choice of new classes and by the choice of their labels.

    python -m studies.seeds --data DIR     # measure what is missing, then write the table
    python -m studies.seeds                # write the table again

Each has its own seed, and all pairs of seeds are measured. Strict protocol, arrival ``growing``.
Writes ``studies/records/seeds.json``, stream by stream, and from it
``docs/explanation/seeds-measured.md``.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np
from studies.record_file import GRAPHS, PAGES, Record

import nodegraft as ng
from nodegraft.analysis.rendering.table import Table
from nodegraft.lab.datasets.templates.dataset import LoadedDataset
from studies import record_file

METHODS = ("sgc-mean", "graft")
SHOWN = (*METHODS, "graft-1")
"""`graft-1` was measured with random walks; both are gone, and its records are history."""

RECORDS = record_file.FOLDER / "seeds.json"
NAMES = ("graph", "method", "classes", "nodes")


def main() -> None:
    """Measure what is missing if data is given, and write the table."""
    options = record_file.parser(__doc__, seeds=4).parse_args()
    if options.data:
        seeds = range(options.seeds)
        wanted = product(options.graphs, METHODS, seeds, seeds)
        record_file.measure_missing(RECORDS, NAMES, wanted, options.data, measured)
    (PAGES / "seeds-measured.md").write_text(page_text(record_file.read(RECORDS)))


def measured(data: LoadedDataset, method: str, classes: int, nodes: int) -> Record:
    """Measure the accuracy at the end of a stream."""
    stream = data.stream(seed=classes, node_seed=nodes)
    result = ng.evaluate(ng.make_method(method), stream)
    return {"last": round(result.sessions[-1].macro_accuracy, 4)}


def page_text(records: Sequence[Record]) -> str:
    """Return a table with a row for each graph and method: standard deviations in points."""
    rows = []
    for graph in GRAPHS:
        for method in SHOWN:
            found = {
                (record["classes"], record["nodes"]): record["last"]
                for record in record_file.matching(records, graph=graph, method=method)
            }
            side = int(np.sqrt(len(found)))
            if side < 2 or set(found) != set(np.ndindex(side, side)):
                continue
            square = 100 * np.array(
                [[found[row, column] for column in range(side)] for row in range(side)]
            )
            spread = [square.mean(axis=1 - axis).std(ddof=1) for axis in range(2)]
            rows.append(
                [graph, method, f"{square.mean():.1f}", *(f"{value:.1f}" for value in spread)]
            )
    head = ["graph", "method", "last session, %", "by classes", "by nodes"]
    return f"<!-- Written by studies/seeds.py. -->\n\n{Table.of(head, rows).markdown()}\n"


if __name__ == "__main__":
    main()
