"""A graph that has grown: a store, and what came to it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from nodegraft.base.errors import DataError
from nodegraft.graph.algebra.adjacency import Adjacency
from nodegraft.graph.algebra.relations import merged
from nodegraft.graph.algebra.stacked import Stored
from nodegraft.graph.keys import NodeKeys
from nodegraft.graph.stores.content import content_of
from nodegraft.graph.stores.protocol import Recipe
from nodegraft.graph.stores.shelf import Shelf


@dataclass(frozen=True, eq=False)
class GrownStore:
    """What was there was checked when it came, and is shared with the graph before."""

    keys: NodeKeys
    """The nodes, in row order."""

    feature_matrix: Stored
    """One row per node; new ones below the old ones."""

    edges: Mapping[str, Adjacency]
    """Who is joined to whom, by the name of each kind of edges."""

    recipe: Recipe | None = None
    """How tables became the features, if they were made from tables."""

    shelf: Shelf = field(default_factory=Shelf)
    """Where what took long to work out about the graph is kept."""

    @property
    def relations(self) -> tuple[str, ...]:
        """The names of the kinds of edges."""
        return tuple(self.edges)

    @property
    def layers_folder(self) -> Path | None:
        """Nowhere: what came since lies in memory."""
        return None

    @cached_property
    def fingerprint(self) -> str:
        """Depends on every key, feature and edge."""
        return content_of(self)

    def with_shelf(self, shelf: Shelf) -> "GrownStore":
        """The same graph, with a place for what takes long to work out about it.

        Args:
            shelf: The place.
        """
        return replace(self, shelf=shelf)

    def merged_edges(self) -> Adjacency:
        """The edges of all kinds as one."""
        return merged(list(self.edges.values()))

    def adjacency(self, relation: str) -> Adjacency:
        """The edges of one kind.

        Args:
            relation: One of :attr:`relations`.
        """
        if relation not in self.edges:
            known = ", ".join(self.relations)
            raise DataError(f"There are no edges of kind {relation!r}, only {known}.")
        return self.edges[relation]
