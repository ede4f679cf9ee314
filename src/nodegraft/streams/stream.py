"""Sessions in order, from a graph and a split."""

from collections.abc import Iterator
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.errors import ParameterError
from nodegraft.base.parameters.validate import validate_value
from nodegraft.graph.graph import Graph
from nodegraft.graph.view import GraphView
from nodegraft.streams.curriculum import Curriculum
from nodegraft.streams.session import Session
from nodegraft.streams.split import ClassSplit

Arrival = Literal["with-class", "present"]
ARRIVALS: tuple[Arrival, ...] = get_args(Arrival)


class ClassStream:
    """Session 0 knows base and pseudo-novel classes; each later one brings ``ways`` new ones.

    Args:
        graph: All nodes, those of classes that arrive later among them.
        split: Which classes play which role, and which of their nodes teach.
        arrival: Which nodes exist in a session: those of the classes that have arrived
            (``"with-class"``), or all from the start (``"present"``).
    """

    def __init__(self, graph: Graph, split: ClassSplit, *, arrival: Arrival = "with-class") -> None:
        validate_value("arrival", arrival, Arrival)
        self._graph = graph
        self.split = split
        self.arrival: Arrival = arrival

    @property
    def curriculum(self) -> Curriculum:
        """What may be learned before session 1."""
        split, rehearsal = self.split, self.rehearsal()
        sessions = rehearsal.__iter__ if split.validation else None
        ways, shots = split.setting.ways, split.setting.shots
        return Curriculum(
            split.train, split.held_out, split.pseudo_novel, sessions, ways=ways, shots=shots
        )

    def rehearsal(self) -> "ClassStream":
        """The same stream with the validation classes as the new ones; no test node is asked."""
        return ClassStream(self._graph, self.split.rehearsal(), arrival=self.arrival)

    def __len__(self) -> int:
        ways = self.split.setting.ways
        return 1 + (len(self.split.novel) + ways - 1) // ways

    def arriving(self, index: int) -> tuple[str, ...]:
        """The classes of one session.

        Args:
            index: The number of the session, from 0.
        """
        ways, split = self.split.setting.ways, self.split
        return split.novel[(index - 1) * ways : index * ways] if index else split.known

    def session(self, index: int) -> Session:
        """One session, by itself.

        Args:
            index: The number of the session, from 0.
        """
        if not 0 <= index < len(self):
            raise ParameterError(f"The sessions are 0 to {len(self) - 1}; there is no {index}.")
        split, seen = self.split, self.split.novel[: index * self.split.setting.ways]
        support = split.train if index == 0 else split.support.select(self.arriving(index))
        view = self._view(split.known + seen)
        return Session(index, view, support, split.test | split.query.select(seen))

    def _view(self, seen: tuple[str, ...]) -> GraphView:
        if self.arrival == "present":
            return self._graph
        visible: NDArray[np.int64] = self.split.members.select(seen).rows()
        return self._graph.view(visible)

    def __iter__(self) -> Iterator[Session]:
        return (self.session(index) for index in range(len(self)))

    def __repr__(self) -> str:
        return (
            f"ClassStream({len(self)} sessions, {self.split.setting}, arrival {self.arrival!r}, "
            f"seed {self.split.seed})"
        )
