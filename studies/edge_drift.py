"""Accuracy on classes learned before most edges arrived, without and with a refit.

    python -m studies.edge_drift --data DIR     # measure what is missing, then write the table
    python -m studies.edge_drift                # write the table again

The known classes are learned on a tenth of the edges, drawn by seed. Then all edges arrive, and the
same nodes are predicted again, with the model as it is and with one that is fitted again.
Writes ``studies/records/edge-drift.json``, stream by stream, and from it
``docs/explanation/edge-drift-measured.md``.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from studies.record_file import GRAPHS, PAGES, Record

import nodegraft as ng
from nodegraft.analysis.rendering.table import Table
from nodegraft.base.events import SILENT
from nodegraft.base.measure import Measurement
from nodegraft.base.seeds import Seeds
from nodegraft.evaluation.protocol import measure, teach
from nodegraft.lab.datasets.templates.dataset import LoadedDataset
from nodegraft.lab.report.tables import percent
from studies import record_file

METHODS = (
    "graft",
    "sgc-mean",
    "sgc-ridge",
    "sgc-teen",
    "label-propagation",
    "nearest-centroid",
    "proto-gcn",
)
SHOWN = ("graft", "graft-1", *METHODS[1:])
"""`graft-1` was measured with random walks; both are gone, and its records are history."""

RECORDS = record_file.FOLDER / "edge-drift.json"
SHARE = 0.1


def main() -> None:
    """Measure what is missing if data is given, and write the table."""
    parser = record_file.parser(__doc__)
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    options = parser.parse_args()
    if options.data:
        wanted = product(options.graphs, options.methods, range(options.seeds))
        names = ("graph", "method", "seed")
        record_file.measure_missing(RECORDS, names, wanted, options.data, measured)
    (PAGES / "edge-drift-measured.md").write_text(page_text(record_file.read(RECORDS)))


def measured(data: LoadedDataset, method: str, seed: int) -> Record:
    """Measure accuracy on known classes before the edges, after them, and after a refit."""
    few, all_edges = (
        graph.stream(seed=seed, arrival="with-class") for graph in (thinned(data, seed), data)
    )

    def accuracy(model: ng.Method, stream: ng.ClassStream) -> float:
        asked = measure(model, stream.session(0), stream.split, Measurement())
        return round(asked.macro_accuracy, 4)

    model, anew = (ng.make_method(method, seed=seed) for _ in range(2))
    teach(model, few.session(0), few, SILENT)
    teach(anew, all_edges.session(0), all_edges, SILENT)
    return {
        "before": accuracy(model, few),
        "after": accuracy(model, all_edges),
        "anew": accuracy(anew, all_edges),
    }


def thinned(data: LoadedDataset, seed: int) -> LoadedDataset:
    """Return a copy of the dataset with a tenth of the edges, drawn by seed."""
    draws = Seeds(seed).generator("edges")
    graph = data.graph.keeping_edges(lambda source, _: draws.random(source.size) < SHARE)
    return replace(data, graph=graph)


def page_text(records: Sequence[Record]) -> str:
    """Return a table with a row for each graph and method."""
    rows = []
    for graph in GRAPHS:
        for method in SHOWN:
            runs = record_file.matching(records, graph=graph, method=method)
            if runs:
                cells = [
                    percent([record[part] for record in runs])
                    for part in ("before", "after", "anew")
                ]
                lost = [record["anew"] - record["after"] for record in runs]
                rows.append([graph, method, *cells, percent(lost, signed=True)])
    head = ["graph", "method", "a tenth of the edges", "all edges", "refitted", "loss"]
    return f"<!-- Written by studies/edge_drift.py. -->\n\n{Table.of(head, rows).markdown()}\n"


if __name__ == "__main__":
    main()
