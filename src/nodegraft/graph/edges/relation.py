"""Edges of one or several edge types, and functions that convert them to adjacencies."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.errors import DataError
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.entries import (
    OUT,
    Entries,
    Weights,
    both_ways,
    compressed,
    narrowed,
    weights_of,
)
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.keys import Key, NodeKeys, several

Pairs: TypeAlias = Iterable[tuple[Key, Key]] | NDArray[Any]


@dataclass(frozen=True)
class Relation:
    """Edges of one edge type: pairs of node keys, with optional weights and a direction.

    >>> Relation([("a", "b"), ("b", "c")], weights=[1.0, 3.5], directed=True).directed
    True
    """

    pairs: Pairs
    """Pairs of node keys, one pair for each edge. Self loops are dropped. Duplicate edges, also in
    the opposite direction, are merged and get the largest of their weights.
    """

    weights: Sequence[float] | NDArray[Any] | None = None
    """Positive weight of each edge; a node's self loop has weight 1. None for weights of 1."""

    directed: bool = False
    """Whether each edge leads from the first to the second key of its pair. Features and heat
    spread in both directions in any case, but some methods also use the direction.
    """

    def adjacency(self, keys: NodeKeys) -> Adjacency:
        """Convert the edges to an adjacency.

        Args:
            keys: Keys of all nodes, in row order.
        """
        source, target = _edge_rows(keys, self.pairs)
        return by_rows(source, target, len(keys), self.weights, self.directed)

    def entries(self, keys: NodeKeys) -> Entries:
        """Convert the edges to entries in both directions; duplicates remain.

        Args:
            keys: Keys of all nodes, in row order.
        """
        source, target = _edge_rows(keys, self.pairs)
        weights = None if self.weights is None else _checked(self.weights, source.size)
        directions = np.full(source.size, OUT) if self.directed else None
        return both_ways(source, target, weights, directions)


Edges: TypeAlias = Pairs | Relation | Mapping[str, Pairs | Relation]


def relations_in(edges: Edges, unnamed: str) -> dict[str, Relation]:
    """Return a mapping from the name of each edge type to its edges.

    Args:
        unnamed: Name of the edge type if edges are given without a type.
    """
    by_type = edges if isinstance(edges, Mapping) else {unnamed: edges}
    for name in by_type:
        if not isinstance(name, str) or not name:
            raise DataError(f"An edge type needs a name (text), not {name!r}.")
    return {
        name: edges if isinstance(edges, Relation) else Relation(edges)
        for name, edges in by_type.items()
    }


def kinds_with_direction(directed: bool | Iterable[str], kinds: Collection[str]) -> set[str]:
    """Return the set of directed edge types; raise DataError for an unknown edge type.

    >>> kinds_with_direction("cites", ["cites", "like"]), kinds_with_direction(False, ["cites"])
    ({'cites'}, set())

    Args:
        directed: Whether all edge types are directed, or the names of the directed edge types.
    """
    if isinstance(directed, bool):
        return set(kinds) if directed else set()
    named = {directed} if isinstance(directed, str) else set(directed)
    unknown = named - set(kinds)
    if unknown:
        raise DataError(
            f"There is no edge type {min(unknown)!r} to be directed; there are {', '.join(kinds)}."
        )
    return named


def by_rows(
    source: IntArray,
    target: IntArray,
    num_nodes: int,
    weights: Sequence[float] | NDArray[Any] | None,
    directed: bool,
) -> Adjacency:
    """Check the weights of the edges of one type, and return the edges as an adjacency."""
    return Adjacency.from_edges(
        source,
        target,
        num_nodes,
        weights=None if weights is None else _checked(weights, source.size),
        directions=np.full(source.size, OUT) if directed else None,
    )


def _checked(weights: Sequence[float] | NDArray[Any], edges: int) -> Weights:
    numbers = np.asarray(weights)
    if numbers.dtype.kind not in "iuf" or numbers.shape != (edges,):
        raise DataError(
            f"{edges} edges need as many weights, which are numbers; these are of type "
            f"{numbers.dtype} and shape {numbers.shape}."
        )
    narrow, usable = narrowed(numbers)
    if not usable.all():
        raise DataError(
            f"Weights of edges must be positive and finite; {int((~usable).sum())} are not, such "
            f"as {numbers[~usable][0]}. Leave out edges that should not count."
        )
    return narrow


