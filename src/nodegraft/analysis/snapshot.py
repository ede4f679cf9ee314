"""Snapshot of a version: its graph, labels and model."""

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nodegraft.analysis.labels.labels import StoreLabels
from nodegraft.base.events import SILENT, Listener
from nodegraft.base.memo import Memo
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import Key
from nodegraft.model.confidence import World, confidence
from nodegraft.model.hooks import Capability
from nodegraft.model.method import Method
from nodegraft.model.prediction_sets import SetCalibration
from nodegraft.model.registry import make_method

SAMPLE = 20_000
"""Number of nodes that stand for all nodes of a large graph, drawn by the hash of their keys."""


class NodePredictions(NamedTuple):
    """Likeliest class of each node, and its confidence."""

    classes: NDArray[Any]
    """Likeliest class of each node."""

    probability: NDArray[np.float64]
    """P(class | the node belongs to a known class)."""

    known: NDArray[np.float64]
    """P(the node belongs to any known class)."""

    world: World
    """Whether nodes may belong to classes that are not known."""

    @property
    def confidence(self) -> NDArray[np.float64]:
        """Confidence of the likeliest class."""
        return confidence(self.probability, self.known, self.world)


@dataclass(frozen=True)
class State:
    """Graph, labels and model of one version, ready to predict."""

    graph: Graph
    """All nodes and edges."""

    labels: StoreLabels
    """Labels for training, and held-out labels."""

    model: Method
    """Model that was trained on them."""

    _cache: Memo[Any] = field(default_factory=Memo, repr=False, compare=False)
    """Values computed once from graph, labels and model; states in another world share them."""

    @property
    def label_of(self) -> dict[Key, str]:
        """Label of every labelled node, held-out ones included."""
        label_of: dict[Key, str] = self._cache.get("label_of", self.labels.owners)
        return label_of

    @property
    def set_calibration(self) -> SetCalibration:
        """Calibration of prediction sets on held-out labels; small classes, which have none, are
        calibrated on their training labels."""
        calibration: SetCalibration = self._cache.get(
            "sets", lambda: self.model.calibrate_sets(self.graph, self.labels.held_out)
        )
        return calibration

    def predict(self, rows: IntArray) -> NodePredictions:
        """Return the likeliest class of some nodes.

        Args:
            rows: The nodes, by row.
        """
        scores = self.model.score_rows(self.graph, rows)
        return NodePredictions(
            np.array(self.model.classes_, dtype=object)[scores.argmax(axis=1)],
            self.model.probabilities(self.graph, scores).max(axis=1),
            self.model.known_class_probability(self.graph, scores),
            self.model.world,
        )

    def in_world(self, world: World) -> "State":
        """Return this state with a model of the given world; a closed method stays closed.

        Args:
            world: Whether nodes may belong to classes that are not known.
        """
        if self.model.world == world or "world" not in self.model.get_params():
            return self
        # Readers may hold the other state, so the model is copied. The cache is shared.
        state: State = self._cache.get(
            ("world", world),
            lambda: replace(self, model=self.model._now().set_params(world=world)),
        )
        return state

    def relabelled(self, labels: StoreLabels, listener: Listener = SILENT) -> "State":
        """Return a state with other labels; the model is fitted again if it :meth:`needs_fit`.

        Args:
            labels: The other labels.
            listener: Receives progress.
        """
        model = self.model._now()
        if Capability.SET_LABELS in model.capabilities():
            taught = labels.taught_rows(self.graph)
            model.set_labels(self.graph, taught, labels.sessions, listener=listener)
        elif renaming := self._renaming(labels):
            model.rename_classes(renaming)
        elif self.needs_fit(labels):
            model.fit(self.graph, labels.taught_rows(self.graph), listener=listener)
        else:
            new = [name for name in labels if name not in self.labels]
            rows = labels.taught_rows(self.graph).select(new)
            model.add_classes(self.graph, rows, listener=listener)
        return State(self.graph, labels, model)

    def on(self, graph: Graph) -> "State":
        """Return a state with another graph; a model that takes labels directly is updated.

        Args:
            graph: The other graph, which has all labelled nodes.
        """
        model = self.model
        if Capability.SET_LABELS in model.capabilities():
            # Each state has its own model, so that using both in turn keeps the caches of both.
            model = model._now()
            model.set_labels(graph, self.labels.taught_rows(graph), self.labels.sessions)
        return State(graph, self.labels, model)

    def refitted(self, listener: Listener = SILENT) -> "State":
        """Return a state whose model is fitted from the start on the same graph and labels.

        Args:
            listener: Receives progress.
        """
        taught = self.labels.taught_rows(self.graph)
        model = self.model._now().fit(self.graph, taught, listener=listener)
        if Capability.SET_LABELS in model.capabilities():
            # Fitting forgets which session each class came in, so it is set again.
            model.set_labels(self.graph, taught, self.labels.sessions)
        return State(self.graph, self.labels, model)

    def needs_fit(self, labels: StoreLabels) -> bool:
        """Return whether the method must be fitted from the start to learn other labels.

        Args:
            labels: The other labels.
        """
        if Capability.SET_LABELS in self.model.capabilities() or self._renaming(labels):
            return False
        common = {name: labels[name] for name in self.labels if name in labels}
        return len(labels) == len(self.labels) or common != dict(self.labels)

    def _renaming(self, labels: StoreLabels) -> dict[str, str]:
        """Return old name -> new name if other labels differ only in class names, else nothing."""
        if list(labels.values()) != list(self.labels.values()):
            return {}
        pairs = zip(self.labels, labels, strict=True)
        return {old: new for old, new in pairs if old != new}


def first_state(
    graph: Graph,
    labels: StoreLabels,
    method: str,
    parameters: dict[str, object],
    listener: Listener = SILENT,
) -> State:
    """Return the state of a new model, fitted on the first labels."""
    model = make_method(method, **parameters)
    return State(graph, labels, model.fit(graph, labels.taught_rows(graph), listener=listener))
