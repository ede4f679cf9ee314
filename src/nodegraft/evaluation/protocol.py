"""The strict protocol: teach a stream session by session and measure on all seen classes."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.events import SILENT, Listener
from nodegraft.base.measure import Measurement
from nodegraft.evaluation.metrics import (
    Answers,
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
# How records name a method that is taught new classes by most of their nodes.
UPPER_REFERENCE = "many-shot (upper reference)"

COVERAGES = (0.5, 0.8, 0.9, 1.0)


@dataclass(frozen=True)
class SessionResult:
    """All that is measured in one session. Accuracies are shares between 0 and 1."""

    index: int
    """The number of the session."""

    classes: int
    """How many classes are known by now."""

    new_classes: tuple[str, ...]
    """Those that arrived."""

    queries: int
    """How many nodes were asked about."""

    macro_accuracy: float
    """Right answers, counted in each class and averaged over classes."""

    micro_accuracy: float
    """Right answers, every node alike."""

    base_accuracy: float
    """The macro accuracy over base classes."""

    pseudo_novel_accuracy: float | None
    """The same over pseudo-novel classes; None where there are none."""

    known_accuracy: float
    """The same over the classes of session 0: base and pseudo-novel."""

    novel_accuracy: float | None
    """The same over the classes that arrived since; None in session 0."""

    harmonic_mean: float | None
    """Of the accuracies on known and on novel classes; None in session 0."""

    expected_calibration_error: float
    """How far confidence is from accuracy, on average."""

    unknown_auroc: float | None
    """How well confidence tells the nodes asked about from those of classes still to come: the
    chance that one of the former is the surer; None where none of the latter is in sight."""

    accuracy_at_coverage: dict[str, float]
    """Share of nodes that are answered, the surest first -> share of right answers among them."""

    seconds: float
    """How long learning took."""

    query_seconds: float
    """How long answering took."""

    peak_bytes: int
    """How far resident memory rose while learning."""

    kept_bytes: int
    """How large the model's learned state is."""

    recall: dict[str, float] = field(repr=False)
    """Class -> share of its nodes that were named rightly."""

    queries_by_class: dict[str, int] = field(repr=False)
    """Class -> how many of its nodes were asked about."""

    answers: Answers = field(repr=False)
    """Node by node; not put on record."""


@dataclass(frozen=True)
class StreamResult:
    """The sessions of one evaluation, and what they amount to."""

    sessions: tuple[SessionResult, ...]
    """In order."""

    @property
    def summary(self) -> dict[str, Any]:
        """A0, the last session, the average over sessions, PD, RPD, forgetting; the AUROC of
        classes still to come is averaged over the sessions after the first."""
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
            "average_forgetting": average_forgetting([one.answers for one in self.sessions]),
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
    """Teach a method a stream and measure it after every session.

    The method gets views and support labels. Query labels never leave this module.

    Args:
        method: The method; what it learned before is dropped.
        stream: The sessions.
        listener: Is told of every session, and how far learning is.
    """
    results = []
    for session in stream:
        with Measurement() as work:
            teach(method, session, stream, listener)
        results.append(measure(method, session, stream.split, work))
        listener.session(results[-1])
    return StreamResult(tuple(results))


def teach(method: Method, session: Session, stream: ClassStream, listener: Listener) -> None:
    """The base in session 0, later the support of the new classes.

    Args:
        method: The method.
        session: What it is taught.
        stream: The stream the session is of.
        listener: Is told how far learning is.
    """
    if session.index == 0:
        method.fit(session.view, stream.curriculum, listener=listener)
    else:
        method.add_classes(session.view, session.support, listener=listener)


