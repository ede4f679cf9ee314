"""Interface of the stores of a graph, and the store that holds all arrays in memory."""

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
from nodegraft.graph.growth.grown import joined
from nodegraft.graph.growth.stacked import Stored, in_one_piece
from nodegraft.graph.keys import NodeKeys

EDGES = "edges"
"""The relation of a graph whose edges are all of one kind."""


class ArrayCache:
    """Arrays by what they depend on. This one is for graphs in memory alone: it keeps nothing.

    Its content can be recomputed, so it may be deleted at any time.
    """

    keeps = False
    """Whether what is put is found again."""

    @property
    def base(self) -> "ArrayCache":
        """Cache of the graph that this one grew from; itself if it did not grow."""
        return self

    def under(self, *depends_on: HashPart) -> Self:
        """Return the part of the cache that also depends on some values."""
        return self

    def get(self, *depends_on: HashPart) -> Arrays | None:
        """Return cached arrays; None if they must be computed."""
        return None

    def put(self, arrays: Arrays, *depends_on: HashPart) -> None:
        """Keep arrays, if that is possible."""

    def drop(self, *depends_on: HashPart) -> None:
        """Take away what nobody will ask for again."""


class Recipe(Protocol):
    """Transformation of table columns to features; :class:`nodegraft.FeatureRecipe` is one."""

    @property
    def content_hash(self) -> str:
        """Hash that recipes share if they turn every table into the same numbers."""

    @property
    def num_features(self) -> int:
        """How many columns it makes."""


class GraphStore(Protocol):
    """Keys, features and, relation by relation, edges; immutable."""

    @property
    def keys(self) -> NodeKeys:
        """The nodes, in row order."""

    @property
    def feature_matrix(self) -> Stored:
        """One row per node, dense (perhaps mapped from disk) or CSR; only rows of it are read."""

    @property
    def relations(self) -> tuple[str, ...]:
        """The names of the kinds of edges."""

    @property
    def recipe(self) -> Recipe | None:
        """Recipe that made the features from tables, if there is one."""

    @property
    def array_cache(self) -> ArrayCache:
        """Cache of arrays derived from the graph."""

    @property
    def layers_folder(self) -> Path | None:
        """Folder for products with the whole feature matrix; None in memory."""

    def with_array_cache(self, array_cache: ArrayCache) -> "GraphStore":
        """Return an equal graph that stores derived arrays in a cache."""

    def merged_edges(self) -> Adjacency:
        """Return the edges of all types as one; an edge of several types has the largest weight."""

    @property
    def fingerprint(self) -> str:
        """Differs wherever a feature or an edge does: what such products are known by."""

    def adjacency(self, relation: str) -> Adjacency:
        """Return the edges of one type."""


class EdgesByKind:
    """Base class of stores: edges by type, and a cache on disk."""

    edges: Mapping[str, Adjacency]

    @property
    def relations(self) -> tuple[str, ...]:
        """The names of the kinds of edges."""
        return tuple(self.edges)

    def adjacency(self, relation: str) -> Adjacency:
        """Return the edges of one type."""
        if relation not in self.edges:
            known = ", ".join(self.relations)
            raise DataError(f"There is no edge type {relation!r}; there are {known}.")
        return self.edges[relation]

    def with_array_cache(self, array_cache: ArrayCache) -> Any:
        """Return a store of the same arrays with a cache that outlives the process."""
        return replace(self, array_cache=array_cache)  # type: ignore[type-var]


@dataclass(frozen=True, eq=False)
class MemoryStore(EdgesByKind):
    """Arrays in memory, taken as they are; :meth:`checked` takes them from outside."""

    keys: NodeKeys
    """The nodes, in row order."""

    feature_matrix: Stored
    """One row per node: float32, float16 or CSR, or such pieces one below the other."""

    edges: Mapping[str, Adjacency]
    """Who is joined to whom, by the name of each kind of edges."""

    recipe: Recipe | None = None
    """How tables became the features, if they were made from tables."""

    array_cache: ArrayCache = field(default_factory=ArrayCache)
    """Where what took long to work out about the graph is kept."""

    @classmethod
    def checked(
        cls,
        keys: NodeKeys,
        features: Matrix,
        edges: Mapping[str, Adjacency],
        recipe: Recipe | None = None,
    ) -> Self:
        """Return the store of arrays, after a check that they fit each other.

        Args:
            keys: The nodes, in row order.
            features: One row per node; numbers of other types than float16 are stored in float32,
                NaN and infinite values are refused.
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

    @property
    def layers_folder(self) -> Path | None:
        """Nowhere: what is in memory stays there."""
        return None

    def merged_edges(self) -> Adjacency:
        """Return the edges of all types as one adjacency."""
        return joined(list(self.edges.values()), None)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of every key, feature and edge."""
        return content_of(self)


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
    """Features as a store keeps them: float32, float16 or CSR; NaN and infinity are refused."""
    stored = _stored(_numbers(features))
    if not np.isfinite(stored.data if is_sparse(stored) else stored).all():
        raise DataError("Features hold NaN or infinite values: replace them first.")
    return stored


def _stored(features: Matrix) -> Matrix:
    if is_sparse(features):
        matrix = csr_array(features, dtype=np.float32)
        if not matrix.has_canonical_format:
            # The arrays may still be the caller's own.
            matrix = matrix.copy()
            matrix.sum_duplicates()
        kind = index_type(max(*matrix.shape, matrix.nnz))
        indices, indptr = (
            part.astype(kind, copy=False) for part in (matrix.indices, matrix.indptr)
        )
        return csr_array((matrix.data, indices, indptr), shape=matrix.shape)
    with np.errstate(over="ignore"):
        kept = features if features.dtype == np.float16 else features.astype(np.float32, copy=False)
    return np.ascontiguousarray(kept)


def content_of(store: GraphStore) -> str:
    """Return a hash of every key, feature and edge of a store."""
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
