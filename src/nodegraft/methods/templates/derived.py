"""Base class of methods that store only labels and derive everything else from them."""

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
"""Number of cached derivations, for labels that are restored, for example by an undo."""


class RecentDerivations(Generic[Value]):
    """Cache of the last derivations on one graph; keys are the labels.

    Copies of a model share the cache. It is empty after unpickling.
    """

    def __init__(self) -> None:
        self._entries: tuple[tuple[GraphView, KeyedLabels, list[int], Value], ...] = ()

    def find(self, view: GraphView, labels: KeyedLabels, sessions: list[int]) -> Value | None:
        """Return the cached derivation for equal labels on this graph; None if there is none.

        Args:
            sessions: Session in which each class was added.
        """
        for entry_view, known, came, value in self._entries:
            if entry_view is view and came == sessions and known == labels:
                return value
        return None

    def put(self, view: GraphView, labels: KeyedLabels, sessions: list[int], value: Value) -> None:
        """Cache a derivation, and drop those of other graphs to free memory.

        Args:
            sessions: Session in which each class was added.
        """
        same = [entry for entry in self._entries if entry[0] is view]
        # A single assignment is thread-safe: if several threads assign, the last result is kept.
        self._entries = ((view, labels, sessions, value), *same[: MOST_RECENT - 1])

    def __reduce__(self) -> tuple[type["RecentDerivations[Value]"], tuple[()]]:
        return type(self), ()


@dataclass(kw_only=True)
class Derived(Method, Generic[Value]):
    """Base class of methods that store labels and derive all else once per change and view."""

    _is_trial = False
    """Whether results for these labels are used only once and need not be cached."""

    def _trial(self) -> Self:
        copy = super()._trial()
        copy._recent, copy._is_trial = RecentDerivations[Value](), True
        return copy

    def _start(self, inputs: GraphInputs, labels: KeyedLabels) -> None:
        # Create the cache here and not in the constructor: both ``fit`` and loading call this
        # method.
        super()._start(inputs, labels)
        self._recent = RecentDerivations[Value]()
        self._forget_derived()

    @abstractmethod
    def derive(self, view: GraphView) -> Value:
        """Compute the values that scores need from ``labels_`` and the visible graph.

        Args:
            view: Visible part of the graph.
        """

    def derived(self, view: GraphView) -> Value:
        """Return the result of :meth:`derive`, computed once for these labels and this view.

        Args:
            view: Visible part of the graph, or a view with rows that are not stored in it. For such
                rows, the result of the graph itself is used.
        """
        if isinstance(view, RowsView):
            value = self.derived(view.base)
            own: Value = view.derived.get(id(value), lambda: (value, self.for_rows(value, view)))[1]
            return own
        return self._derivations.get((view, self.labels_), lambda: self._recalled(view))

    def for_rows(self, value: Value, view: RowsView) -> Value:
        """Return the derived value for rows that are not in the graph.

        Override this method if the derived value contains data for each node.

        Args:
            value: Value derived from the labels and the graph without these rows.
            view: Graph view that contains these rows.
        """
        return value

    def _recalled(self, view: GraphView) -> Value:
        sessions = [known.session for known in self._table.classes]
        value = self._recent.find(view, self.labels_, sessions)
        if value is None:
            value = self.derive(view)
            self._recent.put(view, self.labels_, sessions, value)
        return value

    def _forget_derived(self) -> None:
        # Each change of the model creates a new cache, so that readers of the previous model need
        # not wait.
        self._derivations = LatestMemo[Value]()

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Compute the derived values for the known classes."""
        self.derived(view)

    def learn_classes(self, view: GraphView, support: NodeLabels) -> None:
        """Recompute the derived values with the labels of the new classes."""
        self._forget_derived()
        self.derived(view)

    def learn_labels(
        self, view: GraphView, support: NodeLabels, columns: NDArray[np.int64]
    ) -> None:
        """Recompute the derived values with the new labels."""
        self._forget_derived()
        self.derived(view)

    def relearn(self, view: GraphView) -> None:
        """Drop data derived from the previous labels."""
        self._forget_derived()

    def keep_classes(self, columns: NDArray[np.int64]) -> None:
        """Drop data derived from the previous labels."""
        self._forget_derived()
