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
from nodegraft.model.back_off import Ancestors
from nodegraft.model.confidence import World, confidence
from nodegraft.model.hooks import Capability
from nodegraft.model.method import Method
from nodegraft.model.prediction_sets import SetCalibration
from nodegraft.model.registry import make_method

SAMPLE = 20_000
"""Number of nodes in a sample of a large graph; the sample is selected by key hash."""


class NodePredictions(NamedTuple):
    """Most probable class of each node, with its probability and confidence."""

    classes: NDArray[Any]
    """Most probable class of each node."""

    probability: NDArray[np.float64]
    """P(class | the node belongs to a known class) of each node's most probable class."""

    known: NDArray[np.float64]
    """P(the node belongs to any known class) of each node."""

    world: World
    """Whether nodes may belong to unknown classes."""

    @property
    def confidence(self) -> NDArray[np.float64]:
        """Confidence of each node's most probable class."""
        return confidence(self.probability, self.known, self.world)


@dataclass(frozen=True)
class State:
    """Graph, labels and model of one version, ready to predict."""

    graph: Graph
    """Graph with all nodes and edges."""

    labels: StoreLabels
    """Labels of training nodes and held-out nodes."""

    model: Method
    """Model that was trained on the graph and the training labels."""

    _cache: Memo[Any] = field(default_factory=Memo, repr=False, compare=False)
    """Cache of derived values, shared by copies with an open and a closed world."""

    @property
    def label_of(self) -> dict[Key, str]:
        """Node key -> label, including held-out nodes."""
        label_of: dict[Key, str] = self._cache.get("label_of", self.labels.owners)
        return label_of

    @property
    def ancestors(self) -> Ancestors | None:
        """Ancestors of the model's classes; None without a class tree."""
        if not self.labels.tree:
            return None
        ancestors: Ancestors = self._cache.get(
            "ancestors", lambda: Ancestors.of(self.model.classes_, self.labels.tree)
        )
        return ancestors

    @property
    def set_calibration(self) -> SetCalibration:
        """Calibration of prediction sets on held-out labels.

        Classes without held-out labels use training labels.
        """
        calibration: SetCalibration = self._cache.get(
            "sets", lambda: self.model.calibrate_sets(self.graph, self.labels.held_out)
        )
        return calibration

    def predict(self, rows: IntArray) -> NodePredictions:
        """Predict the most probable class of the given nodes.

        Args:
            rows: Row numbers of the nodes.
        """
        scores = self.model.score_rows(self.graph, rows)
        return NodePredictions(
            np.array(self.model.classes_, dtype=object)[scores.argmax(axis=1)],
            self.model.probabilities(self.graph, scores).max(axis=1),
            self.model.known_class_probability(self.graph, scores),
            self.model.world,
        )

    def in_world(self, world: World) -> "State":
        """Return this state for an open or closed world; closed-world methods ignore the setting.

        Args:
            world: Whether nodes may belong to unknown classes.
        """
        if self.model.world == world or "world" not in self.model.get_params():
            return self
        # Copy the model, because another thread may be using this state. The copy shares the cache.
        state: State = self._cache.get(
            ("world", world),
            lambda: replace(self, model=self.model._now().set_params(world=world)),
        )
        return state

    def relabelled(self, labels: StoreLabels, listener: Listener = SILENT) -> "State":
        """Return a state with new labels; the model is fitted again if :meth:`needs_fit` is true.

        Args:
            labels: New labels of all classes.
            listener: Receives progress.
        """
        if self.labels.has_classes_of(labels):
            # Only parents differ, and models do not use them.
            return State(self.graph, labels, self.model)
        model = self.model._now()
        if Capability.SET_LABELS in model.capabilities():
            training = labels.training_rows(self.graph)
            model.set_labels(self.graph, training, labels.sessions, listener=listener)
        elif renaming := self._renaming(labels):
            model.rename_classes(renaming)
        elif self.needs_fit(labels):
            model.fit(self.graph, labels.training_rows(self.graph), listener=listener)
        else:
            new = [name for name in labels if name not in self.labels]
            rows = labels.training_rows(self.graph).select(new)
            model.add_classes(self.graph, rows, listener=listener)
        return State(self.graph, labels, model)

    def on(self, graph: Graph) -> "State":
        """Return a state with a new graph; models with the capability ``SET_LABELS`` are updated.

        Args:
            graph: New graph, which contains all labelled nodes.
        """
        model = self.model
        if Capability.SET_LABELS in model.capabilities():
            # Copy the model, so that each state has its own cache when calls alternate between
            # states.
            model = model._now()
            model.set_labels(graph, self.labels.training_rows(graph), self.labels.sessions)
        return State(graph, self.labels, model)

    def refitted(self, listener: Listener = SILENT) -> "State":
        """Return a state whose model is fitted from scratch on the same graph and labels.

        Args:
            listener: Receives progress.
        """
        rows = self.labels.training_rows(self.graph)
        model = self.model._now().fit(self.graph, rows, listener=listener)
        if Capability.SET_LABELS in model.capabilities():
            # Fitting discards the session of each class, so set it again.
            model.set_labels(self.graph, rows, self.labels.sessions)
        return State(self.graph, self.labels, model)

    def needs_fit(self, labels: StoreLabels) -> bool:
        """Return whether the method must be fitted from scratch to learn new labels.

        Args:
            labels: New labels of all classes.
        """
        if Capability.SET_LABELS in self.model.capabilities() or self._renaming(labels):
            return False
        if self.labels.has_classes_of(labels):
            return False
        common = {name: labels[name] for name in self.labels if name in labels}
        return len(labels) == len(self.labels) or common != dict(self.labels)

    def _renaming(self, labels: StoreLabels) -> dict[str, str]:
        """Return old name -> new name if only class names differ, otherwise an empty dict."""
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
    """Return the first state of a store, with a new model that is fitted on the given labels."""
    model = make_method(method, **parameters)
    return State(graph, labels, model.fit(graph, labels.training_rows(graph), listener=listener))
