"""Add nodes, edges and edge types to a graph, and reuse the caches of the earlier graph.

Cached rows of nodes that are not near a change stay valid, see :class:`Growth`. A graph has only
weak references to earlier graphs, so it does not keep them in memory. All caches are rebuilt if
growth touches more than an eighth of all nodes, removes nodes, adds an edge type, or adds weights
or directions to an edge type that had none.
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
"""Maximum number of earlier graphs to which a graph has weak references."""


@dataclass(frozen=True, eq=False)
class Growth:
    """Nodes whose edges changed when a graph grew.

    Row :math:`i` of :math:`S^h X` depends on the edges and degrees of the nodes up to ``h`` steps
    away from node :math:`i`. It has not changed if none of these nodes has a new edge.
    """

    adjacency: Adjacency
    """Edges of the graph after growth."""

    touched: IntArray
    """Row numbers of new nodes, and of nodes whose edges of any type have changed; ascending."""

    _reach: Memo[NDArray[np.bool_]] = field(default_factory=Memo, init=False, repr=False)
    """Cached results of :meth:`within`, by the number of hops."""

    def within(self, hops: int) -> NDArray[np.bool_]:
        """Return for every node whether a changed or new node is at most `hops` steps away."""
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
        """Combine this growth with the growth before it."""
        return Growth(self.adjacency, np.union1d(earlier.touched, self.touched))


class Lineage(Generic[Member]):
    """Caches of the earlier graphs from which a graph grew.

    References are weak, so that unused caches can be freed.
    """

    def __init__(self) -> None:
        self._ancestors: list[tuple[ref[Member], Growth]] = []

    def grown_from(self, parent: Member, parents: "Lineage[Member]", growth: Growth) -> None:
        """Record the parent of this lineage's owner, and all ancestors of the parent."""
        older = [
            (reference, growth.after(since))
            for reference, since in parents._ancestors
            if reference()
        ]
        self._ancestors = [(ref(parent), growth), *older][:GENERATIONS]

    def since(self, ancestor: Member) -> Growth | None:
        """Return the nodes that changed since an earlier graph.

        The result is None if the graph did not grow from it.
        """
        growths = (growth for reference, growth in self._ancestors if reference() is ancestor)
        return next(growths, None)


MOST_TOUCHED = 8
"""If growth changes more than 1/MOST_TOUCHED of all nodes, no cache is reused."""


def with_feature_rows(old: Stored, new: Matrix, count: int) -> Stored:
    """Check the features of new nodes, and append them to a feature matrix.

    Args:
        new: Feature matrix with one row per new node; it is converted to the number type of `old`.
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
    """Add new edges to the edges of each edge type; return the edges of all types.

    Args:
        new: New edges of each edge type, with an entry in both directions; edge types may be new.
    """
    nobody = np.zeros(0, dtype=np.int64)
    more = {name: new.get(name, Entries(nobody, nobody)) for name in kinds}
    grown = {name: with_edges(edges, more[name], num_nodes) for name, edges in kinds.items()}
    apart = {
        name: edges for name, edges in grown.items() if edges is not None and can_stay_apart(edges)
    }
    if apart.keys() == kinds.keys() and new.keys() <= kinds.keys():
        return dict(apart)
    # Store changed rows separately either for all edge types or for none. Otherwise edge types
    # would have grown from different graphs, and there would be no single earlier graph to diffuse
    # heat on.
    whole = {
        name: merged([edges.widened(num_nodes), Adjacency(*compressed(more[name], num_nodes))])
        if (after := grown[name]) is None
        else after.whole
        for name, edges in kinds.items()
    }
    others = new.keys() - kinds.keys()
    return whole | {name: Adjacency(*compressed(new[name], num_nodes)) for name in others}


def touched_rows(new: Iterable[Entries], before: int, now: int) -> IntArray:
    """Return the row numbers of new nodes and of nodes with new edges, ascending."""
    return np.unique(np.concatenate([np.arange(before, now), *(entries.rows for entries in new)]))


def is_more_of_the_same(before: Mapping[str, Adjacency], now: Mapping[str, Adjacency]) -> bool:
    """Return whether all edge types existed before, with the same use of weights and directions."""
    return before.keys() == now.keys() and all(
        (edges.is_weighted, edges.is_directed) == (now[name].is_weighted, now[name].is_directed)
        for name, edges in before.items()
    )


FEWEST_KEYS, LARGEST_SHARE = 1024, 16
"""Keys of new nodes are stored separately from old keys if there are at most FEWEST_KEYS of them,
or at most 1/LARGEST_SHARE of the number of old keys.
"""


class GrownKeys(NodeKeys):
    """Keys of a graph before growth followed by the keys of new nodes, neither of which is copied.

    Args:
        base: Keys of the graph before growth.
        added: Keys of the new nodes.
    """

    def __init__(self, base: NodeKeys, added: NodeKeys) -> None:
        self.base = base
        self.added = added

    @property
    def origin(self) -> str:  # type: ignore[override]
        """Names of the files that the old keys are mapped from; empty for keys in memory."""
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
        """Return the row numbers of keys; -1 for unknown keys."""
        rows, later = self.base.find(keys), self.added.find(keys)
        return np.where(later >= 0, later + len(self.base), rows)

    def array_at(self, rows: IntArray | Sequence[int]) -> KeyArray:
        """Return the keys of the given rows as an array."""
        numbers = np.asarray(rows, dtype=np.int64)
        later = numbers >= len(self.base)
        if not later.any():
            return self.base.array_at(numbers)
        keys = np.empty(numbers.size, dtype=self.base.array_at([]).dtype)
        keys[~later] = self.base.array_at(numbers[~later])
        keys[later] = self.added.array_at(numbers[later] - len(self.base))
        return keys

    def smallest_hashes(self, count: int) -> IntArray:
        """Return a random sample: `count` rows whose keys have the smallest hashes, in order."""
        later = self.added.smallest_hashes(count) + len(self.base)
        rows = np.concatenate((self.base.smallest_hashes(count), later))
        return rows[hash_order(self.array_at(rows))[:count]]


def with_keys(keys: NodeKeys, more: Sequence[Key]) -> NodeKeys:
    """Append the keys of new nodes to the keys of a graph.

    >>> with_keys(NodeKeys(["a", "b"]), ["c"]).at([2])
    ['c']

    Args:
        more: Keys of the new nodes, of the same type as the graph's keys.

    Raises:
        DataError: A new key exists already, or is of another type.
    """
    new = key_array(more)
    if not len(keys):
        return NodeKeys(new)
    if new.size and (new.dtype == object) != keys.is_text:
        raise DataError("New node keys must be of the same type as the old ones.")
    again = new[keys.find(new) >= 0]
    if again.size:
        examples = ", ".join(repr(key) for key in again[:5].tolist())
        raise DataError(f"{again.size} node keys occur more than once: {examples}.")
    base, beside = keys, new
    if isinstance(keys, GrownKeys):
        base, beside = keys.base, np.concatenate((keys.added.values(), new))
    if not beside.size:
        return base
    if beside.size > max(FEWEST_KEYS, len(base) // LARGEST_SHARE):
        return NodeKeys(np.concatenate((base.values(), beside)))
    return GrownKeys(base, NodeKeys(beside))
