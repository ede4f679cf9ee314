"""Calibration of the confidence of ``graft`` on the real graphs, and precision when it abstains.

    python -m studies.abstaining --data DIR     # measure what is missing, then draw
    python -m studies.abstaining                # draw the records again

Novel classes arrive under the strict protocol. Writes ``studies/records/abstaining.json``, stream
by stream, and from it figure and tables of ``docs/explanation/confidence.md``. Delete the file to
measure everything again.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from studies.abstaining_page import GRAPHS, LEVELS, curves_by_graph, page_text
from studies.figures.abstaining import draw_abstaining
from studies.record_file import PAGES, Record, rounded
from studies.selective import balanced_weights, precision_and_coverage, risk_coverage

import nodegraft as ng
from nodegraft.analysis.rendering.drawing import save_svg
from nodegraft.base.events import SILENT
from nodegraft.base.seeds import Seeds
from nodegraft.evaluation.metrics import (
    Floats,
    expected_calibration_error,
)
from nodegraft.evaluation.protocol import teach
from nodegraft.graph.labels import NodeLabels
from nodegraft.methods.graft import Graft
from nodegraft.streams.session import Session
from studies import record_file

RECORDS = record_file.FOLDER / "abstaining.json"
COVERAGES = np.arange(1, 51) / 50
AT_MOST = 2000
"""Nodes of known classes, and of unknown ones, in the measurement of unknown classes."""


@dataclass(frozen=True)
class Outcomes:
    """Predictions of nodes with their probability and confidence.

    Both are defined in the glossary; the confidence decides about abstaining.
    """

    targets: NDArray[np.int64]
    predictions: NDArray[np.int64]
    probability: NDArray[np.float64]
    confidence: NDArray[np.float64]

    @property
    def correct(self) -> NDArray[np.bool_]:
        """Whether each prediction is correct."""
        return np.equal(self.predictions, self.targets)

    def take(self, some: NDArray[np.bool_]) -> "Outcomes":
        """Return the outcomes of some nodes."""
        return Outcomes(
            self.targets[some],
            self.predictions[some],
            self.probability[some],
            self.confidence[some],
        )


def main() -> None:
    """Measure what is missing if data is given, and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(10)))
    parser.add_argument("--datasets", nargs="+", default=GRAPHS, choices=GRAPHS)
    options = parser.parse_args()
    if options.data:
        measure_missing(RECORDS, options.data, options.datasets, options.seeds)
    records = record_file.read(RECORDS)
    save_svg(draw_abstaining(curves_by_graph(records)), PAGES / "abstaining.svg")
    (PAGES / "abstaining-measured.md").write_text(page_text(records))


def measure_missing(path: Path, data: str, graphs: Sequence[str], seeds: Sequence[int]) -> None:
    """Measure what is not recorded yet; the file is written after every stream."""
    record_file.measure_missing(path, ("graph", "seed"), product(graphs, seeds), data, measured)


