"""Write and load the snapshots that versions of a store name."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from nodegraft.analysis.labels.labels import StoreLabels
from nodegraft.analysis.snapshot import State
from nodegraft.analysis.version import StateNames
from nodegraft.base.errors import CheckpointError, StoreError, UnreadableModelError
from nodegraft.base.files.bundle import Arrays, Document
from nodegraft.base.memo import Memo
from nodegraft.graph.graph import Graph
from nodegraft.graph.growth.clearing import Cleared, clear_stale
from nodegraft.model.checkpoint import unpack_model
from nodegraft.model.registry import make_method, unpacked_model
from nodegraft.store.objects.derived_cache import cache_of, name_of
from nodegraft.store.objects.graph_objects import GraphObjects
from nodegraft.store.objects.objects import Objects
from nodegraft.tables.node_texts import NodeTexts


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
        """Keep a graph: the object that holds it, and the graph with its cache.

        Args:
            graph: The graph.
            parent: The graph of a version that it grew from, if it did.
        """
        name, kept = self.graphs.put(graph, parent)
        return name, self._with_cache(name, kept)

    def _with_cache(self, name: str, graph: Graph) -> Graph:
        return graph.with_array_cache(cache_of(self._place, name, self.graphs.base_of(name)))

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
        """Keep labels and model of a state whose graph is stored already, with its cache.

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
        """Clear the states in memory, see :meth:`nodegraft.Store.clear_stale`.

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
        return self._graphs.get(name, lambda: self._with_cache(name, self.graphs.get(name)))

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
