"""Strict protocol: train on a stream session by session, and measure on all classes so far."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.events import SILENT, Listener
from nodegraft.base.measure import Measurement
from nodegraft.evaluation.metrics import (
    QueryOutcomes,
    accuracy_at_coverage,
    auroc,
    average_forgetting,
    expected_calibration_error,
    harmonic_mean,
    performance_drop,
    relative_performance_drop,
)
from nodegraft.model.best_classes import recalls
from nodegraft.model.method import Method
from nodegraft.streams.session import Session
from nodegraft.streams.split import ClassSplit
from nodegraft.streams.stream import ClassStream

STRICT = "strict"
UPPER_REFERENCE = "many-shot (upper reference)"
"""Protocol name in records of upper references, which train on most nodes of new classes."""

COVERAGES = (0.5, 0.8, 0.9, 1.0)


@dataclass(frozen=True)
class SessionResult:
    """Metrics of one session; accuracies are between 0 and 1."""

    index: int
    """Number of the session."""

    classes: int
    """Number of classes learned so far."""

    new_classes: tuple[str, ...]
    """Classes that arrived in this session."""

    queries: int
    """Number of query nodes."""

    macro_accuracy: float
    """Mean recall over all classes so far."""

    micro_accuracy: float
    """Share of query nodes that are predicted correctly."""

    base_accuracy: float
    """Macro accuracy over base classes."""

    pseudo_novel_accuracy: float | None
    """Macro accuracy over pseudo-novel classes; None without such classes."""

    known_accuracy: float
    """Macro accuracy over the classes of session 0: base and pseudo-novel."""

    novel_accuracy: float | None
    """Macro accuracy over the classes of later sessions; None in session 0."""

    harmonic_mean: float | None
    """Harmonic mean of ``known_accuracy`` and ``novel_accuracy``; None in session 0."""

    expected_calibration_error: float
    """Mean gap between confidence and accuracy over bins of confidence."""

    unknown_auroc: float | None
    """AUROC with which confidence tells queries from nodes of later classes; None without any."""

    accuracy_at_coverage: dict[str, float]
    """Coverage -> accuracy on this share of nodes, those with the highest confidence."""

    seconds: float
    """Training time in seconds."""

    query_seconds: float
    """Prediction time in seconds."""

    peak_bytes: int
    """Increase of resident memory during training, in bytes."""

    kept_bytes: int
    """Size of the model's learned state in bytes."""

    recall: dict[str, float] = field(repr=False)
    """Class name -> share of its query nodes that are predicted correctly."""

    queries_by_class: dict[str, int] = field(repr=False)
    """Class name -> number of its query nodes."""

    outcomes: QueryOutcomes = field(repr=False)
    """Outcome of each query node; not stored in records."""


@dataclass(frozen=True)
class StreamResult:
    """Results of all sessions of one evaluation."""

    sessions: tuple[SessionResult, ...]
    """Results of each session, in order."""

    @property
    def summary(self) -> dict[str, Any]:
        """Summary as JSON: first, last and average accuracy, PD, RPD, forgetting and costs.

        The AUROC of unknown classes is averaged over the sessions after the first."""
        macro = [session.macro_accuracy for session in self.sessions]
        last = self.sessions[-1]
        return {
            "first_accuracy": macro[0],
            "last_accuracy": macro[-1],
            "average_accuracy": float(np.mean(macro)),
            "performance_drop": performance_drop(macro),
            "relative_performance_drop": relative_performance_drop(macro),
            "last_known_accuracy": last.known_accuracy,
            "last_novel_accuracy": last.novel_accuracy,
            "harmonic_mean": last.harmonic_mean,
            "average_forgetting": average_forgetting(
                [session.outcomes for session in self.sessions]
            ),
            "unknown_auroc": self._unknown_auroc,
            "seconds": sum(session.seconds for session in self.sessions),
            "kept_bytes": last.kept_bytes,
        }

    @property
    def _unknown_auroc(self) -> float | None:
        measured = [session.unknown_auroc for session in self.sessions[1:]]
        values = [value for value in measured if value is not None]
        return float(np.mean(values)) if values else None

    def __repr__(self) -> str:
        curve = " ".join(f"{100 * session.macro_accuracy:.1f}" for session in self.sessions)
        return f"StreamResult({len(self.sessions)} sessions, macro accuracy {curve} %)"


