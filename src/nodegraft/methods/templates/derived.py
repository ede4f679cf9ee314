"""What methods share that learn nothing but labels: all else follows from labels and graph."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.memo import LatestMemo
from nodegraft.graph.keyed_labels import KeyedLabels
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.model.inputs import GraphInputs
from nodegraft.model.method import Method
from nodegraft.streams.curriculum import Curriculum

Value = TypeVar("Value")

MOST_RECENT = 3
"""How many derivations are kept for labels that come back, such as by undoing a change."""


class RecentDerivations(Generic[Value]):
    """What was worked out last on one graph, by the labels it was worked out from.

    Copies of a model share it; pickles start empty.
    """

    def __init__(self) -> None:
        self._entries: tuple[tuple[GraphView, KeyedLabels, list[int], Value], ...] = ()

    def find(self, view: GraphView, labels: KeyedLabels, sessions: list[int]) -> Value | None:
        """Return what was worked out from equal labels on this graph, if it is still here.

        Args:
            view: What may be seen of the graph.
            labels: The labels of each class.
            sessions: The session of each class.
        """
        for seen, known, came, value in self._entries:
            if seen is view and came == sessions and known.equals(labels):
                return value
        return None

    def put(self, view: GraphView, labels: KeyedLabels, sessions: list[int], value: Value) -> None:
        """Keep a value; those of other graphs are dropped, so that they can be freed.

        Args:
            view: What may be seen of the graph.
            labels: The labels of each class.
            sessions: The session of each class.
            value: What was worked out from them.
        """
        same = [entry for entry in self._entries if entry[0] is view]
        # One reference is put in place: of several threads the last one's stays.
        self._entries = ((view, labels, sessions, value), *same[: MOST_RECENT - 1])

    def __reduce__(self) -> tuple[type["RecentDerivations[Value]"], tuple[()]]:
        return type(self), ()


@dataclass(kw_only=True)
class Derived(Method, Generic[Value]):
    """What is learned is the labels; the rest is worked out once for each change or view."""

    _is_trial = False
    """Whether results for these labels are used once and need no cache."""

    def _trial(self) -> Self:
        copy = super()._trial()
        copy._recent, copy._is_trial = RecentDerivations[Value](), True
        return copy

    def _start(self, inputs: GraphInputs, labels: KeyedLabels) -> None:
        # Where fitting and loading begin: constructors do no work, and readers share it from here.
        super()._start(inputs, labels)
        self._recent = RecentDerivations[Value]()
        self._forget_derived()

    @abstractmethod
    def derive(self, view: GraphView) -> Value:
        """What scores are made of, from ``labels_`` and what may be seen.

        Args:
            view: What may be seen of the graph.
        """

    def derived(self, view: GraphView) -> Value:
        """The same, made once as long as labels and view are these.

        Args:
            view: What may be seen of the graph.
        """
        return self._derivations.get((view, self.labels_), lambda: self._recalled(view))

    def _recalled(self, view: GraphView) -> Value:
        sessions = [known.session for known in self._table.classes]
        found = self._recent.find(view, self.labels_, sessions)
        if found is None:
            found = self.derive(view)
            self._recent.put(view, self.labels_, sessions, found)
        return found

    def _forget_derived(self) -> None:
        # A change has a memo of its own, so that readers of the model before it need not wait.
        self._derivations = LatestMemo[Value]()

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Work it out for the known classes."""
        self.derived(view)

    def learn_classes(self, view: GraphView, support: NodeLabels) -> None:
        """Work it out anew, with the labels of the new classes."""
        self._forget_derived()
        self.derived(view)

    def learn_labels(
        self, view: GraphView, support: NodeLabels, columns: NDArray[np.int64]
    ) -> None:
        """Work it out anew, with more labels."""
        self._forget_derived()
        self.derived(view)

    def relearn(self, view: GraphView) -> None:
        """Nothing but the labels."""
        self._forget_derived()

    def keep_classes(self, columns: NDArray[np.int64]) -> None:
        """The labels of the other classes are gone, and with them all they did."""
        self._forget_derived()
