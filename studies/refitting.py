"""Accuracy that a refit gains in a store with many more labels than at its start.

    python -m studies.refitting --data DIR     # measure what is missing, then write the table
    python -m studies.refitting                # write the table again

A store starts with five labels of every class and gets more, drawn at random from all nodes, until
there are twice and five times as many. Each time two models predict the unlabelled nodes: the one
that was fitted on the first labels and got the others later, and one that is fitted on all. Writes
``studies/records/refitting.json``, graph by graph and seed by seed, and from it
``docs/how-to/refitting-measured.md``.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np
from studies.record_file import GRAPHS, PAGES, Record
from studies.suggesting import SHOTS, scored, taught

from nodegraft.analysis.labels.labels import StoreLabels
from nodegraft.analysis.rendering.table import Table
from nodegraft.analysis.snapshot import first_state
from nodegraft.base.seeds import Seeds
from nodegraft.evaluation.metrics import interval
from nodegraft.lab.datasets.templates.dataset import LoadedDataset
from studies import record_file

RECORDS = record_file.FOLDER / "refitting.json"
TIMES = (2, 5)


def main() -> None:
    """Measure what is missing if data is given, and write the table."""
    options = record_file.parser(__doc__).parse_args()
    if options.data:
        wanted = product(options.graphs, range(options.seeds))
        record_file.measure_missing(RECORDS, ("graph", "seed"), wanted, options.data, measured)
    page = PAGES.parent / "how-to" / "refitting-measured.md"
    page.write_text(page_text(record_file.read(RECORDS)))


def measured(data: LoadedDataset, seed: int) -> Record:
    """Measure a store with more and more labels."""
    draws = Seeds(seed).generator("refitting")
    first = {name: draws.permutation(rows)[:SHOTS] for name, rows in sorted(data.labels.items())}
    began = np.concatenate(list(first.values()))
    labels = {name: data.graph.keys_of(rows) for name, rows in first.items()}
    state = first_state(data.graph, StoreLabels().added(labels), "graft", {})
    drawn = draws.permutation(np.setdiff1d(data.labels.rows(), began))
    # All are asked about the same nodes.
    asked = np.sort(drawn[(max(TIMES) - 1) * began.size :])
    found: Record = {"start": scored(state, data.labels, asked)}
    for times in TIMES:
        more = taught(state, data.labels, drawn[: (times - 1) * began.size])
        found[f"told {times}"] = scored(more, data.labels, asked)
        found[f"fitted {times}"] = scored(more.refitted(), data.labels, asked)
    return found


def page_text(records: Sequence[Record]) -> str:
    """Return a table with a row for each graph and number of labels: accuracies in percent."""
    rows = []
    for graph in [name for name in GRAPHS if any(record["graph"] == name for record in records)]:
        some = record_file.matching(records, graph=graph)
        start = _percent(some, "start").mean()
        for times in TIMES:
            before, after = _percent(some, f"told {times}"), _percent(some, f"fitted {times}")
            gain = f"{(after - before).mean():+.1f}"
            if len(some) > 1:
                gain += f" ± {interval(after - before):.1f}"
            means = [f"{value:.1f}" for value in (start, before.mean(), after.mean())]
            rows.append([graph, str(len(some)), f"{times} times", *means, gain])
    heads = ["graph", "seeds", "labels", "at first", "more labels, no refit", "refitted", "gain"]
    return f"<!-- Written by studies/refitting.py. -->\n\n{Table.of(heads, rows).markdown()}\n"


def _percent(records: Sequence[Record], way: str) -> np.ndarray:
    return 100 * np.array([record[way]["accuracy"] for record in records])


if __name__ == "__main__":
    main()
