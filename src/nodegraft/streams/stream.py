"""Class-incremental streams: sequences of sessions drawn from a graph and its labels."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.parameters.validate import validate_value
from nodegraft.base.seeds import Seeds
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import Key, KeyArray, key_hashes
from nodegraft.graph.labels import NodeLabels
from nodegraft.streams.arrival import (
    NEVER,
    Arrival,
    entry_sessions,
    without_edges_between_sessions,
    without_hidden_nodes,
)
from nodegraft.streams.curriculum import Curriculum
from nodegraft.streams.session import Session, Sessions
from nodegraft.streams.setting import Setting
from nodegraft.streams.split import ClassSplit, Groups

STREAM_VERSION = 2
"""Version number, increased when equal graphs, settings and seeds give different sessions."""


class ClassStream:
    """Stream of sessions in which new classes arrive.

    Session 0 has the base and pseudo-novel classes, each later session ``ways`` novel classes.
    :meth:`draw` creates a stream of anonymous nodes from a graph, labels and a seed.

    Args:
        graph: Graph that methods see, including nodes that become visible later.
        split: Roles of classes and nodes, by rows of ``graph``.
        arrival: When nodes become visible: ``"growing"``, ``"mixed"``, ``"blurred"``,
            ``"present"``, ``"with-class"`` or ``"isolated"``; see
            :func:`nodegraft.streams.arrival.entry_sessions`.
        entry: Session in which each row becomes visible. None to compute it from ``split`` and
            ``arrival``; nodes that are in no class of the split are then visible only with
            ``"present"``.
        keys: The user's key of each row; None for the keys of ``graph``.
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
        """Draw a random stream of anonymous nodes.

        Methods see nodes in a random order, with row numbers as keys; :meth:`user_keys` returns the
        original keys for display. The stream does not depend on the order of rows in ``graph``.

        Args:
            graph: Graph with all nodes.
            labels: Nodes of every class, by rows of ``graph``.
            setting: Number of classes of each role, and of new classes and labels per session.
            seed: Seed for the roles of classes and the order of rows.
            arrival: When nodes become visible, as in :class:`ClassStream`.
            groups: Group number of every row of ``graph``, as in :meth:`ClassSplit.draw`.
            many_shot: Whether 60 % of the nodes of new classes are training nodes instead of a few.
            node_seed: Seed for the choice of training nodes; None for ``seed``.
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
        """Labels that a method may use before session 1."""
        split = self.split
        return Curriculum(
            split.train,
            split.held_out,
            split.pseudo_novel,
            self._rehearsed if split.validation else None,
            ways=split.setting.ways,
            shots=split.setting.shots,
        )

    @property
    def _rehearsed(self) -> Sessions:
        # Methods can read this graph, so it must not contain nodes that the rehearsal hides.
        sessions = self.rehearsal()._sessions
        visible = np.flatnonzero(sessions.entry < len(sessions))
        return replace(sessions, graph=without_hidden_nodes(sessions.graph, visible))

    def rehearsal(self) -> "ClassStream":
        """Return a stream for choosing hyper-parameters, with validation classes as novel classes.

        Test nodes of this stream are neither labelled nor queried in the returned stream. Nodes
        that are not in the split of the returned stream are visible in it only if they are visible
        in session 0 of this stream.
        """
        split = self.split.rehearsal()
        entry = entry_sessions(split, self.arrival, np.where(self._entry == 0, 0, NEVER))
        return ClassStream(self._graph, split, arrival=self.arrival, entry=entry, keys=self._keys)

    def user_keys(self, rows: IntArray) -> list[Key]:
        """Return the user's keys of nodes for display; methods never see these keys.

        Args:
            rows: Row numbers in the graph that methods see.
        """
        keys: list[Key] = self._keys[rows].tolist()
        return keys

    def __len__(self) -> int:
        return len(self._sessions)

    def session(self, index: int) -> Session:
        """Return a session.

        Args:
            index: Number of the session, from 0.
        """
        return self._sessions[index]

    def __iter__(self) -> Iterator[Session]:
        return iter(self._sessions)

    def __repr__(self) -> str:
        return (
            f"ClassStream({len(self)} sessions, {self.split.setting}, arrival {self.arrival!r}, "
            f"seed {self.split.seed})"
        )


def anonymous_order(graph: Graph, seed: int) -> NDArray[np.int64]:
    """Return the rows of a graph in a random order that depends only on keys and seed.

    In raw files neighbouring rows often have the same class, so row numbers would leak the class.
    """
    hashes = key_hashes(graph.key_array_of(graph.rows))
    salted = (hashes ^ np.uint64(Seeds(seed).number("anonymous"))).view(np.int64)
    return np.argsort(key_hashes(salted), kind="stable")
