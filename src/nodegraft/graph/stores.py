"""Interface of graph stores, and a graph store with all arrays in memory."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from scipy.sparse import csr_array, issparse

from nodegraft.base.errors import DataError
from nodegraft.base.files.bundle import Arrays
from nodegraft.base.hashing import HashPart, content_hash
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.matrix import Matrix, index_type, is_sparse
from nodegraft.graph.growth.grown import combine
from nodegraft.graph.growth.stacked import Stored, in_one_piece
from nodegraft.graph.keys import NodeKeys

EDGES = "edges"
"""Name of the edge type in a graph whose edges have no type names."""


class ArrayCache:
    """Interface of caches of arrays; a cache key consists of the values that the arrays depend on.

    This base class stores nothing. Cached arrays can be recomputed, so they may be deleted at any
    time.
    """

    keeps = False
    """Whether the cache really stores arrays; False for this base class."""

    @property
    def base(self) -> "ArrayCache":
        """Cache of the graph from which this graph grew; otherwise this cache itself."""
        return self

    def under(self, *depends_on: HashPart) -> Self:
        """Return a sub-cache, whose cache keys begin with the given values."""
        return self

    def get(self, *depends_on: HashPart) -> Arrays | None:
        """Return the arrays with a cache key; None if they are not cached."""
        return None

    def put(self, arrays: Arrays, *depends_on: HashPart) -> None:
        """Store arrays with a cache key, if the cache can store arrays."""

    def drop(self, *depends_on: HashPart) -> None:
        """Delete the arrays with a cache key, when they are not needed any more."""


class Recipe(Protocol):
    """Interface of feature recipes; see :class:`nodegraft.FeatureRecipe`."""

    @property
    def content_hash(self) -> str:
        """Hash that is equal for two recipes if they convert every table to equal features."""

    @property
    def num_features(self) -> int:
        """Number of feature columns that the recipe makes."""

    @property
    def node_types(self) -> tuple[str, ...]:
        """Names of the node types, the classified one first; empty if there is only one."""


class GraphStore:
    """Base class of immutable stores of a graph's keys, features and edges."""

    keys: NodeKeys
    feature_matrix: Stored
    edges: Mapping[str, Adjacency]
    recipe: Recipe | None
    array_cache: ArrayCache

    @property
    def relations(self) -> tuple[str, ...]:
        """Names of the edge types."""
        return tuple(self.edges)

    def adjacency(self, relation: str) -> Adjacency:
        """Return the edges of one edge type."""
        if relation not in self.edges:
            known = ", ".join(self.relations)
            raise DataError(f"There is no edge type {relation!r}; there are {known}.")
        return self.edges[relation]

    def with_array_cache(self, array_cache: ArrayCache) -> Any:
        """Return a store with the same arrays that uses the given persistent cache."""
        return replace(self, array_cache=array_cache)  # type: ignore[type-var]

    @property
    def layers_folder(self) -> Path | None:
        """Folder on disk for propagated features; None for a graph in memory."""
        return None

    def merged_edges(self) -> Adjacency:
        """Return the edges of all types as one adjacency.

        An edge of several types gets the largest weight.
        """
        return combine(list(self.edges.values()), None)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of features and edges, which identifies propagated features on disk."""
        return content_of(self)


@dataclass(frozen=True, eq=False)
class MemoryStore(GraphStore):
    """Graph store with all arrays in memory.

    Arrays are not checked; use :meth:`checked` for user input.
    """

    keys: NodeKeys
    """Keys of all nodes, in row order."""

    feature_matrix: Stored
    """Feature matrix with one row per node: float32, float16 or CSR."""

    edges: Mapping[str, Adjacency]
    """Mapping from edge type to its edges."""

    recipe: Recipe | None = None
    """Recipe that made the features from tables; None if there is no recipe."""

    array_cache: ArrayCache = field(default_factory=ArrayCache)
    """Persistent cache of arrays derived from the graph."""

    @classmethod
    def checked(
        cls,
        keys: NodeKeys,
        features: Matrix,
        edges: Mapping[str, Adjacency],
        recipe: Recipe | None = None,
    ) -> Self:
        """Check that the numbers of keys, feature rows and nodes are equal, and create a store.

        Args:
            features: Feature matrix with one row per node. Types other than float16 are converted
                to float32; NaN and infinite values are refused.
        """
        plain = _numbers(features)
        if not edges:
            raise DataError("A graph needs at least one edge type, which may have no edges.")
        for own in edges.values():
            if not (len(keys) == plain.shape[0] == own.num_nodes):
                raise DataError(
                    f"{len(keys)} keys, {plain.shape[0]} feature rows and "
                    f"{own.num_nodes} nodes in the edges: these must be equal."
                )
        return cls(keys, stored_features(plain), edges, recipe)


def _numbers(features: Matrix) -> Matrix:
    plain = features if issparse(features) else np.asarray(features)
    if plain.dtype.kind not in "biuf":
        raise DataError(
            f"Features must be numbers and are of type {plain.dtype}; for tables with text or "
            "categories see nodegraft.read_graph."
        )
    if plain.ndim != 2:
        raise DataError(f"Features need one row per node and columns: shape {plain.shape}.")
    return plain


def stored_features(features: Matrix) -> Matrix:
    """Convert features to float32, float16 or CSR; raise DataError for NaN and infinite values."""
    stored = _stored(_numbers(features))
    if not np.isfinite(stored.data if is_sparse(stored) else stored).all():
        raise DataError("Features hold NaN or infinite values: replace them first.")
    return stored


def _stored(features: Matrix) -> Matrix:
    if is_sparse(features):
        matrix = csr_array(features, dtype=np.float32)
        if not matrix.has_canonical_format:
            # Copy the arrays before changing them, because they may belong to the caller.
            matrix = matrix.copy()
            matrix.sum_duplicates()
        kind = index_type(max(*matrix.shape, matrix.nnz))
        indices, indptr = (
            part.astype(kind, copy=False) for part in (matrix.indices, matrix.indptr)
        )
        return csr_array((matrix.data, indices, indptr), shape=matrix.shape)
    with np.errstate(over="ignore"):
        values = (
            features if features.dtype == np.float16 else features.astype(np.float32, copy=False)
        )
    return np.ascontiguousarray(values)


def content_of(store: GraphStore) -> str:
    """Return a hash of all keys, features and edges in a store."""
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
