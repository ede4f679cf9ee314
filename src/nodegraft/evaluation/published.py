"""How the paper's authors evaluate, leaks and slips included, each of them a switch.

Read in their code (github.com/Zhen-Tan-dmml/GFCIL, commit 9b78210). Whatever comes out is marked
leaky, and is never comparable with the strict protocol; not even with everything switched off, for
prototypes of old classes are made anew here in every session.

Left as in our own methods: dropout is of the encoder alone, not of the attentions; weights of
supports are a softmax; all classes known at first are one task; training sees 60 % of a class,
where theirs sees 400 nodes of it.
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
from nodegraft.evaluation.protocol import Asked, StreamResult, session_result, teach
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
    """What the authors' evaluation does and a strict one does not; all on by default."""

    step: bool = True
    """The loss of the labels asked about is back-propagated after a session that teaches: it
    reaches the sessions after it. (Our optimiser starts anew, theirs goes on from practice.)"""

    before_step: bool = True
    """The accuracy printed is that before the session's own step."""

    dropout: bool = True
    """Hidden numbers are dropped while accuracy is taken."""

    all_nodes: bool = True
    """Prototypes of old classes are means over all their nodes, those asked about included."""

    doubled: bool = True
    """The session's classes stand among the candidates twice, and only the second place counts."""

    taught_queries: bool = True
    """Nodes asked about are drawn from all nodes of a class, those that taught it among them; in
    the session that teaches a class its supports are left out."""

    full_degrees: bool = True
    """Degrees and normalisation come from the full graph, classes still to come included, while
    learning as while asking."""

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """All ingredients."""
        return tuple(field.name for field in fields(cls))

    @property
    def left_out(self) -> tuple[str, ...]:
        """Those that are switched off."""
        return tuple(name for name in self.names() if not getattr(self, name))

    @classmethod
    def without(cls, names: Sequence[str]) -> "Ingredients":
        """All but some.

        Args:
            names: Names of ingredients, with dashes or underscores.
        """
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
    """Teach and measure as :func:`nodegraft.evaluation.protocol.evaluate` does, but leaky.

    Args:
        method: The method; what it learned before is dropped.
        stream: The sessions.
        ingredients: What is done as the authors do it; None for everything.
        listener: Is told of every session, and how far learning is.
    """
    if Capability.PUBLISHED not in method.capabilities():
        raise NotSupportedError(method.name, Capability.PUBLISHED)
    chosen, results = ingredients or Ingredients(), []
    for one in stream:
        session = _seen(one, chosen)
        with Measurement() as work:
            teach(method, session, stream, listener)
        sampled = replace(session, query=_sampled(session, stream, chosen))
        lesson = _lesson(method, sampled, stream, chosen)
        with Measurement() as asking:
            asked = _ask(method, lesson)
        results.append(session_result(method, sampled, stream.split, asked, work, asking))
        listener.session(results[-1])
    return StreamResult(tuple(results))


def _seen(session: Session, chosen: Ingredients) -> Session:
    return (
        replace(session, view=session.view.with_full_degrees()) if chosen.full_degrees else session
    )


def _ask(method: Method, lesson: PublishedLesson) -> Asked:
    scored = method.scores_as_published(lesson)
    scores = scored.detach().numpy() if isinstance(scored, Tensor) else scored
    order = np.argsort(lesson.query.rows())
    place = {name: number for number, name in enumerate(method.classes_)}
    columns = np.array([place.get(name, -1) for name in lesson.columns])
    shares = np.exp(scores - scores.max(axis=1, keepdims=True)).astype(np.float64)
    shares /= shares.sum(axis=1, keepdims=True)
    return Asked(lesson.query.rows()[order], shares[order], columns=columns)


def _lesson(
    method: Method, session: Session, stream: ClassStream, chosen: Ingredients
) -> PublishedLesson:
    split, index = stream.split, session.index
    everything = _members(split, method.classes_, session.view.rows)
    honest = method.labels_.on(session.view)
    known = everything if chosen.all_nodes else honest
    tasks = [split.arriving(number) for number in range(max(index, 1))]
    arriving = split.arriving(index) if index else ()
    return PublishedLesson(
        view=session.view,
        old=tuple(known.select(names) for names in tasks),
        doubled=everything.select(arriving if chosen.doubled else ()),
        new=session.support if index else NodeLabels({}),
        query=session.query,
        dropout=getattr(method, "dropout", 0.0) if chosen.dropout else 0.0,
        step=chosen.step and index > 0,
        before_step=chosen.before_step,
        seed=Seeds(split.seed).number("published", str(index)),
    )


def _sampled(session: Session, stream: ClassStream, chosen: Ingredients) -> NodeLabels:
    seeds, split = Seeds(stream.split.seed), stream.split
    asked = session.query
    if chosen.taught_queries:
        # In session 0 training nodes are asked about, too; later, supports of now are not.
        fresh = session.support if session.index else NodeLabels({})
        asked = _members(split, asked, np.setdiff1d(session.view.rows, fresh.rows()))
    return NodeLabels(
        {
            name: seeds.generator("published", str(session.index), name).permutation(rows)[:QUERIES]
            for name, rows in asked.items()
        }
    )


def _members(split: ClassSplit, names: Iterable[str], among: NDArray[np.int64]) -> NodeLabels:
    return NodeLabels({name: np.intersect1d(split.members[name], among) for name in names})
