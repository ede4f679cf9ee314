"""Interface between a graph and its storage, in memory or on disk.

The questions are those of PyG's ``FeatureStore`` (rows of a feature matrix) and ``GraphStore``
(edges by the name of their relation, in CSR), so that a store can answer PyG's loaders as well.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, Self

from nodegraft.base.errors import DataError
from nodegraft.base.files.bundle import Arrays
from nodegraft.base.hashing import HashPart
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.growth.stacked import Stored
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
