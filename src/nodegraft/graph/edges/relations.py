"""Edges of several kinds, as one adjacency."""

from collections.abc import Sequence

import numpy as np

from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.entries import Entries, compressed, weights_of


def merged(kinds: Sequence[Adjacency]) -> Adjacency:
    """All edges, whatever their kind; of an edge of several kinds the largest weight counts.

    >>> pair = Adjacency.from_edges(np.array([0]), np.array([1]), 3)
    >>> path = Adjacency.from_edges(np.array([0, 1]), np.array([1, 2]), 3)
    >>> merged([pair, path]).edges()[1].tolist()
    [1, 2]

    Args:
        kinds: The edges of each kind, between the same nodes; at least one.
    """
    if len(kinds) == 1:
        return kinds[0]
    entries = merged_entries([kind.entries() for kind in kinds])
    return Adjacency(*compressed(entries, kinds[0].num_nodes))


def merged_entries(parts: Sequence[Entries]) -> Entries:
    """All entries, one part after the other; with weights or directions if any part has some.

    Args:
        parts: At least one.
    """
    weighted = any(part.weights is not None for part in parts)
    directed = any(part.directions is not None for part in parts)
    return Entries(
        np.concatenate([part.rows for part in parts]),
        np.concatenate([part.columns for part in parts]),
        np.concatenate([weights_of(part) for part in parts]) if weighted else None,
        np.concatenate([_directions(part) for part in parts]) if directed else None,
    )


def weighed(kinds: Sequence[Adjacency], weights: Sequence[float]) -> Adjacency:
    r""":math:`A = \sum_r w_r A_r`, without direction; kinds that weigh nothing are left out.

    >>> pair = Adjacency.from_edges(np.array([0]), np.array([1]), 3)
    >>> path = Adjacency.from_edges(np.array([0, 1]), np.array([1, 2]), 3)
    >>> weighed([pair, path], [2.0, 0.5]).weights.tolist()
    [2.5, 2.5, 0.5, 0.5]

    Args:
        kinds: The edges of each kind, between the same nodes; at least one.
        weights: What each kind is worth, at least 0.
    """
    if not any(weight > 0 for weight in weights):
        nobody = np.zeros(0, dtype=np.int64)
        return Adjacency.from_edges(nobody, nobody, kinds[0].num_nodes)
    entries = weighed_entries([kind.entries() for kind in kinds], weights)
    return Adjacency(*compressed(entries, kinds[0].num_nodes, summed=True))


def weighed_entries(parts: Sequence[Entries], weights: Sequence[float]) -> Entries:
    """The entries of kinds that weigh something, without direction; repeated ones are to be summed.

    Args:
        parts: The entries of each kind.
        weights: What each kind is worth; one at least is.
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