def _edge_rows(keys: NodeKeys, edges: Pairs) -> tuple[IntArray, IntArray]:
    if hasattr(edges, "__array__"):
        ends = keys.rows(_as_pairs(np.asarray(edges)).ravel())
    else:
        pairs = several(edges, "edges")
        for pair in pairs:
            if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
                raise DataError(f"An edge is a pair of node keys, not {pair!r}.")
        ends = keys.rows([end for pair in pairs for end in pair])
    return ends[0::2], ends[1::2]


def _as_pairs(edges: NDArray[Any]) -> NDArray[Any]:
    if edges.size and (edges.ndim != 2 or edges.shape[1] != 2):
        hint = ": give its transpose" if edges.ndim == 2 and edges.shape[0] == 2 else ""
        raise DataError(
            "Edges need one row per edge with two keys; this array has the shape "
            f"{edges.shape}{hint}."
        )
    return edges


def merged(kinds: Sequence[Adjacency]) -> Adjacency:
    """Merge edge types; an edge that has several types gets the largest weight.

    >>> pair = Adjacency.from_edges(np.array([0]), np.array([1]), 3)
    >>> path = Adjacency.from_edges(np.array([0, 1]), np.array([1, 2]), 3)
    >>> merged([pair, path]).edges()[1].tolist()
    [1, 2]

    Args:
        kinds: Adjacency of each edge type; at least one, all with the same nodes.
    """
    if len(kinds) == 1:
        return kinds[0]
    entries = merged_entries([kind.entries() for kind in kinds])
    return Adjacency(*compressed(entries, kinds[0].num_nodes))


def merged_entries(parts: Sequence[Entries]) -> Entries:
    """Concatenate entries.

    If any of them have weights or directions, the result has them, too.
    """
    weighted = any(part.weights is not None for part in parts)
    directed = any(part.directions is not None for part in parts)
    return Entries(
        np.concatenate([part.rows for part in parts]),
        np.concatenate([part.columns for part in parts]),
        np.concatenate([weights_of(part) for part in parts]) if weighted else None,
        np.concatenate([_directions(part) for part in parts]) if directed else None,
    )


def merged_with_weights(kinds: Sequence[Adjacency], weights: Sequence[float]) -> Adjacency:
    r"""Return :math:`A = \sum_r w_r A_r` without directions; types of weight 0 are left out.

    >>> pair = Adjacency.from_edges(np.array([0]), np.array([1]), 3)
    >>> path = Adjacency.from_edges(np.array([0, 1]), np.array([1, 2]), 3)
    >>> merged_with_weights([pair, path], [2.0, 0.5]).weights.tolist()
    [2.5, 2.5, 0.5, 0.5]

    Args:
        kinds: Adjacency of each edge type; at least one, all with the same nodes.
        weights: Weight of each edge type, at least 0.
    """
    if not any(weight > 0 for weight in weights):
        nobody = np.zeros(0, dtype=np.int64)
        return Adjacency.from_edges(nobody, nobody, kinds[0].num_nodes)
    entries = weighted_entries([kind.entries() for kind in kinds], weights)
    return Adjacency(*compressed(entries, kinds[0].num_nodes, summed=True))


def weighted_entries(parts: Sequence[Entries], weights: Sequence[float]) -> Entries:
    """Multiply the entries of each edge type by its weight and concatenate them.

    The result has no directions. The caller adds up duplicates.

    Args:
        weights: Weight of each edge type; types of weight 0 are left out, at least one weight is
            above 0.
    """
    worth = [
        (part, np.float32(weight))
        for part, weight in zip(parts, weights, strict=True)
        if weight > 0
    ]
    return Entries(
        np.concatenate([part.rows for part, _ in worth]),
        np.concatenate([part.columns for part, _ in worth]),
        np.concatenate([weight * weights_of(part) for part, weight in worth]),
    )


def _directions(part: Entries) -> "np.ndarray[tuple[int], np.dtype[np.uint8]]":
    if part.directions is None:
        return np.zeros(part.rows.size, dtype=np.uint8)
    return part.directions