def measured(data: Any, seed: int) -> Record:
    """Measure the first, the middle and the last session of a stream, and unknown classes."""
    stream = data.stream(seed=seed)
    split = stream.split
    last = len(stream) - 1
    moments = {0: "first", (last + 1) // 2: "middle", last: "last"}
    model, sessions = Graft(seed=seed), {}
    for session in stream:
        teach(model, session, stream, SILENT)
        if session.index == 0:
            unknown = unknown_classes(model, stream.session(last), split)
        if session.index in moments:
            sessions[moments[session.index]] = evaluated(model, session, split)
    return {
        "known_classes": len(split.known),
        "new_classes": len(split.novel),
        "shots": data.setting.shots,
        "sessions": sessions,
        "unknown_classes": unknown,
    }


def evaluated(model: Graft, session: Session, split: ng.ClassSplit) -> Record:
    """Return all measures of a session."""
    outcomes, known = ask(model, session, session.query), len(split.known)
    is_known = outcomes.targets < known
    return {
        "session": session.index,
        "queries": int(outcomes.targets.size),
        "calibration": {
            "all": calibration(outcomes),
            "known": calibration(outcomes.take(is_known)),
            "new": calibration(outcomes.take(~is_known)),
            "names_known": calibration(outcomes.take(outcomes.predictions < known)),
            "names_new": calibration(outcomes.take(outcomes.predictions >= known)),
        },
        "natural": accepted_predictions(outcomes, np.ones(outcomes.targets.size)),
        "macro": accepted_predictions(outcomes, balanced_weights(outcomes.targets)),
        "by_answer": {
            "known": _accepted(outcomes.take(outcomes.predictions < known)),
            "new": _accepted(outcomes.take(outcomes.predictions >= known)),
            "alike": by_predicted_class(outcomes),
        },
        "as_in_graph": _accepted(outcomes, as_in_graph(outcomes, model.classes_, split)),
        "largest_class": largest_class(outcomes, model.classes_, known),
        "mistaken_for_smaller": mistaken_for_smaller(outcomes),
    }


def ask(model: Graft, session: Session, queries: NodeLabels) -> Outcomes:
    """Predict nodes in row order, as the protocol does."""
    order = np.argsort(queries.rows())
    scores = model.score_rows(session.view, queries.rows()[order])
    targets = queries.targets(model.classes_)[order]
    probability = model.probabilities(session.view, scores).max(axis=1)
    confidence = model.confidence(session.view, scores)
    return Outcomes(targets, scores.argmax(axis=1), probability, confidence)


def calibration(outcomes: Outcomes) -> dict[str, float | None] | None:
    """Return the expected calibration error, and the two means that show its direction."""
    if not outcomes.targets.size:
        return None
    return {
        "error": rounded(expected_calibration_error(outcomes.probability, outcomes.correct)),
        "confidence": rounded(float(outcomes.probability.mean())),
        "accuracy": rounded(float(outcomes.correct.mean())),
    }


def accepted_predictions(outcomes: Outcomes, weights: Floats) -> Record:
    """Return precision and coverage at each level, and the error at each coverage."""
    errors = risk_coverage(outcomes.confidence, outcomes.correct, COVERAGES, weights)
    return {
        "accuracy": rounded(float(np.average(outcomes.correct, weights=weights))),
        "accepted": _accepted(outcomes, weights),
        "errors": errors.round(4).tolist(),
    }


def _accepted(outcomes: Outcomes, weights: Floats | None = None) -> Record | None:
    if not outcomes.targets.size:
        return None
    weights = np.ones(outcomes.targets.size) if weights is None else weights
    return {f"{level:.2f}": _accepted_at(outcomes, level, weights) for level in LEVELS}


def _accepted_at(outcomes: Outcomes, level: float, weights: Floats) -> dict[str, float | None]:
    """Return precision, coverage, and the precision that the confidences predict (``promised``)."""
    precision, coverage = precision_and_coverage(
        outcomes.confidence, outcomes.correct, level, weights
    )
    accepted = np.where(outcomes.confidence >= level, weights, 0.0)
    promised = float(accepted @ outcomes.confidence / accepted.sum()) if accepted.any() else np.nan
    return {
        "precision": rounded(precision),
        "promised": rounded(promised),
        "coverage": rounded(coverage),
    }


def by_predicted_class(outcomes: Outcomes) -> Record:
    """Return the precision by predicted class, averaged over classes."""
    found: Record = {}
    for level in LEVELS:
        accepted = outcomes.take(outcomes.confidence >= level)
        weights = balanced_weights(accepted.predictions)
        precision = float(np.average(accepted.correct, weights=weights)) if weights.size else np.nan
        found[f"{level:.2f}"] = {"precision": rounded(precision)}
    return found


def as_in_graph(outcomes: Outcomes, names: Sequence[str], split: ng.ClassSplit) -> Floats:
    """Return weights that restore class sizes: of known classes only a fifth is evaluated."""
    members = np.array([split.members[name].size for name in names])
    weights: Floats = members[outcomes.targets] * balanced_weights(outcomes.targets)
    return weights


def largest_class(outcomes: Outcomes, names: Sequence[str], known: int) -> Record:
    """Return the class with most queries, and its share of confident mistakes."""
    place = int(np.bincount(outcomes.targets).argmax())
    own, mistaken = outcomes.targets == place, _confident_mistakes(outcomes)
    return {
        "name": names[place],
        "new": place >= known,
        "of_queries": rounded(float(own.mean())),
        "recall": rounded(float(outcomes.correct[own].mean())),
        "of_confident_mistakes": rounded(_share(own, mistaken)),
        "without_it": _accepted(outcomes.take(~own)),
    }


def mistaken_for_smaller(outcomes: Outcomes) -> float | None:
    """Return the share of confident mistakes that predict a class with fewer queries."""
    counts = np.bincount(outcomes.targets, minlength=int(outcomes.predictions.max()) + 1)
    return rounded(
        _share(
            counts[outcomes.predictions] < counts[outcomes.targets], _confident_mistakes(outcomes)
        )
    )


def _confident_mistakes(outcomes: Outcomes) -> NDArray[np.bool_]:
    return ~outcomes.correct & (outcomes.confidence >= LEVELS[0])


def _share(which: NDArray[np.bool_], among: NDArray[np.bool_]) -> float:
    return float(which[among].mean()) if among.any() else np.nan


def unknown_classes(
    model: Graft, session: Session, split: ng.ClassSplit
) -> dict[str, float | None]:
    """Measure how a model of the first classes rejects nodes of later ones."""
    generator = Seeds(split.seed).generator("refusal")
    sides = [
        _some(queries.rows(), generator)
        for queries in (split.test, split.query.select(split.novel))
    ]
    scores = [model.score_rows(session.view, rows) for rows in sides]
    known, new = (model.confidence(session.view, score) for score in scores)
    truth = np.repeat([1, 0], [known.size, new.size])
    return {
        "auroc": rounded(float(roc_auc_score(truth, np.concatenate((known, new))))),
        **{
            f"unknown_rejected_{level:.2f}": rounded(float((new < level).mean()))
            for level in LEVELS
        },
        **{
            f"known_rejected_{level:.2f}": rounded(float((known < level).mean()))
            for level in LEVELS
        },
    }


def _some(rows: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64]:
    return np.sort(generator.permutation(np.sort(rows))[:AT_MOST])


if __name__ == "__main__":
    main()
