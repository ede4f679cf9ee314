"""Labels by node keys. Models store these, because row numbers may change."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.errors import ClassNameError, DataError, MissingLabelsError, UnknownNodeError
from nodegraft.graph.keys import KeyArray, hash_order, key_hashes, pack_keys, unpack_keys
from nodegraft.graph.labels import NodeLabels

if TYPE_CHECKING:
    from nodegraft.graph.graph import Graph
    from nodegraft.graph.view import GraphView

Arrays = dict[str, NDArray[Any]]


class KeyedLabels(Mapping[str, KeyArray]):
    """Immutable mapping from class name to the keys of its nodes, in the given order.

    >>> labels = KeyedLabels({"hats": np.array([30, 10])})
    >>> labels.extended({"hats": np.array([20])})["hats"].tolist()  # In the order of hashes.
    [10, 20, 30]

    Args:
        keys: Mapping from class name to an array of node keys: int64, or objects for text.
    """

    def __init__(self, keys: Mapping[str, KeyArray]) -> None:
        self._keys = dict(keys)
        self._cached_rows: tuple[object, int | None, NodeLabels] | None = None
        # Hashes of all keys, computed on first use and updated when labels are added.
        self._hashes: NDArray[np.uint64] | None = None
        self._bytes: int | None = None

    @classmethod
    def of(cls, labels: NodeLabels, graph: "GraphView") -> "KeyedLabels":
        """Convert labels by row numbers to labels by node keys.

        Args:
            labels: Labels by rows of ``graph``.
            graph: Graph or view that the rows belong to.
        """
        return cls({name: graph.key_array_of(rows) for name, rows in labels.items()})

    def on(self, graph: "GraphView", limit: int | None = None) -> NodeLabels:
        """Look up the labelled keys in a graph; return the labels by row numbers of this graph.

        Keys that the graph does not have raise an error that lists them. The result for the last
        graph is cached.

        Args:
            graph: Graph or view in which the keys are looked up.
            limit: Maximum number of nodes per class: the first keys of each class are used. None
                for no limit.
        """
        cached = self._cached_rows
        if cached is None or cached[0] is not graph.identity or cached[1] != limit:
            rows = _rows(graph, {name: keys[:limit] for name, keys in self.items()})
            # Assign a single tuple, because this is atomic: if several threads do it, one of their
            # results is cached.
            cached = self._cached_rows = (graph.identity, limit, NodeLabels(rows))
        return cached[2]

    def __getstate__(self) -> dict[str, Any]:
        # Leave out the cached result, because it would add the whole graph to the pickle.
        return {**vars(self), "_cached_rows": None}

    def __getitem__(self, name: str) -> KeyArray:
        return self._keys[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    @property
    def num_nodes(self) -> int:
        """Number of labelled nodes."""
        return sum(keys.size for keys in self.values())

    def select(self, classes: Iterable[str]) -> "KeyedLabels":
        """Return the labels of the given classes only.

        Args:
            classes: Names of existing classes, in the order of the result.
        """
        selected = KeyedLabels({name: self._keys[name] for name in classes})
        removed = [keys for name, keys in self.items() if name not in selected._keys]
        if self._hashes is not None:
            lost = np.searchsorted(self._hashes, key_hashes(_together(removed)))
            selected._hashes = np.delete(self._hashes, lost)
        if self._bytes is not None:
            selected._bytes = self._bytes - sum(map(_key_bytes, removed))
        return selected

    def renamed(self, names: Mapping[str, str]) -> "KeyedLabels":
        """Return labels with renamed classes, in the same order.

        Args:
            names: Mapping from old to new class name; other classes keep their names.
        """
        renamed = KeyedLabels({names.get(name, name): keys for name, keys in self.items()})
        renamed._hashes, renamed._bytes = self._hashes, self._bytes
        return renamed

    def extended(self, more: Mapping[str, KeyArray]) -> "KeyedLabels":
        """Return labels with additional classes and nodes.

        Keys of changed classes are sorted by hash, so that the result is the same whether labels
        are added at once or in several steps.

        Args:
            more: Mapping from class name to keys to add; a key that is already labelled raises
                ClassNameError.
        """
        merged = dict(self._keys)
        for name, keys in more.items():
            together = np.concatenate((merged[name], keys)) if name in merged else keys
            merged[name] = together[hash_order(together)]
        extended, hashes = KeyedLabels(merged), self._sorted_hashes()
        new = np.sort(key_hashes(_together(more.values())))
        place = np.searchsorted(hashes, new)
        inside = place < hashes.size
        # Compare hashes first, and keys only if their hashes are equal, because there may be
        # millions of keys.
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
                raise ClassNameError(_duplicates_message(again, owner[again[0]], name))

    @property
    def nbytes(self) -> int:
        """Memory size of the keys in bytes: 8 for an integer; UTF-8 bytes plus 8 for text."""
        if self._bytes is None:
            self._bytes = _key_bytes(_together(self.values()))
        return self._bytes

    def to_arrays(self) -> Arrays:
        """Convert the labels to arrays of numbers for saving; class names are not included."""
        sizes = np.array([keys.size for keys in self.values()], dtype=np.int64)
        return {"sizes": sizes, **pack_keys(_together(self.values()))}

    @classmethod
    def from_arrays(cls, names: Iterable[str], arrays: Arrays) -> "KeyedLabels":
        """Create labels from class names and the arrays of :meth:`to_arrays`.

        Args:
            names: Class names, in order.
            arrays: Result of :meth:`to_arrays`.
        """
        parts = np.split(unpack_keys(arrays), np.cumsum(arrays["sizes"])[:-1])
        return cls(dict(zip(names, parts, strict=True)) if arrays["sizes"].size else {})

    def __eq__(self, other: object) -> bool:
        """Return whether classes and keys are equal, in the same order."""
        if not isinstance(other, KeyedLabels) or list(self) != list(other):
            return False
        pairs = zip(self.values(), other.values(), strict=True)
        return all(mine is its or np.array_equal(mine, its) for mine, its in pairs)

    def __hash__(self) -> int:
        return hash(tuple((name, tuple(keys.tolist())) for name, keys in self.items()))

    def __repr__(self) -> str:
        return f"KeyedLabels({len(self)} classes, {self.num_nodes:,} nodes)"


def _together(parts: Iterable[KeyArray]) -> KeyArray:
    # Skip empty arrays, because their number type may differ from the type of the other keys.
    some = [keys for keys in parts if keys.size]
    return np.concatenate(some) if some else np.zeros(0, dtype=np.int64)


def _key_bytes(keys: KeyArray) -> int:
    return sum(array.nbytes for array in pack_keys(keys).values())


def _rows(graph: "GraphView", labels: Mapping[str, KeyArray]) -> dict[str, NDArray[np.int64]]:
    """Look up the keys of all classes at once; return the row numbers of each class."""
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


def _duplicates_message(again: list[Any], old: str, name: str) -> str:
    examples = ", ".join(map(repr, sorted(again)[:3])) + (" and others" if len(again) > 3 else "")
    if old == name:
        return f"{len(again)} of the nodes are labels of {old!r} already: {examples}."
    return (
        f"{len(again)} of the nodes for {name!r} label {old!r} already: {examples}. A node has "
        f"one class: leave them out, or remove {old!r} first."
    )


def labels_from_numbers(
    y: Any, graph: "Graph", names: Sequence[str] | Mapping[int, str] | None = None
) -> KeyedLabels:
    """Create labels from PyG's ``y`` or another array of class numbers.

    >>> from nodegraft.graph.graph import Graph
    >>> graph = Graph(["p1", "p2", "p3"], np.eye(3))
    >>> labels = labels_from_numbers([1, -1, 0], graph, names=["hats", "shoes"])
    >>> {name: keys.tolist() for name, keys in labels.items()}
    {'hats': ['p3'], 'shoes': ['p1']}

    Args:
        y: Class number of each node, in the order of the graph's rows; -1 or NaN for no label. To
            exclude nodes with a mask: ``torch.where(data.train_mask, data.y, -1)``.
        graph: Graph with the nodes to which ``y`` belongs.
        names: List or dict with the name of each class number; None to use the number as name.
            Numbers with equal names become one class.
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
    with np.errstate(invalid="ignore"):  # Infinite numbers are refused below.
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
