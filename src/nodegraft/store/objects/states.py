"""Storage, cache and search of the graphs, labels, models and texts of a store's versions."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path
from typing import cast

from nodegraft.analysis.label_sets.state import LabelSetState
from nodegraft.analysis.labels.labels import StoreLabels
from nodegraft.analysis.snapshot import State
from nodegraft.analysis.version import StateNames, Version
from nodegraft.base.errors import (
    CheckpointError,
    SeveralLabelsError,
    StoreError,
    UnreadableModelError,
)
from nodegraft.base.memo import Memo
from nodegraft.graph.graph import Graph
from nodegraft.graph.growth.clearing import Cleared, clear_stale
from nodegraft.graph.keys import Key
from nodegraft.methods.multi_label.labels import LabelSets
from nodegraft.methods.multi_label.model import MultiLabel
from nodegraft.model.checkpoint import unpack_model
from nodegraft.model.registry import make_method, unpacked_model
from nodegraft.store.objects.derived_cache import cache_of, stored_name
from nodegraft.store.objects.graph_objects import GraphObjects
from nodegraft.store.objects.objects import Objects
from nodegraft.tables.node_texts import NodeTexts

SEARCHED = 1 << 16
"""Number of keys that are searched in one block."""


class States:
    """Reader and writer of the graphs, labels, models and texts of versions.

    The last two graphs, texts and states are cached, because reads alternate between the live
    version and the newest one.

    Args:
        place: Folder of the store.
        objects: Files of the store's versions.
    """

    def __init__(self, place: Path, objects: Objects) -> None:
        self._place, self._objects = place, objects
        self.graphs = GraphObjects(place, objects)
        """Reader and writer of graphs."""
        self._graphs, self._texts = Memo[Graph](most=2), Memo[NodeTexts](most=2)
        self._states = Memo[State | LabelSetState](most=2)

    def put(self, state: State | LabelSetState, texts: str | None) -> StateNames:
        """Write labels and model of a state; return the names of all objects of the state.

        Args:
            state: State whose graph is already stored.
            texts: Name of the stored texts of its nodes; None if there are none.
        """
        names = StateNames(
            stored_name(state.graph),
            self._objects.put(*state.labels.state()),
            self._objects.put(*state.model.packed()),
            texts,
        )
        self.hold(state, names)
        return names

    def put_graph(self, graph: Graph, parent: Graph | None = None) -> Graph:
        """Write a graph; return the stored graph with its cache.

        Args:
            parent: Graph that it grew from; None if it did not grow.
        """
        return self._with_cache(*self.graphs.put(graph, parent))

    def _with_cache(self, name: str, graph: Graph) -> Graph:
        return graph.with_array_cache(cache_of(self._place, name, self.graphs.base_of(name)))

    def settled(self, state: State) -> State:
        """Return a state whose graph is stored and settled: its heat diffusion includes all edges.

        The model need not be fitted.
        """
        if state.graph.is_settled:
            return state
        return replace(state, graph=self.put_graph(state.graph.settled(), state.graph))

    def put_texts(self, texts: NodeTexts | None) -> str | None:
        """Write texts; return the name of their object, or None if there are no texts."""
        document = {"kind": "texts", "schema": 1}
        return None if texts is None else self._objects.put(vars(texts), document)

    def hold(self, state: State | LabelSetState, names: StateNames) -> None:
        """Add a state that is already stored to the cache."""
        self._states.put(names, state)

    def get(self, names: StateNames) -> State:
        """Return the state stored in the named objects, from the cache if possible."""
        state = self._states.get(names, lambda: self._read(names))
        if isinstance(state, LabelSetState):
            raise SeveralLabelsError("This")
        return state

    def label_set_state(self, names: StateNames) -> LabelSetState:
        """Return the state of a store with several labels per node."""
        state = self._states.get(names, lambda: self._read_label_sets(names))
        return cast("LabelSetState", state)

    def _read_label_sets(self, names: StateNames) -> LabelSetState:
        saved = unpack_model(*self._objects.get(names.model), f"Object {names.model}")
        model = MultiLabel.unpacked(saved, self.label_sets(names.labels))
        return LabelSetState(self.graph(names.graph), model)

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
        if {name: set(keys) for name, keys in labels.training.items()} != {
            name: set(keys.tolist()) for name, keys in model.labels_.items()
        }:
            raise CheckpointError(
                "The model of this version was trained on other labels than those of the version."
            )
        return State(self.graph(names.graph), labels, model)

    def unlearned(self, names: StateNames) -> State:
        """Return a state with an unfitted method; its stored model need not be readable."""
        document = self._objects.document(names.model)
        model = make_method(document["method"], **document["parameters"])
        return State(self.graph(names.graph), self.labels(names.labels), model)

    def labels(self, name: str) -> StoreLabels:
        """Return the labels stored in an object."""
        return StoreLabels.from_state(*self._objects.get(name))

    def label_sets(self, name: str) -> LabelSets:
        """Return the labels stored in an object of a store with several labels per node."""
        return LabelSets.from_state(*self._objects.get(name))

    def clear_stale(self, most: int, until: Callable[[], bool] = lambda: False) -> Cleared:
        """Recompute the cached rows that new edges have made outdated, before a change needs them.

        Args:
            most: Approximate maximum number of rows, because rows take memory.
            until: Called every few thousand rows; the work stops when it returns true.
        """
        cleared = Cleared()
        # Start with the latest state, because rows that are recomputed for an earlier graph are not
        # reused by graphs that grew from it.
        for state in reversed(list(self._states.values())):
            more = clear_stale(state.graph, most - cleared.rows, until)
            cleared = Cleared(cleared.rows + more.rows, cleared.seconds + more.seconds)
        return cleared

    def class_names(self, labels: str) -> list[str]:
        """Return the class names of stored labels, without reading their nodes."""
        return [name for name, _ in self._objects.document(labels)["sessions"]]

    def graph(self, name: str) -> Graph:
        """Return the graph stored in an object."""
        return self._graphs.get(name, lambda: self._with_cache(name, self.graphs.get(name)))

    def texts_of(self, version: Version, nodes: Sequence[Key]) -> list[str | None]:
        """Return the text of each node in a version; None for a node without text."""
        rows = self.graph(version.graph).rows_of(nodes)
        if version.texts is None:
            return [None] * len(rows)
        return [text or None for text in self.texts(version.texts).at(rows)]

    def search(self, version: Version, words: str, limit: int) -> list[Key]:
        """Return nodes of a version whose key and text together contain all words, best first.

        Args:
            words: Words or parts of words, with blanks between them.
        """
        keys = self.graph(version.graph).node_keys
        texts = repeat("") if version.texts is None else iter(self.texts(version.texts))
        # Search in blocks, because the keys of a graph on disk may not fit into memory.
        starts = range(0, len(keys), SEARCHED)
        blocks = (range(start, min(start + SEARCHED, len(keys))) for start in starts)
        nodes = chain.from_iterable(keys.at(block) for block in blocks)
        return best_matches(words, zip(nodes, texts, strict=False), limit)

    def texts(self, name: str) -> NodeTexts:
        """Return the texts stored in an object."""
        return self._texts.get(name, lambda: self._read_texts(name))

    def _read_texts(self, name: str) -> NodeTexts:
        arrays, document = self._objects.get(name)
        if (document.get("kind"), document.get("schema")) != ("texts", 1):
            raise StoreError("This object of the store holds no texts that this nodegraft reads.")
        return NodeTexts(**arrays)


EXACT, PREFIX = 0, 1
"""Search ranks of nodes whose key equals the query, and of nodes whose key starts with it."""

WORD_START, ANYWHERE = 2, 3
"""Search ranks of nodes in which each query word starts a word, or is part of any word."""


def rank(words: str, key: Key, text: str) -> int | None:
    """Return the search rank of a node, 0 for the best match; None if a query word is missing.

    >>> [rank("felt", key, "a felt hat") for key in ("felt", "felt-2", "p7")]
    [0, 1, 2]
    >>> rank("elt", "p7", "a felt hat"), rank("wool", "p7", "a felt hat")
    (3, None)

    Args:
        words: Query words with blanks between them, in lower case.
    """
    name = str(key).casefold()
    if name.startswith(words):
        return EXACT if name == words else PREFIX
    content = f" {name} {text.casefold()}"
    terms = words.split()
    if not all(word in content for word in terms):
        return None
    return WORD_START if all(f" {word}" in content for word in terms) else ANYWHERE


def best_matches(words: str, nodes: Iterable[tuple[Key, str]], limit: int) -> list[Key]:
    """Return the best matching nodes, the best first; nodes of equal rank keep their order.

    Args:
        words: Query words with blanks between them; case is ignored.
        nodes: Key and text of each node.
    """
    phrase = " ".join(words.casefold().split())
    lists: list[list[Key]] = [[], [], [], []]
    for key, text in nodes:
        place = rank(phrase, key, text)
        # Continue the search after the limit is reached, because a later node may match better.
        if place is not None and len(lists[place]) < limit:
            lists[place].append(key)
    return [key for keys in lists for key in keys][:limit]
