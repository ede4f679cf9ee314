"""What a version of a store is: a graph, labels, and the model that they make."""

from dataclasses import dataclass, field, replace
from functools import cached_property
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


class NodeAnswers(NamedTuple):
    """An item for each node."""

    classes: NDArray[Any]
    """The likeliest class."""

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
    """One version, ready to be asked."""

    graph: Graph
    """All nodes and edges."""

    labels: StoreLabels
    """Who teaches, and who checks."""

    model: Method
    """What was learned from them."""

    _calibrations: Memo[SetCalibration] = field(default_factory=Memo, repr=False, compare=False)
    """Calibration of prediction sets, once computed; states in another world share it."""

    @cached_property
    def label_of(self) -> dict[Key, str]:
        """The label of every labelled node, those that are held out included."""
        return self.labels.owners()

    @property
    def set_calibration(self) -> SetCalibration:
        """Calibration of prediction sets on held-out labels; small classes, which have none, are
        calibrated on their own labels."""
        return self._calibrations.get(
            "sets", lambda: self.model.calibrate_sets(self.graph, self.labels.held_out)
        )

    def answers(self, rows: IntArray) -> NodeAnswers:
        """What the model says about some nodes.

        Args:
            rows: The nodes, by row.
        """
        scores = self.model.score_rows(self.graph, rows)
        return NodeAnswers(
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
        # A copy, since readers may hold the other one. It shares all that was worked out.
        return replace(self, model=self.model._now().set_params(world=world))

    def relabelled(self, labels: StoreLabels, listener: Listener = SILENT) -> "State":
        """The same graph with other labels; where :meth:`needs_fit`, all is learned again.

        Args:
            labels: The other labels.
            listener: Is told how far it is.
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
        """The same labels on another graph, to which the model follows them.

        Args:
            graph: Has all labelled nodes.
        """
        model = self.model
        if Capability.SET_LABELS in model.capabilities():
            # A model of its own: who asks both in turn finds what each has worked out.
            model = model._now()
            model.set_labels(graph, self.labels.taught_rows(graph), self.labels.sessions)
        return State(graph, self.labels, model)

    def fitted_anew(self, listener: Listener = SILENT) -> "State":
        """The same graph and labels, learned from the start.

        Args:
            listener: Is told how far it is.
        """
        taught = self.labels.taught_rows(self.graph)
        model = self.model._now().fit(self.graph, taught, listener=listener)
        if Capability.SET_LABELS in model.capabilities():
            # Which classes came first stays known.
            model.set_labels(self.graph, taught, self.labels.sessions)
        return State(self.graph, self.labels, model)

    def needs_fit(self, labels: StoreLabels) -> bool:
        """Whether the method must be fitted from the start to know other labels.

        Args:
            labels: The other labels.
        """
        if Capability.SET_LABELS in self.model.capabilities() or self._renaming(labels):
            return False
        kept = {name: labels[name] for name in self.labels if name in labels}
        return len(labels) == len(self.labels) or kept != dict(self.labels)

    def _renaming(self, labels: StoreLabels) -> dict[str, str]:
        """Old name -> new name, where other labels differ in nothing but names."""
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
    """A model fitted for the first time.

    Args:
        graph: The graph.
        labels: The first labels.
        method: The name of the method.
        parameters: Its hyper-parameters.
        listener: Is told how far it is.
    """
    model = make_method(method, **parameters)
    return State(graph, labels, model.fit(graph, labels.taught_rows(graph), listener=listener))
