"""What a graph asks of the place where it lies: in memory, or on disk.

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


class Shelf:
    """Arrays by what they depend on. This one is for graphs in memory alone: it keeps nothing.

    What lies on a shelf can be worked out again: it may be lost at any moment.
    """

    keeps = False
    """Whether what is put is found again."""

    @property
    def base(self) -> "Shelf":
        """The shelf of the graph that this one grew from; itself where it did not grow."""
        return self

    def under(self, *depends_on: HashPart) -> Self:
        """The part of it for what depends on this, too.

        Args:
            depends_on: Beside the graph.
        """
        return self

    def get(self, *depends_on: HashPart) -> Arrays | None:
        """What was put; None where it must be worked out.

        Args:
            depends_on: All that the arrays depend on.
        """
        return None

    def put(self, arrays: Arrays, *depends_on: HashPart) -> None:
        """Keep arrays, if that is possible.

        Args:
            arrays: The arrays.
            depends_on: All that they depend on.
        """

    def drop(self, *depends_on: HashPart) -> None:
        """Take away what nobody will ask for again.

        Args:
            depends_on: As it was put.
        """


class Recipe(Protocol):
    """How the columns of a table became features; :class:`nodegraft.FeatureRecipe` is one."""

    @property
    def content_hash(self) -> str:
        """The same for recipes that turn every table into the same numbers."""

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
        """How tables became the features, if they were made from tables."""

    @property
    def shelf(self) -> Shelf:
        """Where what took long to work out about the graph is kept."""

    @property
    def layers_folder(self) -> Path | None:
        """Where products with the whole feature matrix may lie on disk; None in memory."""

    def with_shelf(self, shelf: Shelf) -> "GraphStore":
        """The same graph, with a place for what takes long to work out about it.

        Args:
            shelf: The place.
        """

    def merged_edges(self) -> Adjacency:
        """The edges of all kinds as one; of an edge of several kinds the largest weight counts."""

    @property
    def fingerprint(self) -> str:
        """Differs wherever a feature or an edge does: what such products are known by."""

    def adjacency(self, relation: str) -> Adjacency:
        """The edges of one kind.

        Args:
            relation: One of :attr:`relations`.
        """


class EdgesByKind:
    """Base class of stores: edges by type, and a cache on disk."""

    edges: Mapping[str, Adjacency]

    @property
    def relations(self) -> tuple[str, ...]:
        """The names of the kinds of edges."""
        return tuple(self.edges)

    def adjacency(self, relation: str) -> Adjacency:
        """The edges of one kind.

        Args:
            relation: One of :attr:`relations`.
        """
        if relation not in self.edges:
            known = ", ".join(self.relations)
            raise DataError(f"There is no edge type {relation!r}; there are {known}.")
        return self.edges[relation]

    def with_shelf(self, shelf: Shelf) -> Any:
        """Return a store of the same arrays with a cache that outlives the process.

        Args:
            shelf: The cache.
        """
        return replace(self, shelf=shelf)  # type: ignore[type-var]
