"""Published protocol: the evaluation of the paper's authors, with leaks that can be switched off.

It follows their code (github.com/Zhen-Tan-dmml/GFCIL, commit 9b78210), including its errors.
Results are marked as leaky. They cannot be compared with the strict protocol, even if all leaks are
switched off, because prototypes of old classes are recomputed in every session.

Differences from their code: dropout is only in the encoder, not in the attentions; weights of
supports are a softmax; all classes of session 0 are one task; training uses 60 % of the nodes of a
class instead of 400 nodes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from nodegraft.base.errors import NotSupportedError, ParameterError
from nodegraft.base.events import SILENT, Listener
from nodegraft.base.measure import Measurement
from nodegraft.base.seeds import Seeds
from nodegraft.evaluation.protocol import QueryScores, StreamResult, session_result, teach
from nodegraft.graph.labels import NodeLabels
from nodegraft.model.hooks import Capability, PublishedLesson
from nodegraft.model.method import Method
from nodegraft.streams.session import Session
from nodegraft.streams.split import ClassSplit
from nodegraft.streams.stream import ClassStream

PUBLISHED = "published (leaky)"
QUERIES = 20


@dataclass(frozen=True, kw_only=True)
class Ingredients:
    """Switches for differences between the published and the strict protocol; all are on."""

    step: bool = True
    """Take a gradient step on the loss of query labels after each session with new classes.

    The step affects later sessions. Our optimiser starts with a new state; that of the authors
    keeps its state from meta-training."""

    before_step: bool = True
    """Report the accuracy from before the gradient step of the session."""

    dropout: bool = True
    """Keep dropout active while accuracy is measured."""

    all_nodes: bool = True
    """Compute prototypes of old classes from all their nodes, including query nodes."""

    doubled: bool = True
    """List each class of the session twice as candidate; only the second is correct."""

    taught_queries: bool = True
    """Draw query nodes also from training nodes, except the session's supports."""

    full_degrees: bool = True
    """Compute degrees and normalisation on the full graph, including later classes."""

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of all switches."""
        return tuple(field.name for field in fields(cls))

    @property
    def left_out(self) -> tuple[str, ...]:
        """Names of the switches that are off."""
        return tuple(name for name in self.names() if not getattr(self, name))

    @classmethod
    def without(cls, names: Sequence[str]) -> "Ingredients":
        """Return switches: the named switches are off, all others are on."""
        known = cls.names()
        off = [name.replace("-", "_") for name in names]
        for name in off:
            if name not in known:
                raise ParameterError(
                    f"The published protocol has no ingredient {name!r}; it has {', '.join(known)}."
                )
        return cls(**dict.fromkeys(off, False))


def evaluate_published(
    method: Method,
    stream: ClassStream,
    *,
    ingredients: Ingredients | None = None,
    listener: Listener = SILENT,
) -> StreamResult:
    """Train and measure like :func:`nodegraft.evaluation.protocol.evaluate`, but with leaks.

    Args:
        ingredients: Switches for parts of the authors' protocol; None if all are on.
    """
    if Capability.PUBLISHED not in method.capabilities():
        raise NotSupportedError(method.name, Capability.PUBLISHED)
    options, results = ingredients or Ingredients(), []
    for session in stream:
        if options.full_degrees:
            session = replace(session, view=session.view.with_full_degrees())
        with Measurement() as work:
            teach(method, session, stream, listener)
        sampled = replace(session, query=_sampled(session, stream, options))
        lesson = _lesson(method, sampled, stream, options)
        with Measurement() as prediction:
            scores = _predict(method, lesson)
        results.append(session_result(method, sampled, stream.split, scores, work, prediction))
        listener.session(results[-1])
    return StreamResult(tuple(results))


def _predict(method: Method, lesson: PublishedLesson) -> QueryScores:
    scored = method.scores_as_published(lesson)
    scores = scored.detach().numpy() if isinstance(scored, Tensor) else scored
    order = np.argsort(lesson.query.rows())
    place = {name: number for number, name in enumerate(method.classes_)}
    columns = np.array([place.get(name, -1) for name in lesson.columns])
    shares = np.exp(scores - scores.max(axis=1, keepdims=True)).astype(np.float64)
    shares /= shares.sum(axis=1, keepdims=True)
    return QueryScores(lesson.query.rows()[order], shares[order], columns=columns)


def _lesson(
    method: Method, session: Session, stream: ClassStream, options: Ingredients
) -> PublishedLesson:
    split, index = stream.split, session.index
    everything = _members(split, method.classes_, session.view.rows)
    honest = method.labels_.on(session.view)
    known = everything if options.all_nodes else honest
    tasks = [split.arriving(number) for number in range(max(index, 1))]
    arriving = split.arriving(index) if index else ()
    return PublishedLesson(
        view=session.view,
        old=tuple(known.select(names) for names in tasks),
        doubled=everything.select(arriving if options.doubled else ()),
        new=session.support if index else NodeLabels({}),
        query=session.query,
        dropout=getattr(method, "dropout", 0.0) if options.dropout else 0.0,
        step=options.step and index > 0,
        before_step=options.before_step,
        seed=Seeds(split.seed).number("published", str(index)),
    )


def _sampled(session: Session, stream: ClassStream, options: Ingredients) -> NodeLabels:
    seeds, split = Seeds(stream.split.seed), stream.split
    queries = session.query
    if options.taught_queries:
        # In session 0, training nodes are query nodes, too. In later sessions, the supports of
        # the session are excluded.
        fresh = session.support if session.index else NodeLabels({})
        queries = _members(split, queries, np.setdiff1d(session.view.rows, fresh.rows()))
    return NodeLabels(
        {
            name: seeds.generator("published", str(session.index), name).permutation(rows)[:QUERIES]
            for name, rows in queries.items()
        }
    )


def _members(split: ClassSplit, names: Iterable[str], among: NDArray[np.int64]) -> NodeLabels:
    return NodeLabels({name: np.intersect1d(split.members[name], among) for name in names})
