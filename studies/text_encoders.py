"""Compare text encoders: words alone, wordllama alone, and both.

    python -m studies.text_encoders --data DIR   # measure what is missing, then write the table
    python -m studies.text_encoders              # write the table again

The graphs are those of the benchmark, whose words have no IDF, because it would depend on texts of
classes that have not arrived; ``graft`` weighs rare words more by itself. Vectors of wordllama and
rows of words have length 1; ``both`` has them side by side. Strict protocol, arrival ``growing``,
the standard streams, except that all new classes come in one session, which takes a tenth of the
time. Needs the extra ``encoders``. Writes ``studies/records/text-encoders.json``, stream by
stream, and from it ``docs/how-to/text-encoders-measured.md``.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from time import process_time
from typing import TypeAlias

import numpy as np
from scipy.sparse import csr_array, hstack
from studies.record_file import PAGES, Record

import nodegraft as ng
from nodegraft.analysis.rendering.table import Table
from nodegraft.graph.edges.matrix import FloatArray
from nodegraft.lab.datasets.gentoo import CACHE, LONG, Gentoo, read_packages
from nodegraft.lab.datasets.templates.dataset import LoadedDataset
from nodegraft.lab.datasets.wordnet import FILES, NAMES, WordNet, read_names, read_synsets
from nodegraft.lab.report.tables import percent
from nodegraft.tables.features.text_encoders import LoadedEncoder
from studies import record_file

GRAPHS = ("gentoo", "wordnet")
METHODS = ("graft", "sgc-ridge")
FEATURES = {"words": "words", "wordllama": "wordllama", "both": "words and wordllama"}
Vectors: TypeAlias = Callable[[str], tuple[dict[str, int], FloatArray]]
"""Function from the name of a graph to the row of each key, and the vectors of all texts."""

RECORDS = record_file.FOLDER / "text-encoders.json"
PAGE = PAGES.parent / "how-to" / "text-encoders-measured.md"


def main() -> None:
    """Measure if there is data to measure on, and write the table."""
    parser = record_file.parser(__doc__, graphs=GRAPHS)
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    options = parser.parse_args()
    if options.data:
        vectors: Vectors = cache(lambda graph: encoded(graph, options.data))

        def measured(data: LoadedDataset, method: str, features: str, seed: int) -> Record:
            return accuracy(with_features(data, features, vectors), method, seed)

        wanted = product(options.graphs, options.methods, FEATURES, range(options.seeds))
        names = ("graph", "method", "features", "seed")
        record_file.measure_missing(RECORDS, names, wanted, options.data, measured)
    PAGE.write_text(page(record_file.read(RECORDS)))


def texts_of(graph: str, data: str) -> dict[str, str]:
    """Return the text of each node of a dataset, by its key.

    Args:
        graph: Name of the dataset.
        data: Folder with the data folders.
    """
    if graph == "gentoo":
        files = Gentoo().locate(data)
        return {node.key: node.text for node in read_packages(files[CACHE], files[LONG])}
    files = WordNet().locate(data)
    names = read_names(files[NAMES])
    return {
        node.key: node.text
        for letter, file in FILES.items()
        for node in read_synsets(files[file], letter, names)
    }


def encoded(graph: str, data: str) -> tuple[dict[str, int], FloatArray]:
    """Return the row of each key, and the vectors of wordllama."""
    texts, start = texts_of(graph, data), process_time()
    vectors = LoadedEncoder.load("wordllama").vectors(list(texts.values()))
    print(f"{graph}: {len(texts):,} texts in {process_time() - start:.1f} s", flush=True)
    return {key: place for place, key in enumerate(texts)}, vectors


def with_features(data: LoadedDataset, features: str, vectors: Vectors) -> LoadedDataset:
    """Return a dataset with other features.

    Args:
        data: The dataset, with words.
        features: One of :data:`FEATURES`.
        vectors: Function that returns vectors of texts by the name of the graph.
    """
    if features == "words":
        return data
    places, rows = vectors(data.name)
    own = rows[[places[str(key)] for key in data.graph.keys_of(data.graph.rows)]]
    if features == "wordllama":
        return replace(data, graph=data.graph.with_features(own))
    words = data.graph.features(data.graph.rows)
    joined = csr_array(hstack([words, csr_array(own)], format="csr"), dtype=np.float32)
    return replace(data, graph=data.graph.with_features(joined))


def accuracy(data: LoadedDataset, method: str, seed: int) -> Record:
    """Run one stream; return accuracies after the new classes have come."""
    start, setting = process_time(), replace(data.setting, ways=data.setting.novel)
    stream = data.stream(seed=seed, setting=setting)
    summary = ng.evaluate(ng.make_method(method, seed=seed), stream).summary
    return {
        "last": round(float(summary["last_accuracy"]), 4),
        "known": round(float(summary["last_known_accuracy"]), 4),
        "novel": round(float(summary["last_novel_accuracy"]), 4),
        "seconds": round(process_time() - start, 1),
    }


def page(records: Sequence[Record]) -> str:
    """Return the table as Markdown.

    Args:
        records: All records there are.
    """
    rows = []
    for graph, method, features in product(GRAPHS, METHODS, FEATURES):
        some = record_file.matching(records, graph=graph, method=method, features=features)
        if some:
            numbers = [
                percent([record[name] for record in some]) for name in ("last", "known", "novel")
            ]
            seconds = float(np.median([record["seconds"] for record in some]))
            rows.append(
                [graph, method, FEATURES[features], str(len(some)), *numbers, f"{seconds:.0f}"]
            )
    head = ["graph", "method", "text as", "seeds", "all classes, %", "known", "novel", "CPU s"]
    return f"<!-- Written by studies/text_encoders.py. -->\n\n{Table.of(head, rows).markdown()}\n"


if __name__ == "__main__":
    main()
