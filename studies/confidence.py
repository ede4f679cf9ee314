"""What the confidence of ``graft`` was chosen by: its constants, and other ways, side by side.

    python -m studies.confidence --data DIR     # measures what is missing, then writes the table
    python -m studies.confidence                # writes the table again

On :mod:`studies.inner_streams`. Under ``growing`` the last session is asked, where no class is
still to come; under ``present`` every session but the first and the last, with as many strangers
(nodes of classes still to come) as nodes of classes that were taught. Writes
``studies/records/confidence.json``, stream by stream, and from it
``docs/explanation/confidence-measured.md``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, softmax
from studies.inner_streams import inner_stream
from studies.record_file import GRAPHS, PAGES, Record, rounded
from studies.selective import precision_and_coverage

from nodegraft.analysis.rendering.table import Table
from nodegraft.base.events import SILENT
from nodegraft.base.seeds import Seeds
from nodegraft.evaluation.metrics import (
    auroc,
    expected_calibration_error,
)
from nodegraft.evaluation.protocol import rows_of_later_classes, teach
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.view import GraphView
from nodegraft.lab.datasets.templates.dataset import LoadedDataset
from nodegraft.methods.graft import Graft
from nodegraft.methods.graft.classes import Floats, label_scarcity
from nodegraft.methods.graft.confidence import (
    BELIEVED,
    CROWDING,
    calibrated_probabilities,
    known_class_probability,
)
from nodegraft.streams.arrival import Arrival
from nodegraft.streams.session import Session
from nodegraft.streams.split import ClassSplit
from studies import record_file

RECORDS = record_file.FOLDER / "confidence.json"
ASKED = 0.90
AT_MOST = 3000
"""Nodes of each side that are asked about."""


@dataclass(frozen=True)
class Way:
    """One way of being sure; the default is the one that is built in."""

    crowding: float = CROWDING
    believed: float = BELIEVED
    refined: bool = True


WAYS = {
    "as it is": Way(),
    "no term for more classes than in practice": Way(crowding=0.0),
    "twice that term": Way(crowding=2 * CROWDING),
    "half of all nodes assumed known": Way(believed=0.0),
    "estimated share of known nodes used fully": Way(believed=1.0),
    "open-set score before means are refined": Way(refined=False),
}
COLUMNS = {
    "ece_known": "`growing`: ECE, known",
    "ece_new": "ECE, new",
    "answered": "coverage, %",
    "precision": "precision, % (worst seed)",
    "auroc": "`present`: AUROC",
    "answered_among_strangers": "coverage of known classes, %",
    "precision_among_strangers": "precision, as many unknown nodes, % (worst seed)",
}


def main() -> None:
    """Measure if there is data to measure on, and write the table."""
    options = record_file.parser(__doc__, seeds=3).parse_args()
    if options.data:
        wanted = product(options.graphs, range(options.seeds))
        record_file.measure_missing(RECORDS, ("graph", "seed"), wanted, options.data, measured)
    (PAGES / "confidence-measured.md").write_text(told(record_file.read(RECORDS)))


def measured(data: LoadedDataset, seed: int) -> Record:
    """Both arrivals of one stream, in every way."""
    *_, last = taught(data, seed, "growing")
    alone = {name: without_strangers(*last, way) for name, way in WAYS.items()}
    among = [
        {name: among_strangers(*moment, way) for name, way in WAYS.items()}
        for moment in islice(taught(data, seed, "present"), 1, None)
        if rows_of_later_classes(*moment[1:]).size
    ]
    return {
        name: alone[name]
        | {key: _mean([one[name][key] for one in among]) for key in among[0][name]}
        for name in WAYS
    }


def taught(
    data: LoadedDataset, seed: int, arrival: Arrival
) -> Iterator[tuple[Graft, Session, ClassSplit]]:
    """A model after each session."""
    stream, model = inner_stream(data, seed, arrival), Graft(seed=seed)
    for session in stream:
        teach(model, session, stream, SILENT)
        yield model, session, stream.split


def some(rows: IntArray, split: ClassSplit, most: int = AT_MOST) -> IntArray:
    """At most so many, ascending."""
    return np.sort(Seeds(split.seed).generator("asked").permutation(np.sort(rows))[:most])


def without_strangers(
    model: Graft, session: Session, split: ClassSplit, way: Way
) -> dict[str, float | None]:
    """Calibration of known and new classes, and what is answered."""
    rows = some(session.query.rows(), split)
    likely, sure, right = said(model, session, rows, way)
    old = np.isin(rows, split.test.rows())
    precision, answered = precision_and_coverage(sure, right, ASKED)
    return {
        "ece_known": rounded(expected_calibration_error(likely[old], right[old])),
        "ece_new": rounded(expected_calibration_error(likely[~old], right[~old])),
        "answered": rounded(answered),
        "precision": rounded(precision),
    }


def among_strangers(
    model: Graft, session: Session, split: ClassSplit, way: Way
) -> dict[str, float | None]:
    """How well strangers are told, and what is answered where each of them is a mistake."""
    taught_classes, strangers = session.query.rows(), rows_of_later_classes(session, split)
    most = min(AT_MOST, taught_classes.size, strangers.size)
    _, sure, right = said(model, session, some(taught_classes, split, most), way)
    _, strange = certainty(model, session.view, some(strangers, split, most), way)
    precision, _ = precision_and_coverage(
        np.concatenate((sure, strange)), np.append(right, np.zeros(strange.size, bool)), ASKED
    )
    return {
        "auroc": rounded(auroc(sure, strange)),
        "answered_among_strangers": rounded(float((sure >= ASKED).mean())),
        "precision_among_strangers": rounded(precision),
    }


def said(
    model: Graft, session: Session, rows: IntArray, way: Way
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Confidence among known classes, certainty, and which answers are right."""
    asked, targets = session.query.rows(), session.query.targets(model.classes_)
    order = np.argsort(asked)
    targets = targets[order][np.searchsorted(asked[order], rows)]
    shares, sure = certainty(model, session.view, rows, way)
    return shares.max(axis=1), sure, shares.argmax(axis=1) == targets


