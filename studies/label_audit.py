"""Find planted wrong labels with ``nodegraft audit``, and with cleanlab on the same probabilities.

    python -m studies.label_audit --data DIR     # measure what is missing, then write the page
    python -m studies.label_audit                # write the page again

40 labels of each of the 30 largest classes; a share of them is exchanged among classes. The 50 most
suspicious labels of each ranking are compared with the planted ones; labels of the graph itself may
be wrong, too, and count as right. cleanlab is no dependency: install it before you measure. Writes
``studies/records/label-audit.json`` and ``docs/how-to/label-audit-measured.md``.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray
from studies.label_noise import with_wrong_labels
from studies.record_file import PAGES, Record, rounded

from nodegraft.analysis.label_audit import audit_labels, left_out_scores
from nodegraft.analysis.labels.labels import StoreLabels
from nodegraft.analysis.rendering.table import Table
from nodegraft.analysis.snapshot import first_state
from nodegraft.graph.labels import NodeLabels
from nodegraft.lab.datasets.templates.dataset import LoadedDataset
from studies import record_file

RECORDS = record_file.FOLDER / "label-audit.json"
PAGE = PAGES.parent / "how-to" / "label-audit-measured.md"
GRAPHS = ("gentoo", "amazon-clothing", "wordnet")
SHARES = (0.05, 0.1, 0.2)
CLASSES, LABELS, TOP = 30, 40, 50
CLEANLAB = ("self_confidence", "normalized_margin", "adjusted_margin", "find_label_issues")


def main() -> None:
    """Measure if there is data to measure on, and write the page."""
    parser = record_file.parser(__doc__, seeds=1, graphs=GRAPHS)
    options = parser.parse_args()
    if options.data:
        wanted = product(options.graphs, range(options.seeds), SHARES)
        names = ("graph", "seed", "wrong_labels")
        record_file.measure_missing(RECORDS, names, wanted, options.data, measured)
    PAGE.write_text(page(record_file.read(RECORDS)))


def measured(data: LoadedDataset, seed: int, share: float) -> Record:
    """Return how many of the most suspicious labels are planted, for each ranking.

    Args:
        data: The graph and its labels.
        seed: Of the labels, the planted ones and the model.
        share: Share of labels that are exchanged.
    """
    random = np.random.default_rng(seed)
    largest = sorted(data.labels, key=lambda name: -data.labels[name].size)[:CLASSES]
    true = NodeLabels({n: np.sort(random.permutation(data.labels[n])[:LABELS]) for n in largest})
    given = with_wrong_labels(true, share, random)
    owner = {int(row): name for name, rows in true.items() for row in rows}
    wrong = {row for name, rows in given.items() for row in rows.tolist() if owner[row] != name}
    keys = {name: data.graph.keys_of(rows) for name, rows in given.items()}
    state = first_state(data.graph, StoreLabels().added(keys), "graft", {"seed": seed})
    found = data.graph.rows_of([suspect.node for suspect in audit_labels(state, TOP)]).tolist()
    rows, targets, probabilities = left_out_scores(state)
    rankings = {
        name: rows[places[:TOP]].tolist()
        for name, places in cleanlab_rankings(targets, probabilities).items()
    }
    precision = {
        name: rounded(len(wrong.intersection(some)) / TOP)
        for name, some in {"audit": found, **rankings}.items()
    }
    right = probabilities.argmax(axis=1) == targets
    return {"labels": rows.size, "planted": len(wrong), "agree": rounded(right.mean()), **precision}


def cleanlab_rankings(
    targets: NDArray[np.int64], probabilities: NDArray[np.float64]
) -> dict[str, NDArray[np.int64]]:
    """Return the places of labels, the most suspicious first, by each of cleanlab's rankings.

    Args:
        targets: Column of each label.
        probabilities: Of each class, by models that did not learn the label.
    """
    from cleanlab.filter import find_label_issues
    from cleanlab.rank import get_label_quality_scores

    sums = probabilities / probabilities.sum(axis=1, keepdims=True)
    scores = {
        "self_confidence": get_label_quality_scores(targets, sums, method="self_confidence"),
        "normalized_margin": get_label_quality_scores(targets, sums, method="normalized_margin"),
        "adjusted_margin": get_label_quality_scores(
            targets, sums, method="normalized_margin", adjust_pred_probs=True
        ),
    }
    ranked = {name: np.argsort(found, kind="stable") for name, found in scores.items()}
    issues = find_label_issues(targets, sums, return_indices_ranked_by="self_confidence", n_jobs=1)
    return {**ranked, "find_label_issues": issues}


def page(records: Sequence[Record]) -> str:
    """Return the table as Markdown.

    Args:
        records: All records there are.
    """
    rows = [
        [
            record["graph"],
            f"{100 * record['wrong_labels']:g}",
            f"{record['labels']:,}",
            str(record["planted"]),
            *(f"{100 * record[name]:.0f} %" for name in ("audit", *CLEANLAB)),
        ]
        for record in records
    ]
    titles = [f"cleanlab, {name.replace('_', ' ')}" for name in CLEANLAB]
    head = ["graph", "wrong labels, %", "labels", "planted", "audit", *titles]
    table = Table.of(head, rows).markdown()
    return f"<!-- Written by studies/label_audit.py. -->\n\n{table}\n"


if __name__ == "__main__":
    main()
