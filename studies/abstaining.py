"""How good the confidence of ``graft`` is on the real graphs, and what abstaining by it is worth.

    python -m studies.abstaining --data DIR     # measures what is missing, then draws
    python -m studies.abstaining                # draws again what was measured

Novel classes arrive under the strict protocol. Writes ``studies/records/abstaining.json``, stream
by stream, and from it figure and tables of ``docs/explanation/confidence.md``. Delete the file to
measure everything anew.
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
from studies.abstaining_told import GRAPHS, LEVELS, curves_by_graph, told
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
"""Nodes of each side that are asked where some classes were never taught."""


@dataclass(frozen=True)
class Answers:
    """What a model said about nodes, and whether it was right.

    ``confidence`` is the probability among the known classes, ``sure`` what is left of it where the
    node may be of none: the number that decides about abstaining.
    """

    targets: NDArray[np.int64]
    answers: NDArray[np.int64]
    confidence: NDArray[np.float64]
    sure: NDArray[np.float64]

    @property
    def correct(self) -> NDArray[np.bool_]:
        """Which answers are right."""
        return np.equal(self.answers, self.targets)

    def take(self, some: NDArray[np.bool_]) -> "Answers":
        """Some of them."""
        return Answers(
            self.targets[some], self.answers[some], self.confidence[some], self.sure[some]
        )


def main() -> None:
    """Measure what is missing if there is data to measure on, and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(10)))
    parser.add_argument("--datasets", nargs="+", default=GRAPHS, choices=GRAPHS)
    options = parser.parse_args()
    if options.data:
        measure_missing(RECORDS, options.data, options.datasets, options.seeds)
    records = record_file.read(RECORDS)
    save_svg(draw_abstaining(curves_by_graph(records)), PAGES / "abstaining.svg")
    (PAGES / "abstaining-measured.md").write_text(told(records))


def measure_missing(path: Path, data: str, graphs: Sequence[str], seeds: Sequence[int]) -> None:
    """Written after every stream, so that a cut costs one stream at most."""
    record_file.measure_missing(path, ("graph", "seed"), product(graphs, seeds), data, measured)


def measured(data: Any, seed: int) -> Record:
    """One stream: the first, the middle and the last session, and classes never taught."""
    stream = data.stream(seed=seed)
    split = stream.split
    last = len(stream) - 1
    moments = {0: "first", (last + 1) // 2: "middle", last: "last"}
    model, sessions = Graft(seed=seed), {}
    for session in stream:
        teach(model, session, stream, SILENT)
        if session.index == 0:
            unknown = before_being_taught(model, stream.session(last), split)
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
    """All that is said of the answers of one session."""
    said, known = ask(model, session, session.query), len(split.known)
    is_known = said.targets < known
    return {
        "session": session.index,
        "queries": int(said.targets.size),
        "calibration": {
            "all": calibration(said),
            "known": calibration(said.take(is_known)),
            "new": calibration(said.take(~is_known)),
            "names_known": calibration(said.take(said.answers < known)),
            "names_new": calibration(said.take(said.answers >= known)),
        },
        "natural": accepted_answers(said, np.ones(said.targets.size)),
        "macro": accepted_answers(said, balanced_weights(said.targets)),
        "by_answer": {
            "known": _accepted(said.take(said.answers < known)),
            "new": _accepted(said.take(said.answers >= known)),
            "alike": every_answer_alike(said),
        },
        "as_in_graph": _accepted(said, as_in_graph(said, model.classes_, split)),
        "largest_class": largest_class(said, model.classes_, known),
        "mistaken_for_smaller": mistaken_for_smaller(said),
    }


def ask(model: Graft, session: Session, queries: NodeLabels) -> Answers:
    """In row order, as the protocol asks."""
    order = np.argsort(queries.rows())
    scores = model.score_rows(session.view, queries.rows()[order])
    targets = queries.targets(model.classes_)[order]
    confidence = model.probabilities(session.view, scores).max(axis=1)
    sure = model.confidence(session.view, scores)
    return Answers(targets, scores.argmax(axis=1), confidence, sure)


def calibration(said: Answers) -> dict[str, float | None] | None:
    """The expected calibration error, and the two means that tell its direction."""
    if not said.targets.size:
        return None
    return {
        "error": rounded(expected_calibration_error(said.confidence, said.correct)),
        "confidence": rounded(float(said.confidence.mean())),
        "accuracy": rounded(float(said.correct.mean())),
    }


def accepted_answers(said: Answers, weights: Floats) -> Record:
    """What is accepted at each level, and the error at each coverage."""
    errors = risk_coverage(said.sure, said.correct, COVERAGES, weights)
    return {
        "accuracy": rounded(float(np.average(said.correct, weights=weights))),
        "accepted": _accepted(said, weights),
        "errors": errors.round(4).tolist(),
    }


def _accepted(said: Answers, weights: Floats | None = None) -> Record | None:
    if not said.targets.size:
        return None
    weights = np.ones(said.targets.size) if weights is None else weights
    return {f"{level:.2f}": _accepted_at(said, level, weights) for level in LEVELS}


def _accepted_at(said: Answers, level: float, weights: Floats) -> dict[str, float | None]:
    """``promised`` is how many should be right if every single probability came true."""
    precision, coverage = precision_and_coverage(said.sure, said.correct, level, weights)
    accepted = np.where(said.sure >= level, weights, 0.0)
    promised = float(accepted @ said.sure / accepted.sum()) if accepted.any() else np.nan
    return {
        "precision": rounded(precision),
        "promised": rounded(promised),
        "coverage": rounded(coverage),
    }


def every_answer_alike(said: Answers) -> Record:
    """The mean over classes of the precision of what is accepted as this class."""
    found: Record = {}
    for level in LEVELS:
        sure = said.take(said.sure >= level)
        alike = balanced_weights(sure.answers)
        precision = float(np.average(sure.correct, weights=alike)) if alike.size else np.nan
        found[f"{level:.2f}"] = {"precision": rounded(precision)}
    return found


def as_in_graph(said: Answers, names: Sequence[str], split: ng.ClassSplit) -> Floats:
    """Weights under which classes are as large as they are: of known ones only a fifth is asked."""
    members = np.array([split.members[name].size for name in names])
    weights: Floats = members[said.targets] * balanced_weights(said.targets)
    return weights


def largest_class(said: Answers, names: Sequence[str], known: int) -> Record:
    """The class most queries belong to, and whether it is to blame for confident mistakes."""
    place = int(np.bincount(said.targets).argmax())
    own, mistaken = said.targets == place, _confident_mistakes(said)
    return {
        "name": names[place],
        "new": place >= known,
        "of_queries": rounded(float(own.mean())),
        "recall": rounded(float(said.correct[own].mean())),
        "of_confident_mistakes": rounded(_share(own, mistaken)),
        "without_it": _accepted(said.take(~own)),
    }


def mistaken_for_smaller(said: Answers) -> float | None:
    """The share of confident mistakes whose answer names a class of fewer queries than the true."""
    counts = np.bincount(said.targets, minlength=int(said.answers.max()) + 1)
    return rounded(_share(counts[said.answers] < counts[said.targets], _confident_mistakes(said)))


def _confident_mistakes(said: Answers) -> NDArray[np.bool_]:
    return ~said.correct & (said.sure >= LEVELS[0])


def _share(which: NDArray[np.bool_], among: NDArray[np.bool_]) -> float:
    return float(which[among].mean()) if among.any() else np.nan


def before_being_taught(
    model: Graft, session: Session, split: ng.ClassSplit
) -> dict[str, float | None]:
    """A model that knows the first classes only, asked about theirs and about later ones."""
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
