"""Growth of a graph: new nodes, edges and edge types, and reuse of the caches of earlier graphs.

Row i of S^h X changes only if an edge was added at most h steps away from node i.
``Growth.within(h)`` marks the nodes whose rows may have changed in this way; cached rows of all
other nodes stay valid. Graphs refer to their ancestors weakly, so they do not keep them in memory.
All caches are rebuilt if growth touches more than an eighth of all nodes, removes nodes, adds an
edge type, or adds weights or directions to an edge type that had none.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Generic, TypeVar
from weakref import ref

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.base.errors import DataError
from nodegraft.base.memo import Memo
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.entries import Entries, compressed
from nodegraft.graph.edges.matrix import IntArray, Matrix, is_sparse
from nodegraft.graph.edges.relation import merged
from nodegraft.graph.growth.grown import can_stay_apart, with_edges
from nodegraft.graph.growth.stacked import StackedRows, Stored, holds_sparse
from nodegraft.graph.keys import Key, KeyArray, NodeKeys, hash_order, key_array
from nodegraft.graph.stores import stored_features

Member = TypeVar("Member")

GENERATIONS = 8
"""Maximum number of ancestors that a graph remembers."""


@dataclass(frozen=True, eq=False)
class Growth:
    """Nodes that growth changed.

    Row :math:`i` of :math:`S^h X` depends on the edges and degrees of the nodes up to ``h`` steps
    away from node :math:`i`. It has not changed if none of these nodes has a new edge.
    """

    adjacency: Adjacency
    """The edges after growth."""

    touched: IntArray
    """New nodes, and nodes whose edges of any type have changed; ascending."""

    _reach: Memo[NDArray[np.bool_]] = field(default_factory=Memo, init=False, repr=False)
    """Cached results of :meth:`within`, by number of hops."""

    def within(self, hops: int) -> NDArray[np.bool_]:
        """Return for every node whether a changed node is at most `hops` steps away."""
        return self._reach.get(hops, lambda: self._within(hops))

    def _within(self, hops: int) -> NDArray[np.bool_]:
        if hops == 0:
            reached = np.zeros(self.adjacency.num_nodes, dtype=bool)
            reached[self.touched] = True
            return reached
        nearer = self.within(hops - 1)
        _, neighbours = self.adjacency.neighbours(np.flatnonzero(nearer))
        reached = nearer.copy()
        reached[neighbours] = True
        return reached

    def after(self, earlier: "Growth") -> "Growth":
        """Return an earlier growth and this one, combined."""
        return Growth(self.adjacency, np.union1d(earlier.touched, self.touched))


class Lineage(Generic[Member]):
    """Ancestors of an object, as weak references so that unused ancestors can be freed."""

    def __init__(self) -> None:
        self._ancestors: list[tuple[ref[Member], Growth]] = []

    def grown_from(self, parent: Member, parents: "Lineage[Member]", growth: Growth) -> None:
        """Record the parent of the object, and the ancestors of the parent.

        Args:
            parent: The object before growth.
            parents: The lineage of the parent.
            growth: The change from the parent to this object.
        """
        older = [
            (reference, growth.after(since))
            for reference, since in parents._ancestors
            if reference()
        ]
        self._ancestors = [(ref(parent), growth), *older][:GENERATIONS]

    def since(self, ancestor: Member) -> Growth | None:
        """Return the growth since an ancestor; None if `ancestor` is not an ancestor."""
        found = (growth for reference, growth in self._ancestors if reference() is ancestor)
        return next(found, None)


MOST_TOUCHED = 8
"""If growth touches more than 1/MOST_TOUCHED of all nodes, no cache of the old graph is reused."""


def with_feature_rows(old: Stored, new: Matrix, count: int) -> Stored:
    """Append the features of new nodes to a feature matrix, after checks and a type conversion.

    Args:
        old: The feature matrix.
        new: One row for each new node; it is converted to the number type of `old`.
        count: Number of new nodes.

    Raises:
        DataError: The new rows have another number of rows or columns, or invalid values.
    """
    if new.ndim != 2 or old.shape[1] != new.shape[1]:
        raise DataError(f"New feature rows have {new.shape[-1]} columns, the graph {old.shape[1]}.")
    if new.shape[0] != count:
        raise DataError(f"{count} new nodes need as many feature rows, not {new.shape[0]}.")
    if not count:
        return old
    stacked = old if isinstance(old, StackedRows) else StackedRows((old,))
    if holds_sparse(old):
        return stacked.with_rows(stored_features(csr_array(new)))
    dense = new.toarray() if is_sparse(new) else np.asarray(new)
    kind = stacked.parts[0].dtype
    with np.errstate(over="ignore"):
        return stacked.with_rows(stored_features(stored_features(dense).astype(kind)))


def with_new_edges(
    kinds: Mapping[str, Adjacency], new: Mapping[str, Entries], num_nodes: int
) -> dict[str, Adjacency]:
    """Return the edges of each edge type, with new edges added.

    Args:
        kinds: The edges of each type before growth.
        new: The new edges of each type, in both directions; edge types may be new.
        num_nodes: Number of nodes after growth.
    """
    nobody = np.zeros(0, dtype=np.int64)
    more = {name: new.get(name, Entries(nobody, nobody)) for name in kinds}
    grown = {name: with_edges(edges, more[name], num_nodes) for name, edges in kinds.items()}
    apart = {
        name: edges for name, edges in grown.items() if edges is not None and can_stay_apart(edges)
    }
    if apart.keys() == kinds.keys() and new.keys() <= kinds.keys():
        return dict(apart)
    # Either all edge types have separately stored rows or none has. Otherwise the types would have
    # grown from different graphs, and there would be no single earlier graph to diffuse heat on.
    whole = {
        name: merged([edges.widened(num_nodes), Adjacency(*compressed(more[name], num_nodes))])
        if (after := grown[name]) is None
        else after.whole
        for name, edges in kinds.items()
    }
    others = new.keys() - kinds.keys()
    return whole | {name: Adjacency(*compressed(new[name], num_nodes)) for name in others}


def touched_rows(new: Iterable[Entries], before: int, now: int) -> IntArray:
    """Return the rows of new nodes, and rows with new edges; ascending."""
    return np.unique(np.concatenate([np.arange(before, now), *(entries.rows for entries in new)]))


def is_more_of_the_same(before: Mapping[str, Adjacency], now: Mapping[str, Adjacency]) -> bool:
    """Return whether no edge type is new, and none has weights or directions for the first time."""
    return before.keys() == now.keys() and all(
        (edges.is_weighted, edges.is_directed) == (now[name].is_weighted, now[name].is_directed)
        for name, edges in before.items()
    )


FEWEST_KEYS, LARGEST_SHARE = 1024, 16
"""Added keys are stored separately while there are at most FEWEST_KEYS of them, or at most
1/LARGEST_SHARE of the number of old keys."""


class GrownKeys(NodeKeys):
    """Keys of a graph, followed by added keys, without a copy of either.

    Args:
        base: The keys before growth.
        added: The keys of new nodes.
    """

    def __init__(self, base: NodeKeys, added: NodeKeys) -> None:
        self.base = base
        self.added = added

    @property
    def origin(self) -> str:  # type: ignore[override]
        """The files that the base keys are mapped from; empty for keys in memory."""
        return self.base.origin

    def __len__(self) -> int:
        return len(self.base) + len(self.added)

    @property
    def is_text(self) -> bool:
        """Whether keys are text rather than integers."""
        return self.base.is_text

    @cached_property
    def _values(self) -> KeyArray:  # type: ignore[override]
        return np.concatenate((self.base.values(), self.added.values()))

    def find(self, keys: Sequence[Key] | KeyArray) -> NDArray[np.int64]:
        """Return row numbers of keys, -1 for unknown keys."""
        rows, later = self.base.find(keys), self.added.find(keys)
        return np.where(later >= 0, later + len(self.base), rows)

    def array_at(self, rows: IntArray | Sequence[int]) -> KeyArray:
        """Return the keys of rows as an array."""
        asked = np.asarray(rows, dtype=np.int64)
        later = asked >= len(self.base)
        if not later.any():
            return self.base.array_at(asked)
        keys = np.empty(asked.size, dtype=self.base.array_at([]).dtype)
        keys[~later] = self.base.array_at(asked[~later])
        keys[later] = self.added.array_at(asked[later] - len(self.base))
        return keys

    def smallest_hashes(self, count: int) -> IntArray:
        """Return the rows of the `count` keys with the smallest hashes, sorted by hash."""
        later = self.added.smallest_hashes(count) + len(self.base)
        rows = np.concatenate((self.base.smallest_hashes(count), later))
        return rows[hash_order(self.array_at(rows))[:count]]


def with_keys(keys: NodeKeys, more: Sequence[Key]) -> NodeKeys:
    """Append keys to the keys of a graph.

    >>> with_keys(NodeKeys(["a", "b"]), ["c"]).at([2])
    ['c']

    Args:
        keys: The keys of the graph.
        more: The new keys, of the same type as the old ones.

    Raises:
        DataError: A key exists already, or the keys have another type.
    """
    new = key_array(more)
    if not len(keys):
        return NodeKeys(new)
    if new.size and (new.dtype == object) != keys.is_text:
        raise DataError("New node keys must be of the same type as the old ones.")
    again = new[keys.find(new) >= 0]
    if again.size:
        shown = ", ".join(repr(key) for key in again[:5].tolist())
        raise DataError(f"{again.size} node keys occur more than once: {shown}.")
    base, beside = keys, new
    if isinstance(keys, GrownKeys):
        base, beside = keys.base, np.concatenate((keys.added.values(), new))
    if not beside.size:
        return base
    if beside.size > max(FEWEST_KEYS, len(base) // LARGEST_SHARE):
        return NodeKeys(np.concatenate((base.values(), beside)))
    return GrownKeys(base, NodeKeys(beside))
