"""Edges by the name of their kind, wherever the arrays lie."""

from collections.abc import Mapping

from nodegraft.base.errors import DataError
from nodegraft.graph.edges.adjacency import Adjacency


class EdgesByKind:
    """Answers what every store is asked about its kinds of edges."""

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
