"""Methods that learn nothing but labels: everything else is derived from labels and graph."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.memo import LatestMemo
from nodegraft.graph.growth.rows_view import RowsView
from nodegraft.graph.keyed_labels import KeyedLabels
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.model.learned import GraphInputs
from nodegraft.model.method import Method
from nodegraft.streams.curriculum import Curriculum

Value = TypeVar("Value")

MOST_RECENT = 3
"""Number of derivations in the cache, for labels that come back, such as by an undo."""


class RecentDerivations(Generic[Value]):
    """Last derivations on one graph, by the labels they were derived from.

    Copies of a model share it; pickles start empty.
    """

    def __init__(self) -> None:
        self._entries: tuple[tuple[GraphView, KeyedLabels, list[int], Value], ...] = ()

    def find(self, view: GraphView, labels: KeyedLabels, sessions: list[int]) -> Value | None:
        """Return the derivation from equal labels on this graph, if it is in the cache."""
        for seen, known, came, value in self._entries:
            if seen is view and came == sessions and known.equals(labels):
                return value
        return None

    def put(self, view: GraphView, labels: KeyedLabels, sessions: list[int], value: Value) -> None:
        """Cache a derivation; those of other graphs are dropped, so that memory is freed."""
        same = [entry for entry in self._entries if entry[0] is view]
        # One assignment: of several threads the last one's result stays.
        self._entries = ((view, labels, sessions, value), *same[: MOST_RECENT - 1])

    def __reduce__(self) -> tuple[type["RecentDerivations[Value]"], tuple[()]]:
        return type(self), ()


@dataclass(kw_only=True)
class Derived(Method, Generic[Value]):
    """Learns labels; the rest is derived once for each change or view."""

    _is_trial = False
    """Whether results for these labels are used once and need no cache."""

    def _trial(self) -> Self:
        copy = super()._trial()
        copy._recent, copy._is_trial = RecentDerivations[Value](), True
        return copy

    def _start(self, inputs: GraphInputs, labels: KeyedLabels) -> None:
        # Fitting and loading begin here; the constructor of a method only stores its parameters.
        super()._start(inputs, labels)
        self._recent = RecentDerivations[Value]()
        self._forget_derived()

    @abstractmethod
    def derive(self, view: GraphView) -> Value:
        """Compute what scores are made of, from ``labels_`` and the visible graph.

        Args:
            view: Visible part of the graph.
        """

    def derived(self, view: GraphView) -> Value:
        """Return the result of :meth:`derive`, computed once for these labels and this view.

        Args:
            view: Visible part of the graph; or one with rows that are not stored in it, for which
                the result of the graph itself is used.
        """
        if isinstance(view, RowsView):
            value = self.derived(view.base)
            own: Value = view.derived.get(id(value), lambda: (value, self.for_rows(value, view)))[1]
            return own
        return self._derivations.get((view, self.labels_), lambda: self._recalled(view))

    def for_rows(self, value: Value, view: RowsView) -> Value:
        """Return what scores of rows that are not in the graph are made of.

        Override it if the derived value has something for each node.

        Args:
            value: What was derived from the labels and the graph without the rows.
            view: The graph with the rows.
        """
        return value

    def _recalled(self, view: GraphView) -> Value:
        sessions = [known.session for known in self._table.classes]
        found = self._recent.find(view, self.labels_, sessions)
        if found is None:
            found = self.derive(view)
            self._recent.put(view, self.labels_, sessions, found)
        return found

    def _forget_derived(self) -> None:
        # A change has its own memo, so that readers of the model before it need not wait.
        self._derivations = LatestMemo[Value]()

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Derive everything for the known classes."""
        self.derived(view)

    def learn_classes(self, view: GraphView, support: NodeLabels) -> None:
        """Derive everything again, with the labels of the new classes."""
        self._forget_derived()
        self.derived(view)

    def learn_labels(
        self, view: GraphView, support: NodeLabels, columns: NDArray[np.int64]
    ) -> None:
        """Derive everything again, with more labels."""
        self._forget_derived()
        self.derived(view)

    def relearn(self, view: GraphView) -> None:
        """Drop what was derived from other labels."""
        self._forget_derived()

    def keep_classes(self, columns: NDArray[np.int64]) -> None:
        """Drop what was derived from other labels."""
        self._forget_derived()
