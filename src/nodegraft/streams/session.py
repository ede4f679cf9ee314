"""One step of a stream: what is visible, what teaches, what is asked."""

from dataclasses import dataclass

from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView


@dataclass(frozen=True)
class Session:
    """One step: a method gets ``view`` and ``support``, only the metric gets ``query``."""

    index: int
    """Its number; 0 is the one that teaches the known classes."""

    view: GraphView
    """What exists by now."""

    support: NodeLabels
    """The labels of the classes that arrive."""

    query: NodeLabels
    """Held-out nodes of every class seen so far, to be asked about."""

    def __repr__(self) -> str:
        return (
            f"Session({self.index}: {self.support.num_nodes:,} labels of {len(self.support)} new "
            f"classes, {self.query.num_nodes:,} queries of {len(self.query)} classes, "
            f"{self.view!r})"
        )
