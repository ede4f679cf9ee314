"""Comparison by which the confidence of ``graft`` and its constants were chosen.

    python -m studies.confidence --data DIR     # measure what is missing, then write the table
    python -m studies.confidence                # write the table again

On :mod:`studies.inner_streams`. Under ``growing`` the last session is evaluated, after which no
class arrives; under ``present`` every session but the first and the last, with as many nodes of
unknown classes (those of later sessions) as of known ones. Writes
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
    CROWDING,
    SHARE_FACTOR,
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
    """One way to compute confidence; the default is that of the library."""

    crowding: float = CROWDING
    believed: float = SHARE_FACTOR
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
    """Measure what is missing if data is given, and write the table."""
    options = record_file.parser(__doc__, seeds=3).parse_args()
    if options.data:
        wanted = product(options.graphs, range(options.seeds))
        record_file.measure_missing(RECORDS, ("graph", "seed"), wanted, options.data, measured)
    (PAGES / "confidence-measured.md").write_text(page_text(record_file.read(RECORDS)))


def measured(data: LoadedDataset, seed: int) -> Record:
    """Measure both arrivals of a stream in every way."""
    *_, last = taught(data, seed, "growing")
    alone = {name: without_strangers(*last, way) for name, way in WAYS.items()}
    among = [
        {name: among_strangers(*moment, way) for name, way in WAYS.items()}
        for moment in islice(taught(data, seed, "present"), 1, None)
        if rows_of_later_classes(*moment[1:]).size
    ]
    return {
        name: alone[name]
        | {key: _mean([record[name][key] for record in among]) for key in among[0][name]}
        for name in WAYS
    }


def taught(
    data: LoadedDataset, seed: int, arrival: Arrival
) -> Iterator[tuple[Graft, Session, ClassSplit]]:
    """Yield the model after each session."""
    stream, model = inner_stream(data, seed, arrival), Graft(seed=seed)
    for session in stream:
        teach(model, session, stream, SILENT)
        yield model, session, stream.split


def some(rows: IntArray, split: ClassSplit, most: int = AT_MOST) -> IntArray:
    """Draw at most so many rows, in ascending order."""
    return np.sort(Seeds(split.seed).generator("asked").permutation(np.sort(rows))[:most])


def without_strangers(
    model: Graft, session: Session, split: ClassSplit, way: Way
) -> dict[str, float | None]:
    """Measure calibration and coverage on known and new classes."""
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
    """Measure open-set scores, and coverage where predictions of unknown classes are mistakes."""
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
    """Return probability among known classes, confidence, and which predictions are correct."""
    asked, targets = session.query.rows(), session.query.targets(model.classes_)
    order = np.argsort(asked)
    targets = targets[order][np.searchsorted(asked[order], rows)]
    shares, sure = certainty(model, session.view, rows, way)
    return shares.max(axis=1), sure, shares.argmax(axis=1) == targets


def certainty(model: Graft, view: GraphView, rows: IntArray, way: Way) -> tuple[Floats, Floats]:
    """Return probabilities among known classes, and the best times the open-set score."""
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
    share = float(expit(way.believed / SHARE_FACTOR * logit(scorer.share_of_known)))
    if way.refined:
        return shares, likely * known_class_probability(scores, model.open_set_[-1], share)
    before = before_refinement(model, view, rows)
    return shares, likely * known_class_probability(before, model.open_set_[0], share)


def before_refinement(model: Graft, view: GraphView, rows: IntArray) -> Floats:
    """Return the scores of the first stage, whose classes have another order."""
    scorer = model.derived(view)
    evidence, means = scorer.evidence, scorer.classes.means
    values = scorer.values(rows)[:, :, np.argsort(scorer.columns)]
    nodes, plain = evidence.nodes(rows), replace(scorer.classes, refined=means)
    evidence.refresh(evidence.signals, values, nodes, plain)
    scores: Floats = np.tensordot(model.weights_[0], values, 1)
    return scores


def page_text(records: Sequence[Record]) -> str:
    """Return a table for each graph with a row for each way."""
    parts = ["<!-- Written by studies/confidence.py. -->"]
    for graph in GRAPHS:
        seeds = record_file.matching(records, graph=graph)
        if seeds:
            rows = [
                [name, *(_cell(key, [record[name][key] for record in seeds]) for key in COLUMNS)]
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
    worst = f" ({100 * min(number for number in numbers if number is not None):.1f})"
    return f"{100 * mean:.1f}" + worst * key.startswith("precision")


def _mean(numbers: Sequence[float | None]) -> float | None:
    there = [number for number in numbers if number is not None]
    return rounded(float(np.mean(there))) if there else None


if __name__ == "__main__":
    main()