def certainty(model: Graft, view: GraphView, rows: IntArray, way: Way) -> tuple[Floats, Floats]:
    """Probabilities among known classes, and the best of a node times its open-set score."""
    scorer, scores = model.derived(view), model.score_rows(view, rows)
    coefficients = model.confidence_.copy()
    more = max(0.0, np.log(len(model.classes_)) - coefficients[-1])
    coefficients[-2] -= (way.crowding - CROWDING) * more
    shares = calibrated_probabilities(
        softmax(scores, axis=1),
        label_scarcity(np.array([keys.size for keys in model.labels_.values()])),
        scorer.shares,
        coefficients,
    )
    likely = shares.max(axis=1)
    share = float(expit(way.believed / BELIEVED * logit(scorer.share_of_known)))
    if way.refined:
        return shares, likely * known_class_probability(scores, model.open_set_[-1], share)
    before = before_refinement(model, view, rows)
    return shares, likely * known_class_probability(before, model.open_set_[0], share)


def before_refinement(model: Graft, view: GraphView, rows: IntArray) -> Floats:
    """Scores of the first stage; classes stand in another order."""
    scorer = model.derived(view)
    evidence, means = scorer.evidence, scorer.classes.means
    values = scorer.values(rows)[:, :, np.argsort(scorer.columns)]
    nodes, plain = evidence.nodes(rows), replace(scorer.classes, refined=means)
    evidence.refresh(evidence.signals, values, nodes, plain)
    scores: Floats = np.tensordot(model.weights_[0], values, 1)
    return scores


def told(records: Sequence[Record]) -> str:
    """A table for each graph, a row for each way."""
    parts = ["<!-- Written by studies/confidence.py. -->"]
    for graph in GRAPHS:
        seeds = [one for one in records if one["graph"] == graph]
        if seeds:
            rows = [
                [name, *(_cell(key, [one[name][key] for one in seeds]) for key in COLUMNS)]
                for name in WAYS
            ]
            parts += [f"**{graph}, {len(seeds)} seeds**"]
            parts += [Table.of(["confidence", *COLUMNS.values()], rows).markdown()]
    return "\n\n".join(parts) + "\n"


def _cell(key: str, numbers: Sequence[float | None]) -> str:
    mean = _mean(numbers)
    if mean is None:
        return "–"
    if key == "auroc" or key.startswith("ece"):
        return f"{mean:.3f}"
    worst = f" ({100 * min(one for one in numbers if one is not None):.1f})"
    return f"{100 * mean:.1f}" + worst * key.startswith("precision")


def _mean(numbers: Sequence[float | None]) -> float | None:
    there = [one for one in numbers if one is not None]
    return rounded(float(np.mean(there))) if there else None


if __name__ == "__main__":
    main()
