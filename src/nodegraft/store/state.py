"""What a version of a store is: a graph, labels, and the model that they make."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.errors import CheckpointError, StoreError, UnreadableModelError
from nodegraft.base.events import SILENT, Listener
from nodegraft.base.memo import Memo
from nodegraft.graph.algebra.matrix import IntArray
from nodegraft.graph.clearing import Cleared, clear_stale
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import Key
from nodegraft.model.capability import Capability
from nodegraft.model.checkpoint import unpack_model
from nodegraft.model.confidence import World, confidence
from nodegraft.model.method import Method
from nodegraft.model.prediction_sets import SetCalibration
from nodegraft.model.registry import make_method, unpacked_model
from nodegraft.store.graph_objects import GraphObjects
from nodegraft.store.labels import StoreLabels
from nodegraft.store.objects import Arrays, Document, Objects
from nodegraft.store.rows import StateNames
from nodegraft.store.shelf import name_of, shelf_of
from nodegraft.tables.node_texts import NodeTexts


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

    @cached_property
    def label_of(self) -> dict[Key, str]:
        """The label of every labelled node, those that are held out included."""
        return self.labels.owners()

    @cached_property
    def set_calibration(self) -> SetCalibration:
        """What thresholds of prediction sets come from: held-out labels, and those of small
        classes, which have none, by leaving out a part after the other."""
        return self.model.calibrate_sets(self.graph, self.labels.held_out)

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


class States:
    """States in the folder of a store. The last graphs and texts are held, as versions share them,
    and the last states: what a model has worked out is there for the next change. Two of each, as
    the live version and the candidate version are read in turn.

    Args:
        place: The folder.
        objects: What versions name.
    """

    def __init__(self, place: Path, objects: Objects) -> None:
        self._place, self._objects = place, objects
        self.graphs = GraphObjects(place, objects)
        """Where graphs are kept."""
        self._graphs, self._texts = Memo[Graph](most=2), Memo[NodeTexts](most=2)
        self._states = Memo[State](most=2)

    def put(self, state: State, graph: str, texts: NodeTexts | None = None) -> StateNames:
        """Keep a state.

        Args:
            state: The state.
            graph: The object that :meth:`put_graph` made of its graph.
            texts: Of the nodes of its graph, if there are some.
        """
        names = StateNames(
            graph,
            self._objects.put(*state.labels.state()),
            self._objects.put(*state.model.packed()),
            None if texts is None else self.put_texts(texts),
        )
        self.hold(state, names)
        return names

    def put_graph(self, graph: Graph, parent: Graph | None = None) -> tuple[str, Graph]:
        """Keep a graph: the object that holds it, and the graph with its shelf.

        Args:
            graph: The graph.
            parent: The graph of a version that it grew from, if it did.
        """
        name, kept = self.graphs.put(graph, parent)
        return name, self._shelved(name, kept)

    def _shelved(self, name: str, graph: Graph) -> Graph:
        return graph.with_shelf(shelf_of(self._place, name, self.graphs.base_of(name)))

    def settled(self, state: State) -> State:
        """Return a state whose graph is settled, and kept; its model may have learned nothing.

        Args:
            state: A state.
        """
        if state.graph.is_settled:
            return state
        return replace(state, graph=self.put_graph(state.graph.settled(), state.graph)[1])

    def put_texts(self, texts: NodeTexts) -> str:
        """Keep texts; the object that holds them.

        Args:
            texts: One for each node of a graph.
        """
        return self._objects.put(vars(texts), {"kind": "texts", "schema": 1})

    def put_learned(self, state: State, names: StateNames) -> StateNames:
        """Keep labels and model of a state whose graph is kept already, with its shelf.

        Args:
            state: The state.
            names: The objects of a version with the same texts.
        """
        kept = replace(
            names,
            graph=name_of(state.graph) or names.graph,
            labels=self._objects.put(*state.labels.state()),
            model=self._objects.put(*state.model.packed()),
        )
        self.hold(state, kept)
        return kept

    def hold(self, state: State, names: StateNames) -> None:
        """Have a state at hand whose objects are kept already.

        Args:
            state: The state.
            names: Its objects.
        """
        self._states.put(names, state)

    def get(self, names: StateNames) -> State:
        """The state that some objects hold.

        Args:
            names: The objects.
        """
        return self._states.get(names, lambda: self._read(names))

    def _read(self, names: StateNames) -> State:
        labels = self.labels(names.labels)
        try:
            saved = unpack_model(*self._objects.get(names.model), f"Object {names.model}")
            model = unpacked_model(saved)
        except CheckpointError as error:
            raise UnreadableModelError(
                f"{error} Fit the newest version again with `nodegraft refit`, then make it live "
                "with `nodegraft promote`."
            ) from error
        if {name: set(keys) for name, keys in labels.taught.items()} != {
            name: set(keys.tolist()) for name, keys in model.labels_.items()
        }:
            raise CheckpointError("The model of this version was taught by other labels than it.")
        return State(self.graph(names.graph), labels, model)

    def unlearned(self, names: StateNames) -> State:
        """A state whose method has learned nothing yet, whether or not the model can be read.

        Args:
            names: The objects.
        """
        told = self._objects.document(names.model)
        model = make_method(told["method"], **told["parameters"])
        return State(self.graph(names.graph), self.labels(names.labels), model)

    def labels(self, name: str) -> StoreLabels:
        """The labels that an object holds.

        Args:
            name: The object.
        """
        return StoreLabels.from_state(*self._objects.get(name))

    def clear_stale(self, most: int, until: Callable[[], bool]) -> Cleared:
        """Of the states at hand, see :meth:`nodegraft.Store.clear_stale`.

        Args:
            most: At most about so many rows.
            until: Ends it.
        """
        done = Cleared()
        # The latest first: what is made of an earlier graph does not reach those grown from it.
        for state in reversed(list(self._states.values())):
            more = clear_stale(state.graph, most - done.rows, until)
            done = Cleared(done.rows + more.rows, done.seconds + more.seconds)
        return done

    def class_names(self, labels: str) -> list[str]:
        """The classes that labels are of; their nodes are not read.

        Args:
            labels: The object that holds them.
        """
        return [name for name, _ in self._objects.document(labels)["sessions"]]

    def graph(self, name: str) -> Graph:
        """The graph that an object holds.

        Args:
            name: The object.
        """
        return self._graphs.get(name, lambda: self._shelved(name, self.graphs.get(name)))

    def texts(self, name: str) -> NodeTexts:
        """The texts that an object holds.

        Args:
            name: The object.
        """
        return self._texts.get(name, lambda: _texts_in(*self._objects.get(name)))


def _texts_in(arrays: Arrays, document: Document) -> NodeTexts:
    if document.get("kind") != "texts" or document.get("schema") != 1:
        raise StoreError("This object of the store holds no texts that this nodegraft reads.")
    return NodeTexts(**arrays)


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
