"""Labels by the user's own node keys: what a model keeps, whatever becomes of the rows."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.errors import ClassNameError, DataError, MissingLabelsError, UnknownNodeError
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.keys import KeyArray, hash_order, key_hashes, pack_keys, unpack_keys
from nodegraft.graph.labels import FindsRows, NodeLabels

if TYPE_CHECKING:
    from nodegraft.graph.graph import Graph

Arrays = dict[str, NDArray[Any]]


class NamesRows(FindsRows, Protocol):
    """A graph or a part of one: whatever knows the keys of rows, too."""

    @property
    def identity(self) -> object:
        """Object that stays the same as long as the rows mean the same nodes."""

    def key_array_of(self, rows: IntArray) -> KeyArray:
        """Keys of rows."""


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
        self._found: tuple[object, int | None, NodeLabels] | None = None
        # Made when they are first needed, and handed on where labels are added.
        self._hashes: NDArray[np.uint64] | None = None
        self._bytes: int | None = None

    @classmethod
    def of(cls, labels: NodeLabels, graph: NamesRows) -> "KeyedLabels":
        """Return the keys of labels that are given by rows.

        Args:
            labels: Rows of a graph.
            graph: That graph, or a view of it.
        """
        return cls({name: graph.key_array_of(rows) for name, rows in labels.items()})

    def on(self, graph: NamesRows, limit: int | None = None) -> NodeLabels:
        """Return the nodes by the rows of a graph, which may differ from the one they were taken
        from.

        Keys that the graph does not have are named in an error. Looked up once for each graph.

        Args:
            graph: Where the nodes are looked for.
            limit: At most so many nodes of each class, the first ones; None for all.
        """
        found = self._found
        if found is None or found[0] is not graph.identity or found[1] != limit:
            rows = _rows(graph, {name: keys[:limit] for name, keys in self.items()})
            # One reference is put in place: of several threads the last one's stays.
            found = self._found = (graph.identity, limit, NodeLabels(rows))
        return found[2]

    def __getstate__(self) -> dict[str, Any]:
        # The cached look-up is left out: it would add the whole graph to the pickle.
        return {**vars(self), "_found": None}

    def __getitem__(self, name: str) -> KeyArray:
        return self._keys[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def equals(self, other: "KeyedLabels") -> bool:
        """Return whether the same classes have the same keys, all in the same order.

        >>> KeyedLabels({"a": np.array([1])}).equals(KeyedLabels({"a": np.array([1])}))
        True

        Args:
            other: What to compare with.
        """
        if list(self) != list(other):
            return False
        pairs = zip(self.values(), other.values(), strict=True)
        return all(mine is its or np.array_equal(mine, its) for mine, its in pairs)

    @property
    def num_nodes(self) -> int:
        """How many nodes carry a label."""
        return sum(keys.size for keys in self.values())

    def select(self, classes: Iterable[str]) -> "KeyedLabels":
        """Return some classes, in this order.

        Args:
            classes: Names of classes, each among these labels.
        """
        selected = KeyedLabels({name: self._keys[name] for name in classes})
        gone = [keys for name, keys in self.items() if name not in selected._keys]
        if self._hashes is not None:
            lost = np.searchsorted(self._hashes, key_hashes(_together(gone)))
            selected._hashes = np.delete(self._hashes, lost)
        if self._bytes is not None:
            selected._bytes = self._bytes - sum(map(_key_bytes, gone))
        return selected

    def renamed(self, names: Mapping[str, str]) -> "KeyedLabels":
        """Return the same keys under other class names, in the same order.

        Args:
            names: Class name -> its other name; classes that are not named keep theirs.
        """
        renamed = KeyedLabels({names.get(name, name): keys for name, keys in self.items()})
        renamed._hashes, renamed._bytes = self._hashes, self._bytes
        return renamed

    def extended(self, more: Mapping[str, KeyArray]) -> "KeyedLabels":
        """Return the labels with more classes, and more nodes of the same classes.

        Classes that get more are put in the order of the keys' hashes, so that it makes no
        difference whether labels come at once or bit by bit.

        Args:
            more: Class name -> keys; a key that is labelled already is refused.
        """
        merged = dict(self._keys)
        for name, keys in more.items():
            together = np.concatenate((merged[name], keys)) if name in merged else keys
            merged[name] = together[hash_order(together)]
        extended, hashes = KeyedLabels(merged), self._sorted_hashes()
        new = np.sort(key_hashes(_together(more.values())))
        place = np.searchsorted(hashes, new)
        inside = place < hashes.size
        # Keys are compared one by one only if hashes collide, as there may be millions of keys.
        if (hashes[place[inside]] == new[inside]).any():
            self._refuse_twice(more)
        extended._hashes = np.insert(hashes, place, new)
        extended._bytes = self.nbytes + sum(map(_key_bytes, more.values()))
        return extended

    def _sorted_hashes(self) -> NDArray[np.uint64]:
        if self._hashes is None:
            self._hashes = np.sort(key_hashes(_together(self.values())))
        return self._hashes

    def _refuse_twice(self, more: Mapping[str, KeyArray]) -> None:
        owner = {key: name for name, keys in self.items() for key in keys.tolist()}
        for name, keys in more.items():
            again = [key for key in keys.tolist() if key in owner]
            if again:
                raise ClassNameError(_told(again, owner[again[0]], name))

    @property
    def nbytes(self) -> int:
        """Bytes to keep the keys; integers have eight, text its letters and where it ends."""
        if self._bytes is None:
            self._bytes = _key_bytes(_together(self.values()))
        return self._bytes

    def to_arrays(self) -> Arrays:
        """Return the labels as arrays of plain numbers, for saving; names are stored apart."""
        sizes = np.array([keys.size for keys in self.values()], dtype=np.int64)
        return {"sizes": sizes, **pack_keys(_together(self.values()))}

    @classmethod
    def from_arrays(cls, names: Iterable[str], arrays: Arrays) -> "KeyedLabels":
        """Return the labels that :meth:`to_arrays` describes.

        Args:
            names: The classes, in order.
            arrays: What it gave.
        """
        parts = np.split(unpack_keys(arrays), np.cumsum(arrays["sizes"])[:-1])
        return cls(dict(zip(names, parts, strict=True)) if arrays["sizes"].size else {})

    def __eq__(self, other: object) -> bool:
        """Return whether classes and keys are equal and in the same order."""
        return isinstance(other, KeyedLabels) and self._listed() == other._listed()

    def __hash__(self) -> int:
        return hash(tuple((name, tuple(keys)) for name, keys in self._listed()))

    def _listed(self) -> list[tuple[str, list[Any]]]:
        return [(name, keys.tolist()) for name, keys in self.items()]

    def __repr__(self) -> str:
        return f"KeyedLabels({len(self)} classes, {self.num_nodes:,} nodes)"


def _together(parts: Iterable[KeyArray]) -> KeyArray:
    # Of nobody it is not known whether they would be text or integers.
    some = [keys for keys in parts if keys.size]
    return np.concatenate(some) if some else np.zeros(0, dtype=np.int64)


def _key_bytes(keys: KeyArray) -> int:
    return sum(array.nbytes for array in pack_keys(keys).values())


def _rows(graph: NamesRows, labels: Mapping[str, KeyArray]) -> dict[str, NDArray[np.int64]]:
    """Return the rows of all classes in one look-up."""
    ends = np.cumsum([0, *(keys.size for keys in labels.values())])
    try:
        rows = graph.rows_of(_together(labels.values()))
    except UnknownNodeError as error:
        missing = set(error.missing)
        for name, keys in labels.items():
            own = [key for key in keys.tolist() if key in missing]
            if own:
                raise MissingLabelsError(own, name) from error
        raise
    return {
        name: rows[start:stop] for name, start, stop in zip(labels, ends, ends[1:], strict=False)
    }


def _told(again: list[Any], old: str, name: str) -> str:
    shown = ", ".join(map(repr, sorted(again)[:3])) + (" and others" if len(again) > 3 else "")
    if old == name:
        return f"{len(again)} of the nodes are labels of {old!r} already: {shown}."
    return (
        f"{len(again)} of the nodes given for {name!r} label {old!r} already: {shown}. A node has "
        f"one class: leave them out, or remove {old!r} first."
    )


def labels_from_numbers(
    y: Any, graph: "Graph", names: Sequence[str] | Mapping[int, str] | None = None
) -> KeyedLabels:
    """Class name -> keys, from PyG's ``y`` or another array of class numbers.

    >>> from nodegraft.graph.graph import Graph
    >>> graph = Graph(["p1", "p2", "p3"], np.eye(3))
    >>> labels = labels_from_numbers([1, -1, 0], graph, names=["hats", "shoes"])
    >>> {name: keys.tolist() for name, keys in labels.items()}
    {'hats': ['p3'], 'shoes': ['p1']}

    Args:
        y: One whole number for each node, in the order of the graph's rows; -1 or NaN where there
            is no label. To leave nodes out by a mask: ``torch.where(data.train_mask, data.y, -1)``.
        graph: The graph.
        names: The name of each class number, as a list or a dict; None takes the number itself.
            Numbers of one name are one class.
    """
    numbers = _whole(np.asarray(y), graph.num_nodes)
    name_of = {
        number: _name(number, names) for number in np.unique(numbers).tolist() if number != -1
    }
    labels = NodeLabels.from_names(name_of.get(number) for number in numbers.tolist())
    return KeyedLabels.of(labels, graph)


def _whole(y: NDArray[Any], nodes: int) -> NDArray[np.int64]:
    if y.shape != (nodes,):
        raise DataError(
            f"One class number for each of the {nodes:,} nodes is needed; y has shape {y.shape}."
        )
    if y.dtype.kind not in "iuf":
        raise DataError(
            f"y must hold class numbers and is of type {y.dtype}: for class names give a dict, "
            "class name -> list of node keys."
        )
    numbers = np.where(np.isnan(y), -1, y) if y.dtype.kind == "f" else y
    with np.errstate(invalid="ignore"):  # an infinite one is told below
        whole = numbers.astype(np.int64)
    odd = np.flatnonzero((whole != numbers) | (whole < -1))
    if odd.size:
        raise DataError(
            f"Class numbers are 0, 1, 2 … and -1 for none; row {odd[0]} has {y[odd[0]]}."
        )
    return whole


def _name(number: int, names: Sequence[str] | Mapping[int, str] | None) -> str:
    if names is None:
        return str(number)
    try:
        return names[number]
    except LookupError:
        raise ClassNameError(
            f"y has class {number}, which names does not name: it has {len(names)} names."
        ) from None