def measure(
    method: Method, session: Session, split: ClassSplit, work: Measurement
) -> SessionResult:
    """Ask about every query node of a session and compare.

    Args:
        method: The method, taught up to this session.
        session: What is asked.
        split: Which class has which role.
        work: What learning the session took.
    """
    # Asked in row order: neither the order nor the company of a node may hint at its class.
    rows = np.sort(session.query.rows())
    with Measurement() as asking:
        scores = method.score_rows(session.view, rows)
        shares = method.probabilities(session.view, scores)
    unknown, apart = in_sight_but_not_taught(session, split), None
    if unknown.size:
        strange = method.score_rows(session.view, unknown)
        apart = auroc(*(method.confidence(session.view, one) for one in (scores, strange)))
    return session_result(method, session, split, Asked(rows, shares, apart), work, asking)


def in_sight_but_not_taught(session: Session, split: ClassSplit) -> NDArray[np.int64]:
    """Nodes whose class is still to come, ascending.

    Args:
        session: What may be seen.
        split: Which class has which role.
    """
    later = split.query.select([name for name in split.novel if name not in session.query])
    return np.intersect1d(later.rows(), session.view.rows)


@dataclass(frozen=True)
class Asked:
    """What was said about the nodes of a session."""

    rows: NDArray[np.int64]
    """The nodes, ascending."""

    shares: NDArray[np.float64]
    """A row for each of them: what each candidate was given."""

    unknown_auroc: float | None = None
    """How well confidence tells nodes in sight whose class is still to come; None without any."""

    columns: NDArray[np.int64] | None = None
    """The number of each candidate's class, -1 for one that is always wrong; None where
    candidates are the known classes in their order."""


def session_result(
    method: Method,
    session: Session,
    split: ClassSplit,
    asked: Asked,
    work: Measurement,
    asking: Measurement,
) -> SessionResult:
    """What was said, compared with the labels.

    Args:
        method: The method, taught up to this session.
        session: What was asked.
        split: Which class has which role.
        asked: What was said.
        work: What learning the session took.
        asking: What answering took.
    """
    predicted, confidence = asked.shares.argmax(axis=1), asked.shares.max(axis=1)
    if asked.columns is not None:
        predicted = asked.columns[predicted]
    targets = session.query.targets(method.classes_)[np.argsort(session.query.rows())]
    correct = predicted == targets
    recall = dict(
        zip(method.classes_, recalls(targets, predicted, len(method.classes_)), strict=True)
    )
    groups = _group_accuracies(recall, split)
    novel, known = groups["novel_accuracy"], groups["known_accuracy"]
    return SessionResult(
        index=session.index,
        classes=len(method.classes_),
        new_classes=session.support.classes,
        queries=int(asked.rows.size),
        macro_accuracy=float(np.mean(list(recall.values()))),
        micro_accuracy=float(correct.mean()),
        base_accuracy=groups["base_accuracy"] or 0.0,
        pseudo_novel_accuracy=groups["pseudo_novel_accuracy"],
        known_accuracy=known or 0.0,
        novel_accuracy=novel,
        harmonic_mean=None if novel is None else harmonic_mean(known or 0.0, novel),
        expected_calibration_error=expected_calibration_error(confidence, correct),
        unknown_auroc=asked.unknown_auroc,
        accuracy_at_coverage={
            f"{coverage:.2f}": accuracy_at_coverage(confidence, correct, coverage)
            for coverage in COVERAGES
        },
        seconds=work.seconds,
        query_seconds=asking.seconds,
        peak_bytes=work.peak_bytes,
        kept_bytes=method.kept_bytes(),
        recall={name: float(value) for name, value in recall.items()},
        queries_by_class=session.query.counts(),
        answers=Answers(asked.rows, targets, correct),
    )


def _group_accuracies(recall: dict[str, float], split: ClassSplit) -> dict[str, float | None]:
    groups = {
        "base_accuracy": split.base,
        "pseudo_novel_accuracy": split.pseudo_novel,
        "known_accuracy": split.known,
        "novel_accuracy": tuple(name for name in recall if name not in split.known),
    }
    return {
        group: float(np.mean([recall[name] for name in names])) if names else None
        for group, names in groups.items()
    }
