"""Value of edge types: hidden, shown, shuffled, and as edge weights for methods without types.

    python -m studies.kinds --data DIR     # measure what is missing, then write the table
    python -m studies.kinds                # write the table again

``hidden``: all edge types merged. ``shown``: as they are. ``shuffled``: types permuted among edges.
``weighed``: a single type, with the edge weights that ``graft`` computes from the labels of session
0, so that every method has the same information. Strict protocol, arrival ``growing``; opponents
with the values of their search. Writes ``studies/records/kinds.json``, stream by stream, and from
it ``docs/explanation/kinds-measured.md``.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from studies.record_file import PAGES, Record
from studies.searches import best_parameters

import nodegraft as ng
from nodegraft.analysis.rendering.table import Table
from nodegraft.base.seeds import Seeds
from nodegraft.graph.statistics import homophily_of_kinds, relation_weights
from nodegraft.lab.datasets.templates.dataset import LoadedDataset
from nodegraft.lab.report.tables import percent
from studies import record_file

GRAPHS = ("gentoo", "debian", "wordnet")
WAYS = {
    "graft": ("hidden", "shown", "shuffled", "weighed"),
    "sgc-mean": ("hidden", "weighed"),
    "sgc-ridge": ("hidden", "weighed"),
    "hag-meta": ("hidden", "weighed"),
}
RECORDS = record_file.FOLDER / "kinds.json"


def main() -> None:
    """Measure what is missing if data is given, and write the table."""
    parser = record_file.parser(__doc__, seeds=3, graphs=GRAPHS)
    parser.add_argument("--methods", nargs="+", default=tuple(WAYS), choices=tuple(WAYS))
    options = parser.parse_args()
    if options.data:
        wanted = (
            (graph, method, way, seed)
            for graph, method, seed in product(
                options.graphs, options.methods, range(options.seeds)
            )
            for way in WAYS[method]
        )
        names = ("graph", "method", "kinds", "seed")
        record_file.measure_missing(RECORDS, names, wanted, options.data, measured)
    (PAGES / "kinds-measured.md").write_text(page_text(record_file.read(RECORDS)))


def measured(data: LoadedDataset, method: str, way: str, seed: int) -> Record:
    """Measure a stream."""
    model = ng.make_method(method, seed=seed, **best_parameters(method, data.name))
    result = ng.evaluate(model, as_told(data, way, seed).stream(seed=seed))
    summary = result.summary
    return {
        "accuracy": [round(session.macro_accuracy, 4) for session in result.sessions],
        "known": round(float(summary["last_known_accuracy"]), 4),
        "novel": round(float(summary["last_novel_accuracy"]), 4),
    }


def as_told(data: LoadedDataset, way: str, seed: int) -> LoadedDataset:
    """Return a copy of the dataset with edge types hidden, shown, shuffled or as weights."""
    if way == "shown":
        return data
    if way == "hidden":
        return replace(data, graph=data.graph.merging_kinds())
    if way == "shuffled":
        return replace(data, graph=shuffled(data.graph, seed))
    stream = data.stream(seed=seed)
    found = homophily_of_kinds(stream.session(0).view, stream.curriculum.train)
    return replace(data, graph=data.graph.weighing_kinds(relation_weights(found)[0]))


def shuffled(graph: ng.Graph, seed: int) -> ng.Graph:
    """Return the edges with their types permuted."""
    by_kind = [np.stack(graph.edges_of(name)[:2], axis=1) for name in graph.relations]
    ends = np.cumsum([len(pairs) for pairs in by_kind])[:-1]
    pairs = Seeds(seed).generator("kinds").permutation(np.concatenate(by_kind))
    keys = graph.key_array_of(graph.rows)
    edges = dict(zip(graph.relations, np.split(keys[pairs], ends), strict=True))
    return ng.Graph(keys, graph.features(graph.rows), edges)


def page_text(records: Sequence[Record]) -> str:
    """Return a table with a row for each graph, method and way."""
    rows = []
    for graph, (method, ways) in product(GRAPHS, WAYS.items()):
        for way in ways:
            some = record_file.matching(records, graph=graph, method=method, kinds=way)
            if some:
                cells = [
                    [record["accuracy"][0] for record in some],
                    [record["accuracy"][-1] for record in some],
                    [record["known"] for record in some],
                    [record["novel"] for record in some],
                ]
                numbers = [percent(cell) for cell in cells]
                rows.append([graph, method, way, str(len(some)), *numbers])
    heads = ["graph", "method", "edge types", "seeds", "session 0", "last", "known", "novel"]
    table = Table.of(heads, rows).markdown()
    return f"<!-- Written by studies/kinds.py. -->\n\n{table}\n"


if __name__ == "__main__":
    main()
