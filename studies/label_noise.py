"""Measure accuracy and calibration of ``graft`` when a part of the labels is wrong.

    python -m studies.label_noise --data DIR     # measure what is missing, then write the page
    python -m studies.label_noise                # write the page again

On :mod:`studies.inner_streams`, after the last session of ``growing``. A share of the labels of
every class is given to other classes, in exchange for theirs, known classes among themselves and
new ones among themselves; the largest class has fewer wrong ones where the others have too few to
give. Queries keep their true class. Writes ``studies/records/label-noise.json`` and
``docs/explanation/label-noise-measured.md``.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np
from studies.inner_streams import inner_stream
from studies.record_file import GRAPHS, PAGES, Record, rounded

from nodegraft.analysis.rendering.table import Table
from nodegraft.evaluation.metrics import expected_calibration_error
from nodegraft.graph.labels import NodeLabels
from nodegraft.lab.datasets.templates.dataset import LoadedDataset
from nodegraft.methods.graft import Graft
from studies import record_file

RECORDS = record_file.FOLDER / "label-noise.json"
SHARES = (0.0, 0.1, 0.2)
WAYS = {"default": False, "wrong_labels": True}
"""Whether labels count by their chance to be right."""


def main() -> None:
    """Measure if there is data to measure on, and write the page."""
    options = record_file.parser(__doc__, seeds=3).parse_args()
    if options.data:
        wanted = product(options.graphs, range(options.seeds), SHARES)
        names = ("graph", "seed", "wrong_labels")
        record_file.measure_missing(RECORDS, names, wanted, options.data, measured)
    (PAGES / "label-noise-measured.md").write_text(page(record_file.read(RECORDS)))


def measured(data: LoadedDataset, seed: int, share: float) -> Record:
    """Accuracy and calibration on queries with true classes, for each way."""
    stream = inner_stream(data, seed, "growing")
    sessions = list(stream)
    view, query = sessions[-1].view, sessions[-1].query
    random = np.random.default_rng(seed)
    new = NodeLabels(
        {name: rows for session in sessions[1:] for name, rows in session.support.items()}
    )
    known = with_wrong_labels(stream.split.train, share, random)
    new = with_wrong_labels(new, share, random)
    targets_of, record = query.rows(), Record()
    for name, wrong_labels in WAYS.items():
        model = Graft(seed=seed, wrong_labels=wrong_labels).fit(view, known)
        model.add_classes(view, new)
        probabilities = model.probabilities(view, model.score_rows(view, targets_of))
        likely = probabilities.max(axis=1)
        right = probabilities.argmax(axis=1) == query.targets(model.classes_)
        record["accuracy"] = rounded(float(right.mean()))
        record[name] = {
            "ece": rounded(expected_calibration_error(likely, right)),
            "confidence": rounded(float(likely.mean())),
        }
    return record


def with_wrong_labels(labels: NodeLabels, share: float, random: np.random.Generator) -> NodeLabels:
    """Exchange a share of the labels of each class for labels of other classes.

    Args:
        labels: The true ones.
        share: How many of each class are wrong afterwards, as far as others have some to give.
        random: Draws them.
    """
    kept, given = dict[str, list[int]](), list[tuple[int, str]]()
    for name, rows in labels.items():
        drawn = random.permutation(rows).tolist()
        count = round(share * len(drawn))
        kept[name] = drawn[count:]
        given += [(row, name) for row in drawn[:count]]
    given = [given[place] for place in random.permutation(len(given))]
    for name in sorted(labels, key=lambda class_: labels[class_].size):
        others = [pair for pair in given if pair[1] != name]
        taken = others[: labels[name].size - len(kept[name])]
        kept[name] += [row for row, _ in taken]
        gone = {row for row, _ in taken}
        given = [pair for pair in given if pair[0] not in gone]
    return NodeLabels({name: sorted(rows) for name, rows in kept.items()})


def page(records: Sequence[Record]) -> str:
    """Write a table: a row for each graph and share of wrong labels."""
    rows = []
    for graph, share in product(GRAPHS, SHARES):
        some = record_file.matching(records, graph=graph, wrong_labels=share)
        if some:
            ways = [
                f"{np.mean([record[name][number] for record in some]):.3f}"
                for number, name in product(("ece", "confidence"), WAYS)
            ]
            accuracy = f"{np.mean([record['accuracy'] for record in some]):.3f}"
            rows.append([graph, f"{100 * share:g}", accuracy, *ways, str(len(some))])
    columns = [
        *("graph", "wrong labels, %", "accuracy", *(f"ECE, {name}" for name in WAYS)),
        *(f"mean probability, {name}" for name in WAYS),
        "seeds",
    ]
    table = Table.of(columns, rows).markdown()
    return f"<!-- Written by studies/label_noise.py. -->\n\n{table}\n"


if __name__ == "__main__":
    main()
