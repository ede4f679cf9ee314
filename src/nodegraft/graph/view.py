"""What may be seen of a graph: the only thing a method is ever given."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.errors import HiddenNodeError, ParameterError, UnknownNodeError
from nodegraft.base.memo import Memo
from nodegraft.graph.algebra.adjacency import Adjacency
from nodegraft.graph.algebra.diffusion import Diffusion
from nodegraft.graph.algebra.matrix import IntArray, Matrix, take_rows
from nodegraft.graph.algebra.operator import Operator
from nodegraft.graph.algebra.propagation import PropagatedFeatures
from nodegraft.graph.keys import Key, KeyArray
from nodegraft.graph.neighbourhood import Neighbourhood
from nodegraft.graph.rows import Rows, row_numbers
from nodegraft.graph.stores.protocol import GraphStore, Recipe


class GraphView:
    """The visible part of a graph. Degrees and normalisation count visible nodes only.

    Rows are those of the graph, so a node keeps its number from view to view; asking for a
    hidden one is an error. What is expensive is computed once, however many threads ask for it.

    Args:
        store: Where the whole graph lies.
        visible: The rows that may be seen; None for all.
        full_degrees: Whether normalisation counts hidden neighbours, too. That is a leak, for the
            published protocol only.
    """

    def __init__(
        self, store: GraphStore, visible: IntArray | None = None, full_degrees: bool = False
    ) -> None:
        self._store = store
        self._full_degrees = full_degrees
        self._rows = None if visible is None else np.unique(row_numbers(visible))
        if self._rows is not None and self._rows.size:
            outside = self._rows[[0, -1]]
            outside = outside[(outside < 0) | (outside >= len(store.keys))]
            if outside.size:
                raise UnknownNodeError(outside.tolist(), self._rows.size)
        self._edges = Memo[Adjacency]()
        self._propagated = Memo[PropagatedFeatures]()
        self._diffusion = Memo[Diffusion]()
        self._parts = Memo[Neighbourhood]()

    @property
    def _adjacency(self) -> Adjacency:
        return self._edges.get("visible", self._visible_edges)

    def _visible_edges(self) -> Adjacency:
        (relation,) = self._store.relations
        edges = self._store.adjacency(relation)
        if self._full_degrees:
            edges = edges.counting_all()
        return edges if self._rows is None else edges.induced(self._rows)

    def with_full_degrees(self) -> "GraphView":
        """The same nodes, normalised by degrees in the whole graph: a leak, and marked as one."""
        return GraphView(self._store, self._rows, full_degrees=True)

    @property
    def identity(self) -> object:
        """The same object for all views of one graph: their rows mean the same nodes."""
        return self._store

    @property
    def recipe(self) -> Recipe | None:
        """How tables became the features, if they were made from tables."""
        return self._store.recipe

    @property
    def num_nodes(self) -> int:
        """How many nodes are visible."""
        return len(self._store.keys) if self._rows is None else self._rows.size

    @property
    def num_edges(self) -> int:
        """How many undirected edges join visible nodes."""
        return self._adjacency.num_edges

    @property
    def num_features(self) -> int:
        """How many columns a feature row has."""
        return int(self._store.feature_matrix.shape[1])

    @property
    def has_text_keys(self) -> bool:
        """Whether nodes are known by text rather than by integers."""
        return self._store.keys.is_text

    @property
    def rows(self) -> NDArray[np.int64]:
        """The visible rows, ascending."""
        return np.arange(self.num_nodes) if self._rows is None else self._rows

    def rows_of(self, keys: Iterable[Key]) -> NDArray[np.int64]:
        """Row numbers of keys; unknown ones are named in the error, hidden ones are refused.

        Args:
            keys: Keys of nodes, in any order.
        """
        rows = self._store.keys.rows(keys)
        self.positions(rows)
        return rows

    def keys_of(self, rows: Rows) -> list[Key]:
        """The user's keys of visible rows.

        Args:
            rows: Row numbers.
        """
        keys: list[Key] = self.key_array_of(rows).tolist()
        return keys

    def key_array_of(self, rows: Rows) -> KeyArray:
        """The same as an array.

        Args:
            rows: Row numbers.
        """
        self.positions(rows)
        return self._store.keys.array_at(rows)

    def positions(self, rows: Rows) -> NDArray[np.int64]:
        """Where rows stand among the visible ones; hidden and unknown rows are refused.

        Args:
            rows: Row numbers.
        """
        asked = row_numbers(rows)
        if self._rows is None:
            outside = asked[(asked < 0) | (asked >= self.num_nodes)]
            if outside.size:
                raise UnknownNodeError(outside.tolist(), asked.size)
            return asked
        place = np.searchsorted(self._rows, asked)
        inside = place < self._rows.size
        hidden = ~inside
        hidden[inside] = self._rows[place[inside]] != asked[inside]
        if hidden.any():
            raise HiddenNodeError(int(hidden.sum()), asked.size)
        return place

    def _at(self, positions: IntArray) -> IntArray:
        return positions if self._rows is None else self._rows[positions]

    def degrees(self, rows: Rows) -> IntArray:
        """How many visible neighbours each row has; with full degrees hidden ones count, too.

        Args:
            rows: Row numbers.
        """
        return self._adjacency.counted_degrees(self.positions(rows))

    def neighbours(self, rows: Rows) -> tuple[IntArray, IntArray]:
        """How many visible neighbours each row has, and they one row after the other.

        Args:
            rows: Row numbers.
        """
        counts, positions = self._adjacency.neighbours(self.positions(rows))
        return counts, self._at(positions)

    def features(self, rows: Rows) -> Matrix:
        """Feature rows in float32, sparse if the graph stores them so.

        Args:
            rows: Row numbers.
        """
        self.positions(rows)
        return take_rows(self._store.feature_matrix, np.asarray(rows, dtype=np.int64))

    def full_batch(self, hops: int) -> Neighbourhood:
        """The neighbourhood of every visible node, in the order of :attr:`rows`.

        Args:
            hops: How many steps along edges, one for each layer of a network.
        """
        whole = self._parts.get("full batch", self._full_batch)
        return Neighbourhood(whole.features, whole.hops * hops, whole.rings * (hops + 1))

    def _full_batch(self) -> Neighbourhood:
        symmetric = Operator(self._adjacency.normalised, symmetric=True)
        everyone = np.arange(self.num_nodes)
        return Neighbourhood(Operator(self.features(self.rows)), (symmetric,), (everyone,))

    def neighbourhood(self, rows: IntArray, hops: int) -> Neighbourhood:
        """What these rows need of the graph, and nothing beyond it.

        Args:
            rows: Row numbers, each once and ascending.
            hops: How many steps along edges, one for each layer of a network.
        """
        nodes: IntArray = self.positions(rows)
        slices: list[Operator] = []
        rings = [nodes]
        for _ in range(hops):
            matrix, nodes = self._adjacency.hop(nodes)
            slices.append(Operator(matrix))
            rings.append(nodes)
        features = Operator(self.features(self._at(nodes)))
        return Neighbourhood(features, tuple(reversed(slices)), tuple(reversed(rings)))

    def around(self, rows: IntArray, hops: int) -> tuple[Neighbourhood, NDArray[np.int64]]:
        """The neighbourhood of rows in any order, repeats included, and each one's place in it.

        Args:
            rows: Row numbers.
            hops: How many steps along edges, one for each layer of a network.
        """
        unique, places = np.unique(rows, return_inverse=True)
        return self.neighbourhood(unique, hops), places

    def propagated(self, rows: IntArray, hops: int) -> list[Matrix]:
        """The rows of X, SX, S²X …; the products are computed once per view.

        Args:
            rows: Row numbers.
            hops: The largest power of S, at least 0.
        """
        if hops < 0:
            raise ParameterError(f"hops must not be negative, and is {hops}.")
        found = self._propagated.get(hops, lambda: self._propagate(hops))
        return found.rows(self.positions(rows))

    def _propagate(self, hops: int) -> PropagatedFeatures:
        # Layers only ever give copies of rows: those of the whole graph need no copy before.
        everything = self._store.feature_matrix
        features = everything if self._rows is None else self.features(self._rows)
        return PropagatedFeatures(self._adjacency, features, hops)

    def diffused(
        self, starts: Sequence[IntArray], rows: IntArray, restart: float
    ) -> NDArray[np.float64]:
        r"""How much of the walks from each set of starts is at each row, against an even spread.

        One column per set: 1 where the row has its share of the set's mass, were that the same
        everywhere; 0 where no walk comes.

        Args:
            starts: Sets of rows that walks start from, evenly.
            rows: Row numbers to look at.
            restart: The chance, between 0 and 1, that a walk ends at each step; larger values
                stay closer to the starts.
        """
        diffusion = self._diffusion.get(restart, lambda: Diffusion(self._adjacency, restart))
        places = [self.positions(start) for start in starts]
        mass, total = diffusion.mass(places, self.positions(rows))
        return mass / (total / self.num_nodes)

    def __repr__(self) -> str:
        everyone = len(self._store.keys)
        seen = "all" if self._rows is None else f"{self.num_nodes:,}"
        return f"GraphView({seen} of {everyone:,} nodes, {self.num_features:,} features)"
