"""What a graph asks of the place where it lies: in memory, or on disk.

The questions are those of PyG's ``FeatureStore`` (rows of a feature matrix) and ``GraphStore``
(edges by the name of their relation, in CSR), so that a store can answer PyG's loaders as well.
"""

from pathlib import Path
from typing import Protocol

from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.growth.stacked import Stored
from nodegraft.graph.keys import NodeKeys
from nodegraft.graph.stores.shelf import Shelf

EDGES = "edges"
"""The relation of a graph whose edges are all of one kind."""


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