def evaluate(method: Method, stream: ClassStream, *, listener: Listener = SILENT) -> StreamResult:
    """Train a method on a stream and measure it after every session.

    The method gets only views and support labels. Query labels never leave this module.

    Args:
        method: The method; an earlier fit is discarded.
        stream: Stream of sessions.
        listener: Listener that receives progress events and the result of every session.
    """
    results = []
    for session in stream:
        with Measurement() as work:
            teach(method, session, stream, listener)
        results.append(measure(method, session, stream.split, work))
        listener.session(results[-1])
    return StreamResult(tuple(results))


def teach(method: Method, session: Session, stream: ClassStream, listener: Listener) -> None:
    """Train a method on a session: ``fit`` in session 0, ``add_classes`` in later sessions."""
    if session.index == 0:
        method.fit(session.view, stream.curriculum, listener=listener)
    else:
        method.add_classes(session.view, session.support, listener=listener)


def measure(
    method: Method, session: Session, split: ClassSplit, work: Measurement
) -> SessionResult:
    """Predict every query node of a session and compare the prediction with its label."""
    # Predict nodes in row order: the order of the query labels would reveal their classes.
    rows = np.sort(session.query.rows())
    with Measurement() as prediction:
        scores = method.score_rows(session.view, rows)
        shares = method.probabilities(session.view, scores)
    later, unknown_auroc = rows_of_later_classes(session, split), None
    if later.size:
        pair = (scores, method.score_rows(session.view, later))
        unknown_auroc = auroc(*(method.confidence(session.view, part) for part in pair))
    predicted = QueryScores(rows, shares, unknown_auroc)
    return session_result(method, session, split, predicted, work, prediction)


def rows_of_later_classes(session: Session, split: ClassSplit) -> NDArray[np.int64]:
    """Return the rows of visible nodes whose class has not arrived yet, ascending."""
    later = split.query.select([name for name in split.novel if name not in session.query])
    return np.intersect1d(later.rows(), session.view.rows)


@dataclass(frozen=True)
class QueryScores:
    """Predicted probabilities of the query nodes of a session."""

    rows: NDArray[np.int64]
    """Rows of the query nodes, ascending."""

    shares: NDArray[np.float64]
    """Probability of each candidate class: nodes x candidates."""

    unknown_auroc: float | None = None
    """AUROC of confidence, as in :class:`SessionResult`."""

    columns: NDArray[np.int64] | None = None
    """Class number of each candidate, -1 for a candidate that is always wrong; None if the
    candidates are the known classes in order."""


class Fitted(Protocol):
    """Attributes of a fitted method that ``session_result`` reads."""

    @property
    def classes_(self) -> tuple[str, ...]:
        """Names of the known classes."""

    def kept_bytes(self) -> int:
        """Return the size of the learned state in bytes."""


def session_result(
    method: Fitted,
    session: Session,
    split: ClassSplit,
    predicted: QueryScores,
    work: Measurement,
    prediction: Measurement,
) -> SessionResult:
    """Compute the metrics of a session from predictions and the labels of query nodes."""
    classes, confidence = predicted.shares.argmax(axis=1), predicted.shares.max(axis=1)
    if predicted.columns is not None:
        classes = predicted.columns[classes]
    targets = session.query.targets(method.classes_)[np.argsort(session.query.rows())]
    correct = classes == targets
    recall = dict(
        zip(method.classes_, recalls(targets, classes, len(method.classes_)), strict=True)
    )
    known = _macro(recall, split.known) or 0.0
    novel = _macro(recall, [name for name in recall if name not in split.known])
    return SessionResult(
        index=session.index,
        classes=len(method.classes_),
        new_classes=session.support.classes,
        queries=int(predicted.rows.size),
        macro_accuracy=float(np.mean(list(recall.values()))),
        micro_accuracy=float(correct.mean()),
        base_accuracy=_macro(recall, split.base) or 0.0,
        pseudo_novel_accuracy=_macro(recall, split.pseudo_novel),
        known_accuracy=known,
        novel_accuracy=novel,
        harmonic_mean=None if novel is None else harmonic_mean(known, novel),
        expected_calibration_error=expected_calibration_error(confidence, correct),
        unknown_auroc=predicted.unknown_auroc,
        accuracy_at_coverage={
            f"{coverage:.2f}": accuracy_at_coverage(confidence, correct, coverage)
            for coverage in COVERAGES
        },
        seconds=work.seconds,
        query_seconds=prediction.seconds,
        peak_bytes=work.peak_bytes,
        kept_bytes=method.kept_bytes(),
        recall={name: float(value) for name, value in recall.items()},
        queries_by_class=session.query.counts(),
        outcomes=QueryOutcomes(predicted.rows, targets, correct),
    )


def _macro(recall: Mapping[str, float], names: Sequence[str]) -> float | None:
    return float(np.mean([recall[name] for name in names])) if names else None
