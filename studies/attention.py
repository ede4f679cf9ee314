"""Accuracy of HAG-Meta before and after its search, and without each of its parts.

    python -m studies.attention --data DIR     # measure what is missing, then write the tables
    python -m studies.attention                # write the tables again

Strict protocol, arrival ``growing``, the values of ``experiments/search/hag-meta.json``. Beside
each accuracy stands how far the attentions' weights spread, and what the model of the last session
would reach with other weights of the few-shot supports, on the same embeddings and with prototypes
of known classes from all their labels: with its own, with equal ones, and with weights fitted to
the very labels that are asked about, which no attention can know. Writes
``studies/records/attention.json``, stream by stream, and from it
``docs/explanation/attention-measured.md``.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from studies.record_file import GRAPHS, PAGES, Record
from studies.searches import best_parameters
from torch import Tensor

import nodegraft as ng
from nodegraft.analysis.rendering.table import Table
from nodegraft.lab.datasets.templates.dataset import LoadedDataset
from nodegraft.lab.report.tables import percent
from nodegraft.methods.hag_meta import HAGMeta
from nodegraft.methods.neural.attention import softmax_within, weighted_means
from nodegraft.methods.neural.learners.prototypes import relative_spread
from nodegraft.methods.neural.meta_training import macro_accuracy
from nodegraft.methods.neural.prototypes import squared_distances
from nodegraft.streams.session import Session
from studies import record_file

RECORDS = record_file.FOLDER / "attention.json"
BEFORE, AFTER = "before the search", "after the search"
# Variant -> what is changed after the search.
ABLATED: dict[str, dict[str, Any]] = {
    "without node attention": {"nla": False},
    "without task attention": {"tla": "off"},
    "without both": {"nla": False, "tla": "off"},
    "without practice (GPIL)": {"gpil": False},
}
VARIANTS = (BEFORE, AFTER, *ABLATED)
WEIGHTS = ("learned", "equal", "oracle")
STEPS = 200


def main() -> None:
    """Measure what is missing if data is given, and write the tables."""
    parser = record_file.parser(__doc__)
    parser.add_argument("--variants", nargs="+", default=VARIANTS, choices=VARIANTS)
    options = parser.parse_args()
    if options.data:
        wanted = product(options.graphs, options.variants, range(options.seeds))
        names = ("graph", "variant", "seed")
        record_file.measure_missing(RECORDS, names, wanted, options.data, measured)
    (PAGES / "attention-measured.md").write_text(page_text(record_file.read(RECORDS)))


def measured(data: LoadedDataset, variant: str, seed: int) -> Record:
    """Measure a stream, and the attention weights at its end."""
    found = best_parameters(HAGMeta.name, data.name)
    changed = {} if variant == BEFORE else found | ABLATED.get(variant, {})
    model = HAGMeta(seed=seed, **changed)
    stream = data.stream(seed=seed)
    result = ng.evaluate(model, stream)
    last = stream.session(len(stream) - 1)
    attention = model.attention(last.view)
    nodes = [
        relative_spread(torch.tensor([*weights.values()])) for weights in attention.nodes.values()
    ]
    tasks = relative_spread(torch.tensor([share for _, share in attention.tasks]))
    return {
        "accuracy": [round(session.macro_accuracy, 4) for session in result.sessions],
        "novel": round(float(result.summary["last_novel_accuracy"]), 4),
        "node_spread": round(float(np.mean(nodes)), 5),
        "task_spread": round(tasks, 5),
        **{
            f"{how}_weights": round(accuracy, 4)
            for how, accuracy in by_weights(model, last).items()
        },
    }


def by_weights(model: HAGMeta, session: Session) -> dict[str, float]:
    """Return the macro accuracy with learned, equal and oracle weights of few-shot supports."""
    network, view = model.network(), session.view
    labels = model.labels_.on(view)
    known, new = model.tasks_[0], [name for task in model.tasks_[1:] for name in task]
    supports = labels.select(new)
    owner = torch.from_numpy(supports.targets(new))
    with torch.no_grad():
        queries = network.embed(view, session.query.rows())
        fixed = network.prototypes(view, labels.select(known), few_shot=False)
        vectors = network.embed(view, supports.rows())
        learned = network.support_weights(view, supports)

    def scores(weights: Tensor) -> Tensor:
        means = weighted_means(vectors, weights, owner, len(new))
        return -squared_distances(queries, torch.cat((fixed, means)))

    def accuracy(weights: Tensor) -> float:
        return macro_accuracy(scores(weights).detach(), session.query, model.classes_)

    logits = torch.zeros(len(vectors), requires_grad=True)
    targets = torch.from_numpy(session.query.targets(model.classes_))
    optimiser = torch.optim.Adam([logits], lr=0.1)
    fitted = []
    for _ in range(STEPS):
        weights = softmax_within(logits, owner, len(new))
        fitted.append(accuracy(weights))
        optimiser.zero_grad()
        F.cross_entropy(scores(weights), targets).backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    # Before the first step all supports of a class weigh alike.
    values = (accuracy(learned), fitted[0], max(fitted))
    return dict(zip(WEIGHTS, values, strict=True))


def page_text(records: Sequence[Record]) -> str:
    """Return all tables, as a page includes them."""
    parts = ["<!-- Written by studies/attention.py. -->"]
    for graph in GRAPHS:
        some = record_file.matching(records, graph=graph)
        if some:
            parts += [f"**{graph}**", table(some)]
    return "\n\n".join(parts) + "\n"


def table(records: Sequence[Record]) -> str:
    """Return a table with a row for each variant."""
    head = ["variant", "seeds", "session 0", "last session", "novel classes", "node spread"]
    head += ["task spread", *(f"{how} weights" for how in WEIGHTS)]
    rows = []
    for variant in VARIANTS:
        runs = record_file.matching(records, variant=variant)
        if not runs:
            continue
        row = [variant, str(len(runs))]
        row += [percent([record["accuracy"][place] for record in runs]) for place in (0, -1)]
        row.append(percent([record["novel"] for record in runs]))
        row += [
            f"{np.mean([record[part] for record in runs]):.3f}"
            for part in ("node_spread", "task_spread")
        ]
        row += [percent([record[f"{how}_weights"] for record in runs]) for how in WEIGHTS]
        rows.append(row)
    return Table.of(head, rows).markdown()


if __name__ == "__main__":
    main()
