"""How the paper's authors evaluated, leaks included, so that old numbers can be put beside ours.

Prototypes of old classes come from all their nodes, queries among them; each session takes a
gradient step on the labels of its queries; 20 queries a class are drawn. Whatever comes out is
marked leaky, and is never comparable with the strict protocol.
"""

from dataclasses import replace

import numpy as np

from nodegraft.base.errors import NotSupportedError
from nodegraft.base.events import SILENT, Listener
from nodegraft.base.measure import Measurement
from nodegraft.base.seeds import Seeds
from nodegraft.evaluation.protocol import StreamResult, measure, teach
from nodegraft.graph.labels import NodeLabels
from nodegraft.model.capability import Capability
from nodegraft.model.method import Method
from nodegraft.streams.session import Session
from nodegraft.streams.stream import ClassStream

PUBLISHED = "published (leaky)"
QUERIES = 20


def evaluate_published(
    method: Method, stream: ClassStream, *, listener: Listener = SILENT
) -> StreamResult:
    """Teach and measure as :func:`nodegraft.evaluation.protocol.evaluate` does, but leaky.

    Args:
        method: The method; what it learned before is dropped.
        stream: The sessions.
        listener: Is told of every session, and how far learning is.
    """
    if Capability.PUBLISHED not in method.capabilities():
        raise NotSupportedError(method.name, Capability.PUBLISHED)
    results = []
    for session in stream:
        with Measurement() as work:
            teach(method, session, stream, listener)
            sampled = replace(session, query=_sampled(session, stream))
            everything = _everything(method, session, stream)
            method.learn_as_published(session.view, everything, sampled.query)
        results.append(measure(method, sampled, stream.split, work))
        listener.session(results[-1])
    return StreamResult(tuple(results))


def _sampled(session: Session, stream: ClassStream) -> NodeLabels:
    seeds = Seeds(stream.split.seed)
    return NodeLabels(
        {
            name: seeds.generator("published", str(session.index), name).permutation(rows)[:QUERIES]
            for name, rows in session.query.items()
        }
    )


def _everything(method: Method, session: Session, stream: ClassStream) -> NodeLabels:
    # Few-shot holds for the session of arrival only; in session 0 all known classes are old.
    new = session.support if session.index else NodeLabels({})
    members, visible = stream.split.members, session.view.rows
    old = {name: np.intersect1d(members[name], visible) for name in method.classes_}
    return NodeLabels({name: new.get(name, rows) for name, rows in old.items()})
