"""Compare predictions of rows that are not in the graph with those after growing by each row.

    python -m studies.new_rows --data DIR        # measure what is missing, then write the page
    python -m studies.new_rows                   # write the page again

1,000 nodes are taken out of a graph, and ``graft`` is fitted on 10 labels of each of the 30 largest
classes. Each of these nodes is then predicted as a row beside the graph, in memory and on disk, and
as a node of the graph that has grown by it alone: with classes that are derived again, because
labelled neighbours of the node have another mean then, and with the classes as they were before.
Seconds are those of the processor, for one row, and for one known node beside it. With 10 labels no
unlabelled node refines the mean of a class, so the sample of unlabelled nodes, from which only
shares of classes are estimated, is small here: it costs most of a growth and changes no class.
Writes ``studies/records/new-rows.json`` and
``docs/how-to/new-rows-measured.md``.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np
from studies.record_file import PAGES, Record, rounded

from nodegraft.analysis.rendering.table import Table
from nodegraft.base.memo import LatestMemo
from nodegraft.graph.edges.entries import IN, OUT, Entries
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.edges.relation import Relation
from nodegraft.graph.graph import Graph
from nodegraft.graph.growth.rows_view import NewRows, RowsView
from nodegraft.lab.datasets.templates.dataset import LoadedDataset
from nodegraft.methods.graft import Graft, evidence
from nodegraft.methods.graft.scoring import Derivation, Scoring
from nodegraft.tables.disk.save import save_mapped
from studies import record_file

RECORDS = record_file.FOLDER / "new-rows.json"
PAGE = PAGES.parent / "how-to" / "new-rows-measured.md"
ROWS, CLASSES, LABELS, SAMPLE = 1000, 30, 10, 64


def main() -> None:
    """Measure if there is data to measure on, and write the page."""
    options = record_file.parser(__doc__, seeds=1).parse_args()
    evidence.POOL = SAMPLE
    if options.data:
        wanted = [(graph, seed) for graph in options.graphs for seed in range(options.seeds)]
        record_file.measure_missing(RECORDS, ("graph", "seed"), wanted, options.data, measured)
    PAGE.write_text(page(record_file.read(RECORDS)))


def measured(data: LoadedDataset, seed: int) -> Record:
    """Predict each node that was taken out in both ways.

    Args:
        data: The graph and its labels.
        seed: Of the nodes that are taken out, and of the labels.
    """
    random = np.random.default_rng(seed)
    gone = np.sort(random.choice(data.graph.num_nodes, ROWS, replace=False))
    graph = data.graph.without(gone)
    place = np.full(data.graph.num_nodes, -1)
    place[np.setdiff1d(data.graph.rows, gone)] = graph.rows
    largest = sorted(data.labels, key=lambda name: -data.labels[name].size)[:CLASSES]
    labels = {
        name: graph.keys_of(random.permutation(left[left >= 0])[:LABELS])
        for name in largest
        for left in [place[data.labels[name]]]
    }
    model = Graft(seed=seed).fit(graph, labels)
    model.predict(graph, graph.keys_of(graph.rows[:100]))
    agree = agree_fixed = 0
    difference = 0.0
    seconds: dict[str, list[float]] = {"row": [], "known": []}
    rows = [_new_row(data.graph, node, place) for node in gone]
    classes = np.zeros(ROWS, dtype=np.int64)
    for number, (node, new) in enumerate(zip(gone, rows, strict=True)):
        start = process_time()
        scores = _scores(model, RowsView.of(graph, new))
        classes[number] = scores.argmax()
        seconds["row"].append(process_time() - start)
        known, start = random.integers(graph.num_nodes, size=1), process_time()
        model.score_rows(graph, known)
        seconds["known"].append(process_time() - start)
        larger = _grown(graph, data.graph, new, node)
        derived, row = _apart(model).derived(larger), np.array([graph.num_nodes])
        agree += int(derived.scoring.scores(row).argmax() == classes[number])
        fixed = _with_classes_of(derived, model.derived(graph)).scores(row)
        agree_fixed += int(fixed.argmax() == classes[number])
        difference = max(difference, float(abs(fixed - scores).max()))
        if number % 50 == 49:
            print(
                f"{data.name}: {number + 1} rows, {agree} agree, {agree_fixed} with fixed classes",
                flush=True,
            )
    with TemporaryDirectory() as folder:
        mapped = save_mapped(graph, Path(folder) / "graph")
        on_disk = [_scores(model, RowsView.of(mapped, new)).argmax() for new in rows]
    return {
        "nodes": graph.num_nodes,
        "classes": len(labels),
        "rows": ROWS,
        "agree": agree,
        "agree_with_fixed_classes": agree_fixed,
        "largest_difference_with_fixed_classes": rounded(difference),
        "agree_on_disk": int((np.array(on_disk) == classes).sum()),
        "milliseconds": {
            name: [rounded(1000 * float(np.quantile(times, share))) for share in (0.5, 0.99)]
            for name, times in seconds.items()
        },
    }


def _new_row(graph: Graph, node: int, place: IntArray) -> NewRows:
    edges = {}
    for kind in graph.relations:
        found = graph._store.adjacency(kind).entries_of(np.array([node]))
        columns = place[found.columns]
        kept = [None if column is None else column[columns >= 0] for column in found]
        edges[kind] = Entries(kept[0], columns[columns >= 0], *kept[2:])  # type: ignore[arg-type]
    return NewRows(graph.keys_of([node]), graph.features([node]), edges)


def _grown(graph: Graph, whole: Graph, new: NewRows, node: int) -> Graph:
    """Return the graph that has grown by one row, through the interface that users have."""
    (key,) = new.names
    relations: dict[str, Any] = {}
    for kind, edges in new.edges.items():
        others = graph.keys_of(edges.columns)
        leads = np.full(len(others), OUT) if edges.directions is None else edges.directions
        pairs = [(key, other) for other, way in zip(others, leads, strict=True) if way & OUT]
        pairs += [(other, key) for other, way in zip(others, leads, strict=True) if way & IN]
        if pairs:
            relations[kind] = Relation(pairs)
    return graph.grow([key], whole.features([node]), relations)


def _apart(model: Graft) -> Graft:
    """Return a copy whose caches start from those of the graph before, and leave them as they are.

    A model that is used on a grown graph keeps what it computes there instead.
    """
    copy = model._trial()
    copy._forget_derived()
    copy._evidence_memo, before = LatestMemo(), model._evidence_memo
    copy._evidence_memo._latest = before._latest
    return copy


def _with_classes_of(after: Derivation, before: Derivation) -> Scoring:
    """Return the scoring of a grown graph whose classes are those before the growth.

    Only the heat is that of the grown graph, in which it reaches the new node.
    """
    classes = replace(before.scoring.classes, heat=after.scoring.classes.heat)
    return replace(after.scoring, classes=classes)


def _scores(model: Graft, view: RowsView) -> Any:
    return model.score_rows(view, view.new_rows)


def page(records: Sequence[Record]) -> str:
    """Return the table as Markdown.

    Args:
        records: All records there are.
    """
    rows = [
        [
            record["graph"],
            f"{record['nodes']:,}",
            str(record["classes"]),
            f"{record['rows']:,}",
            f"{100 * record['agree'] / record['rows']:.1f} %",
            f"{100 * record['agree_with_fixed_classes'] / record['rows']:.1f} %",
            f"{100 * record['agree_on_disk'] / record['rows']:.1f} %",
            *(
                " / ".join(f"{milliseconds:.1f}" for milliseconds in record["milliseconds"][name])
                for name in WAYS
            ),
        ]
        for record in records
    ]
    head = [
        "graph",
        "nodes",
        "classes",
        "rows",
        "as after growth",
        "as after growth, same classes",
        "as on disk",
        *WAYS.values(),
    ]
    return f"<!-- Written by studies/new_rows.py. -->\n\n{Table.of(head, rows).markdown()}\n"


WAYS = {"row": "ms of a row: median / p99", "known": "ms of a known node"}


if __name__ == "__main__":
    main()
