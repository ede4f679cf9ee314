"""Sessions in order, drawn from a graph and its labels."""

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from nodegraft.base.parameters.validate import validate_value
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import Key, KeyArray
from nodegraft.graph.labels import NodeLabels
from nodegraft.streams.anonymous import anonymous_order
from nodegraft.streams.arrival import (
    NEVER,
    Arrival,
    entry_sessions,
    without_edges_between_sessions,
)
from nodegraft.streams.curriculum import Curriculum
from nodegraft.streams.session import Session, Sessions
from nodegraft.streams.setting import Setting
from nodegraft.streams.split import ClassSplit, Groups

STREAM_VERSION = 2
"""Raised whenever the same graph, setting and seed give other sessions than before."""


class ClassStream:
    """Session 0 knows base and pseudo-novel classes; each later one brings ``ways`` new ones.

    :meth:`draw` makes one from a graph, labels and a seed, with nodes that are anonymous.

    Args:
        graph: The graph as methods see it, nodes of classes that arrive later among them.
        split: Which classes play which role, and which of their nodes teach, by rows of ``graph``.
        arrival: Which nodes exist in a session: ``"growing"``, ``"present"``, ``"with-class"`` or
            ``"isolated"``; see :func:`nodegraft.streams.arrival.entry_sessions`.
        entry: The session in which each row comes into sight; None works it out from split and
            arrival, nodes of no class of the split at once with ``"present"``, else never.
        keys: The user's key of each row; None takes those of ``graph``.
    """

    def __init__(
        self,
        graph: Graph,
        split: ClassSplit,
        *,
        arrival: Arrival,
        entry: IntArray | None = None,
        keys: KeyArray | None = None,
    ) -> None:
        validate_value("arrival", arrival, Arrival)
        if entry is None:
            others = np.full(graph.num_nodes, 0 if arrival == "present" else NEVER)
            entry = entry_sessions(split, arrival, others)
        self.split = split
        self.arrival: Arrival = arrival
        self._graph = graph
        self._entry = entry
        self._keys = graph.key_array_of(graph.rows) if keys is None else keys

    @classmethod
    def draw(
        cls,
        graph: Graph,
        labels: NodeLabels,
        setting: Setting,
        *,
        seed: int = 0,
        arrival: Arrival = "growing",
        groups: Groups | None = None,
        many_shot: bool = False,
        node_seed: int | None = None,
    ) -> "ClassStream":
        """A stream of anonymous nodes, drawn by seed.

        Methods meet the nodes in an order of rows that the seed draws, with row numbers for keys;
        :meth:`user_keys` translates back, for people. The order of rows in ``graph`` does not
        matter.

        Args:
            graph: All nodes, those of classes that arrive later among them.
            labels: The nodes of every class, by rows of ``graph``.
            setting: How many classes of each role, and how many arrive with how many labels.
            seed: Draws which class has which role, and the order of rows.
            arrival: Which nodes exist in a session, as in :class:`ClassStream`.
            groups: A group number for every row of ``graph``, as in :meth:`ClassSplit.draw`.
            many_shot: Whether new classes are taught by 60 % of their nodes instead of a few.
            node_seed: Draws which nodes teach; None takes ``seed``.
        """
        order = anonymous_order(graph, seed)
        place = np.argsort(order)
        split = ClassSplit.draw(
            NodeLabels({name: place[rows] for name, rows in labels.items()}),
            setting,
            seed,
            None if groups is None else groups[order],
            many_shot=many_shot,
            node_seed=node_seed,
        )
        keys = graph.key_array_of(order)
        return cls(graph.reordered(order), split, arrival=arrival, keys=keys)

    @cached_property
    def _sessions(self) -> Sessions:
        split, graph = self.split, self._graph
        if self.arrival == "isolated":
            graph = without_edges_between_sessions(graph, self._entry)
        arriving = [split.arriving(index) for index in range(split.num_sessions)]
        support = (split.train, *(split.support.select(names) for names in arriving[1:]))
        query = tuple(split.queried.select(names) for names in arriving)
        return Sessions(graph, self._entry, support, query)

    @property
    def curriculum(self) -> Curriculum:
        """What may be learned before session 1."""
        split = self.split
        return Curriculum(
            split.train,
            split.held_out,
            split.pseudo_novel,
            self.rehearsal()._sessions if split.validation else None,
            ways=split.setting.ways,
            shots=split.setting.shots,
        )

    def rehearsal(self) -> "ClassStream":
        """A stream with the validation classes as the new ones, in which no test node is asked.

        Nodes that come into sight after session 0 of this stream do not exist in it.
        """
        split = self.split.rehearsal()
        entry = entry_sessions(split, self.arrival, np.where(self._entry == 0, 0, NEVER))
        return ClassStream(self._graph, split, arrival=self.arrival, entry=entry, keys=self._keys)

    def user_keys(self, rows: IntArray) -> list[Key]:
        """The keys by which the user knows nodes, for showing; methods never see them.

        Args:
            rows: Rows as methods see them.
        """
        keys: list[Key] = self._keys[rows].tolist()
        return keys

    def __len__(self) -> int:
        return len(self._sessions)

    def session(self, index: int) -> Session:
        """One session, by itself.

        Args:
            index: The number of the session, from 0.
        """
        return self._sessions[index]

    def __iter__(self) -> Iterator[Session]:
        return iter(self._sessions)

    def __repr__(self) -> str:
        return (
            f"ClassStream({len(self)} sessions, {self.split.setting}, arrival {self.arrival!r}, "
            f"seed {self.split.seed})"
        )
