"""Measure what the age of a node says about its class under each arrival, and near-duplicates.

    python -m studies.age_prior --data DIR     # measure, then write the pages
    python -m studies.age_prior                # write the pages again

After the last session of a stream, the predictions of a method are combined with a prior on the
session in which a node appeared (:mod:`studies.node_ages`). Writes
``studies/records/age-prior.json``, and from it ``docs/explanation/age-prior-measured.md`` and
``docs/explanation/near-duplicates-measured.md``.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray
from studies.node_ages import (
    first_sessions,
    fit_power,
    raised,
    same_as_labelled,
    with_age_prior,
    with_true_ages,
)
from studies.record_file import (
    FOLDER,
    GRAPHS,
    PAGES,
    Record,
    matching,
    measure_missing,
    parser,
    read,
)

from nodegraft.analysis.rendering.table import Table
from nodegraft.base.events import SILENT
from nodegraft.evaluation.protocol import teach
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.lab.datasets.templates.dataset import LoadedDataset
from nodegraft.lab.report.tables import percent
from nodegraft.model.best_classes import recalls
from nodegraft.model.method import Method
from nodegraft.model.registry import REGISTRY
from nodegraft.streams.arrival import Arrival

RECORDS = FOLDER / "age-prior.json"
METHODS = ("sgc-mean", "newness", "graft")
ARRIVALS: tuple[Arrival, ...] = ("growing", "mixed", "blurred", "with-class")
"""Under ``isolated`` nodes appear in the same sessions as under ``with-class``; under ``present``
all appear in the first, so that their age can change no prediction."""


def main() -> None:
    """Measure if there is data to measure on, and write the pages."""
    arguments = parser(__doc__, seeds=3)
    arguments.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    options = arguments.parse_args()
    if options.data:
        names = ("graph", "arrival", "seed", "method")
        wanted = product(options.graphs, ARRIVALS, range(options.seeds), options.methods)
        measure_missing(RECORDS, names, wanted, options.data, measured)
    records = read(RECORDS)
    (PAGES / "age-prior-measured.md").write_text(page(records))
    (PAGES / "near-duplicates-measured.md").write_text(duplicates_page(records))


def measured(data: LoadedDataset, arrival: Arrival, seed: int, method: str) -> Record:
    """Return accuracies after the last session: without prior, with it, without near-duplicates.

    Args:
        data: The graph and its labels.
        arrival: When nodes become visible.
        seed: Seed of split and method.
        method: Name of the method.
    """
    stream, model = data.stream(seed=seed, arrival=arrival), REGISTRY.get(method)(seed=seed)
    views = []
    for session in stream:
        teach(model, session, stream, SILENT)
        views.append(session.view)
    split, view, queries = stream.split, session.view, np.sort(session.query.rows())
    labelled = (split.train | split.held_out | split.support.select(split.novel)).rows()
    rows = np.setdiff1d(view.rows, labelled)  # those that a method must predict
    asked = np.isin(rows, queries)
    probabilities = model.probabilities(view, model.score_rows(view, rows))
    sharp = raised(probabilities, _power(model, view, split.held_out))
    ages = first_sessions(views)
    arrived = np.array([known.session for known in model._table.classes])
    taught = split.train | split.support.select(split.novel)
    lead = int(
        (arrived[taught.targets(model.classes_)] - ages[view.positions(taught.rows())]).max()
    )
    ages = ages[view.positions(rows)]
    targets = session.query.targets(model.classes_)[np.argsort(session.query.rows())]

    def accuracy(
        predicted: NDArray[np.float64], chosen: NDArray[np.bool_] | slice = slice(None)
    ) -> float:
        classes = predicted.argmax(axis=1)[chosen]
        recall = recalls(targets[chosen], classes, len(model.classes_))
        return round(float(np.nanmean(recall)), 4)

    duplicates = same_as_labelled(view, queries, labelled)
    return {
        "accuracy": accuracy(probabilities[asked]),
        "with_age_prior": accuracy(with_age_prior(sharp, ages, arrived, lead)[asked]),
        "with_true_ages": accuracy(with_true_ages(sharp[asked], ages[asked], targets)),
        "duplicates": round(float(duplicates.mean()), 4),
        "without_duplicates": accuracy(probabilities[asked], ~duplicates),
    }


def _power(model: Method, view: GraphView, held_out: NodeLabels) -> float:
    probabilities = model.probabilities(view, model.score_rows(view, held_out.rows()))
    return fit_power(probabilities, held_out.targets(model.classes_))


def page(records: Sequence[Record]) -> str:
    """Return a table of gains: a row for each graph and arrival.

    Args:
        records: All records.
    """
    rows = []
    for graph, arrival in product(GRAPHS, ARRIVALS):
        sgc, new, graft = (
            matching(records, graph=graph, arrival=arrival, method=method) for method in METHODS
        )
        if sgc:
            seeds = ", ".join(str(len(some)) for some in (graft, sgc, new))
            differences = [_accuracy(new, record["seed"]) - record["accuracy"] for record in sgc]
            gains = (*_gains(graft), *_gains(sgc), _percent(differences))
            rows.append([graph, f"`{arrival}`", *gains, seeds])
    columns = [
        *("graph", "arrival", "graft, %", "gain from an age prior, points", "from true ages"),
        *("sgc-mean, %", "gain from an age prior, points", "from true ages"),
        *("newness against sgc-mean, points", "seeds of each"),
    ]
    return _written(Table.of(columns, rows))


def duplicates_page(records: Sequence[Record]) -> str:
    """Return a table of accuracies with and without near-duplicates under ``growing``.

    Args:
        records: All records.
    """
    rows = []
    for graph, method in product(GRAPHS, ("graft", "sgc-mean")):
        some = matching(records, graph=graph, arrival="growing", method=method)
        if some:
            names = ("duplicates", "accuracy", "without_duplicates")
            shares = [_percent([record[name] for record in some]) for name in names]
            rows.append([graph, method, *shares, str(len(some))])
    columns = [
        *("graph", "method", "queries with the features of a labelled node, %"),
        *("accuracy, %", "accuracy without them, %", "seeds"),
    ]
    return _written(Table.of(columns, rows))


def _accuracy(records: Sequence[Record], seed: int) -> float:
    return next((record["accuracy"] for record in records if record["seed"] == seed), np.nan)


def _gains(records: Sequence[Record]) -> list[str]:
    gains = [
        _percent([record[name] - record["accuracy"] for record in records])
        for name in ("with_age_prior", "with_true_ages")
    ]
    return [_percent([record["accuracy"] for record in records]), *gains]


def _percent(numbers: Sequence[float]) -> str:
    return percent([number for number in numbers if not np.isnan(number)])


def _written(table: Table) -> str:
    return f"<!-- Written by studies/age_prior.py. -->\n\n{table.markdown()}\n"


if __name__ == "__main__":
    main()
