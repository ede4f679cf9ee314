"""Which moves a number more: which classes are new, or which of their nodes teach?

    python -m studies.seeds --data DIR     # measures what is missing, then writes the table
    python -m studies.seeds                # writes the table again

Both are drawn by seeds of their own, each with each. Strict protocol, arrival ``growing``. Writes
``studies/records/seeds.json``, stream by stream, and from it
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
    """Measure if there is data to measure on, and write the table."""
    options = record_file.parser(__doc__, seeds=4).parse_args()
    if options.data:
        seeds = range(options.seeds)
        wanted = product(options.graphs, METHODS, seeds, seeds)
        record_file.measure_missing(RECORDS, NAMES, wanted, options.data, measured)
    (PAGES / "seeds-measured.md").write_text(told(record_file.read(RECORDS)))


def measured(data: LoadedDataset, method: str, classes: int, nodes: int) -> Record:
    """One stream: the accuracy at its end."""
    stream = data.stream(seed=classes, node_seed=nodes)
    result = ng.evaluate(ng.make_method(method), stream)
    return {"last": round(result.sessions[-1].macro_accuracy, 4)}


def told(records: Sequence[Record]) -> str:
    """One row for each graph and method: standard deviations, in points."""
    rows = []
    for graph in GRAPHS:
        for method in SHOWN:
            found = {
                (one["classes"], one["nodes"]): one["last"]
                for one in records
                if (one["graph"], one["method"]) == (graph, method)
            }
            side = int(np.sqrt(len(found)))
            if side < 2 or set(found) != set(np.ndindex(side, side)):
                continue
            square = 100 * np.array(
                [[found[row, column] for column in range(side)] for row in range(side)]
            )
            spread = [square.mean(axis=1 - axis).std(ddof=1) for axis in range(2)]
            rows.append([graph, method, f"{square.mean():.1f}", *(f"{one:.1f}" for one in spread)])
    head = ["graph", "method", "last session, %", "by classes", "by nodes"]
    return f"<!-- Written by studies/seeds.py. -->\n\n{Table.of(head, rows).markdown()}\n"


if __name__ == "__main__":
    main()
