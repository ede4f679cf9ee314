"""Parts of a larger graph: the rows, edges and types that growth adds."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.base.errors import DataError
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.entries import Entries, compressed
from nodegraft.graph.edges.matrix import IntArray, Matrix, is_sparse
from nodegraft.graph.edges.relation import merged
from nodegraft.graph.growth.grown import can_stay_apart, with_edges
from nodegraft.graph.growth.stacked import StackedRows, Stored, holds_sparse
from nodegraft.graph.keys import Key, KeyArray, NodeKeys, hash_order, key_array
from nodegraft.graph.stores import stored_features

MOST_TOUCHED = 8
"""Where edges come to more than this part of all nodes, nothing is taken over from before."""


def with_feature_rows(old: Stored, new: Matrix, count: int) -> Stored:
    """Features with those of new nodes below; they are checked and become of the same type."""
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
    """Edges by kind, with new ones.

    Args:
        new: What comes to them, both ways; a kind may be new.
    """
    nobody = np.zeros(0, dtype=np.int64)
    more = {name: new.get(name, Entries(nobody, nobody)) for name in kinds}
    grown = {name: with_edges(edges, more[name], num_nodes) for name, edges in kinds.items()}
    apart = {
        name: edges for name, edges in grown.items() if edges is not None and can_stay_apart(edges)
    }
    if apart.keys() == kinds.keys() and new.keys() <= kinds.keys():
        return dict(apart)
    # Either all kinds have rows apart, or none has: else they would have grown from another graph
    # each, and heat could not diffuse on it.
    whole = {
        name: merged([edges.widened(num_nodes), Adjacency(*compressed(more[name], num_nodes))])
        if (after := grown[name]) is None
        else after.whole
        for name, edges in kinds.items()
    }
    others = new.keys() - kinds.keys()
    return whole | {name: Adjacency(*compressed(new[name], num_nodes)) for name in others}


def touched_rows(new: Iterable[Entries], before: int, now: int) -> IntArray:
    """Return the rows that new edges end in, and new rows; ascending."""
    return np.unique(np.concatenate([np.arange(before, now), *(entries.rows for entries in new)]))


def is_more_of_the_same(before: Mapping[str, Adjacency], now: Mapping[str, Adjacency]) -> bool:
    """Return whether there is no new edge type, and none that gains weights or directions."""
    return before.keys() == now.keys() and all(
        (edges.is_weighted, edges.is_directed) == (now[name].is_weighted, now[name].is_directed)
        for name, edges in before.items()
    )


FEWEST_KEYS, LARGEST_SHARE = 1024, 16
"""Keys lie beside the old ones while they are fewer than this, or than this part of them."""


class GrownKeys(NodeKeys):
    """The keys there were, and more behind them; neither list is copied.

    Args:
        base: The first keys.
        added: The others.
    """

    def __init__(self, base: NodeKeys, added: NodeKeys) -> None:
        self.base = base
        self.added = added

    @property
    def origin(self) -> str:  # type: ignore[override]
        """The file that the first keys are mapped from; empty for keys in memory."""
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
        """Return the rows whose keys have the smallest hashes, in the order of hashes."""
        later = self.added.smallest_hashes(count) + len(self.base)
        rows = np.concatenate((self.base.smallest_hashes(count), later))
        return rows[hash_order(self.array_at(rows))[:count]]


def with_keys(keys: NodeKeys, more: Sequence[Key]) -> NodeKeys:
    """Keys and new ones after them; a key that exists already is refused.

    >>> with_keys(NodeKeys(["a", "b"]), ["c"]).at([2])
    ['c']

    Args:
        more: The new keys, of the same type as the old ones.
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
