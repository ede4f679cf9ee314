"""Labels by the user's own node keys: what a model keeps, whatever becomes of the rows."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.errors import ClassNameError, MissingLabelsError, UnknownNodeError
from nodegraft.graph.algebra.matrix import IntArray
from nodegraft.graph.keys import KeyArray, hash_order, key_hashes, pack_keys, unpack_keys
from nodegraft.graph.labels import FindsRows, NodeLabels

Arrays = dict[str, NDArray[Any]]


class NamesRows(FindsRows, Protocol):
    """A graph or a part of one: whatever knows the keys of rows, too."""

    @property
    def identity(self) -> object:
        """The same object as long as the rows mean the same nodes."""

    def key_array_of(self, rows: IntArray) -> KeyArray:
        """Keys of rows.

        Args:
            rows: Row numbers.
        """


class KeyedLabels(Mapping[str, KeyArray]):
    """Class name -> keys of nodes, in the order given. Immutable.

    >>> labels = KeyedLabels({"hats": np.array([30, 10])})
    >>> labels.extended({"hats": np.array([20])})["hats"].tolist()  # in the order of hashes
    [10, 20, 30]

    Args:
        keys: Class name -> its keys, int64 or objects (text).
    """

    def __init__(self, keys: Mapping[str, KeyArray]) -> None:
        self._keys = dict(keys)
        self._hashes: dict[str, NDArray[np.uint64]] = {}
        self._found: tuple[object, int | None, NodeLabels] | None = None

    @classmethod
    def of(cls, labels: NodeLabels, graph: NamesRows) -> "KeyedLabels":
        """The keys of labels that are given by rows.

        Args:
            labels: Rows of a graph.
            graph: That graph, or a view of it.
        """
        return cls({name: graph.key_array_of(rows) for name, rows in labels.items()})

    def on(self, graph: NamesRows, limit: int | None = None) -> NodeLabels:
        """The same nodes by the rows of a graph, which may be another than they were taken from.

        Keys that the graph does not have are named in an error. Looked up once for each graph.

        Args:
            graph: Where the nodes are looked for.
            limit: At most so many nodes of each class, the first ones; None for all.
        """
        found = self._found
        if found is None or found[0] is not graph.identity or found[1] != limit:
            rows = {name: _rows(graph, keys[:limit], name) for name, keys in self.items()}
            # One reference is put in place: of several threads the last one's stays.
            found = self._found = (graph.identity, limit, NodeLabels(rows))
        return found[2]

    def __getitem__(self, name: str) -> KeyArray:
        return self._keys[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    @property
    def num_nodes(self) -> int:
        """How many nodes carry a label."""
        return sum(keys.size for keys in self.values())

    def select(self, classes: Iterable[str]) -> "KeyedLabels":
        """Some classes, in this order.

        Args:
            classes: Names of classes, each among these labels.
        """
        return self._changed({name: self._keys[name] for name in classes})

    def extended(self, more: Mapping[str, KeyArray]) -> "KeyedLabels":
        """With more classes, and more nodes of the same classes.

        Classes that get more are put in the order of the keys' hashes, so that it makes no
        difference whether labels come at once or bit by bit.

        Args:
            more: Class name -> keys; a key that is labelled already is refused.
        """
        self._refuse_twice(more)
        merged = dict(self._keys)
        for name, keys in more.items():
            together = np.concatenate((merged[name], keys)) if name in merged else keys
            merged[name] = together[hash_order(together)]
        return self._changed(merged)

    def _changed(self, keys: Mapping[str, KeyArray]) -> "KeyedLabels":
        """Other labels, which take over the hashes of the classes that stay as they are."""
        changed = KeyedLabels(keys)
        same = [name for name in keys if keys[name] is self._keys.get(name)]
        changed._hashes = {name: self._hashes[name] for name in same if name in self._hashes}
        return changed

    def _refuse_twice(self, more: Mapping[str, KeyArray]) -> None:
        wanted = {name: np.sort(key_hashes(keys)) for name, keys in more.items()}
        for old, keys in self.items():
            if old not in self._hashes:
                self._hashes[old] = np.sort(key_hashes(keys))
            hashes = self._hashes[old]
            for name, new in wanted.items():
                # Keys are looked at one by one only where hashes meet: a class may have millions.
                place = np.minimum(np.searchsorted(hashes, new), hashes.size - 1)
                if hashes.size and (hashes[place] == new).any():
                    again = sorted({*keys.tolist()} & {*more[name].tolist()})
                    if again:
                        raise ClassNameError(_told(again, old, name))

    def to_arrays(self) -> Arrays:
        """As arrays of plain numbers, for saving; the names are told apart."""
        everyone = [np.zeros(0, dtype=np.int64), *self.values()]
        together = np.concatenate([keys for keys in everyone if keys.size] or everyone[:1])
        sizes = np.array([keys.size for keys in self.values()], dtype=np.int64)
        return {"sizes": sizes, **pack_keys(together)}

    @classmethod
    def from_arrays(cls, names: Iterable[str], arrays: Arrays) -> "KeyedLabels":
        """What :meth:`to_arrays` describes.

        Args:
            names: The classes, in order.
            arrays: What it gave.
        """
        parts = np.split(unpack_keys(arrays), np.cumsum(arrays["sizes"])[:-1])
        return cls(dict(zip(names, parts, strict=True)) if arrays["sizes"].size else {})

    def __eq__(self, other: object) -> bool:
        """The same classes in the same order, each with the same keys in the same order."""
        return isinstance(other, KeyedLabels) and self._listed() == other._listed()

    def __hash__(self) -> int:
        return hash(tuple((name, tuple(keys)) for name, keys in self._listed()))

    def _listed(self) -> list[tuple[str, list[Any]]]:
        return [(name, keys.tolist()) for name, keys in self.items()]

    def __repr__(self) -> str:
        return f"KeyedLabels({len(self)} classes, {self.num_nodes:,} nodes)"


def _rows(graph: NamesRows, keys: KeyArray, name: str) -> NDArray[np.int64]:
    try:
        return graph.rows_of(keys)
    except UnknownNodeError as error:
        raise MissingLabelsError(error.missing, name) from error


def _told(again: list[Any], old: str, name: str) -> str:
    shown = ", ".join(map(repr, again[:3])) + (" and others" if len(again) > 3 else "")
    if old == name:
        return f"{len(again)} of the nodes are labels of {old!r} already: {shown}."
    return (
        f"{len(again)} of the nodes given for {name!r} label {old!r} already: {shown}. A node has "
        f"one class: leave them out, or remove {old!r} first."
    )
