"""The hash of all that a store holds."""

from typing import Any

from nodegraft.base.hashing import content_hash
from nodegraft.graph.edges.matrix import index_type, is_sparse
from nodegraft.graph.growth.stacked import in_one_piece
from nodegraft.graph.stores.protocol import EDGES, GraphStore


def content_of(store: GraphStore) -> str:
    """Depends on every key, feature and edge.

    Args:
        store: Where the graph lies.
    """
    keys, features = store.keys, in_one_piece(store.feature_matrix)
    stored = (
        (features.indptr, features.indices, features.data) if is_sparse(features) else (features,)
    )
    return content_hash(
        keys.values().tolist() if keys.is_text else keys.values(),
        int(features.shape[1]),
        *stored,
        *(part for name in store.relations for part in _edges(store, name)),
    )


def _edges(store: GraphStore, name: str) -> list[Any]:
    edges = store.adjacency(name)
    kind = index_type(max(edges.num_nodes, edges.indices.size))
    plain = [edges.indptr.astype(kind, copy=False), edges.indices.astype(kind, copy=False)]
    if store.relations == (EDGES,) and edges.weights is None and edges.directions is None:
        return plain
    return [name, *plain, *(p for p in (edges.weights, edges.directions) if p is not None)]
