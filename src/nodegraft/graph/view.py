"""What may be seen of a graph: the only thing a method is ever given."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.errors import HiddenNodeError, ParameterError
from nodegraft.graph.diffusion import Diffusion
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import Key
from nodegraft.graph.matrix import IntArray, Matrix
from nodegraft.graph.operator import Operator
from nodegraft.graph.propagate import Propagated


@dataclass(frozen=True)
class Neighbourhood:
    """All that a network of ``len(hops)`` layers needs to see to embed some nodes.

    ``features`` belong to the outermost nodes. ``hops[0]`` takes a tensor on those one step
    inwards, the last one arrives at the nodes that were asked for; each is a slice of the
    normalised adjacency. So one forward pass is the same code for the whole graph and for three
    nodes of it:

        hidden = neighbourhood.features @ first_weight
        hidden = neighbourhood.hops[0] @ hidden

    ``rings`` are the nodes themselves, outermost first: ``hops[i]`` leads from ``rings[i]`` to
    ``rings[i + 1]``, which is part of it.
    """

    features: Operator
    hops: tuple[Operator, ...]
    rings: tuple[IntArray, ...]


class GraphView:
    """The visible part of a graph. Degrees and normalisation count visible nodes only.

    Rows are those of the graph, so a node keeps its number from view to view; asking for a
    hidden one is an error.
    """

    def __init__(self, graph: Graph, visible: IntArray | None = None) -> None:
        self._graph = graph
        self._rows = None if visible is None else np.unique(visible).astype(np.int64)
        self._adjacency = (
            graph._adjacency if self._rows is None else graph._adjacency.induced(self._rows)
        )
        self._propagated: dict[int, Propagated] = {}
        self._diffusion: dict[float, Diffusion] = {}
        self._whole_features: Matrix | None = None
        self._whole: Neighbourhood | None = None

    @property
    def num_nodes(self) -> int:
        """How many nodes are visible."""
        return self._adjacency.num_nodes

    @property
    def num_edges(self) -> int:
        """How many undirected edges join visible nodes."""
        return self._adjacency.num_edges

    @property
    def num_features(self) -> int:
        """How many columns a feature row has."""
        return self._graph.num_features

    @property
    def rows(self) -> NDArray[np.int64]:
        """The visible rows, ascending."""
        return np.arange(self.num_nodes) if self._rows is None else self._rows

    def rows_of(self, keys: Iterable[Key]) -> NDArray[np.int64]:
        """Row numbers of keys; a hidden node is refused."""
        rows = self._graph.rows_of(keys)
        self.positions(rows)
        return rows

    def keys_of(self, rows: IntArray) -> list[Key]:
        """The user's keys of visible rows."""
        self.positions(rows)
        return self._graph.keys_of(rows)

    def positions(self, rows: IntArray) -> NDArray[np.int64]:
        """Where rows stand among the visible ones; hidden and unknown rows are refused."""
        if self._rows is None:
            return self._graph._checked(rows)
        asked = np.asarray(rows, dtype=np.int64)
        place = np.searchsorted(self._rows, asked)
        inside = place < self._rows.size
        hidden = ~inside
        hidden[inside] = self._rows[place[inside]] != asked[inside]
        if hidden.any():
            raise HiddenNodeError(int(hidden.sum()), asked.size)
        return place

    def _at(self, positions: IntArray) -> IntArray:
        return positions if self._rows is None else self._rows[positions]

    def degrees(self, rows: IntArray) -> IntArray:
        """Number of visible neighbours."""
        return self._adjacency.degrees(self.positions(rows))

    def neighbours(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """How many visible neighbours each row has, and they one row after the other."""
        counts, positions = self._adjacency.neighbours(self.positions(rows))
        return counts, self._at(positions)

    def features(self, rows: IntArray) -> Matrix:
        """Feature rows in float32, sparse if the graph stores them so."""
        return self._graph.features(self._at(self.positions(rows)))

    def whole(self, hops: int) -> Neighbourhood:
        """The neighbourhood of every visible node, in the order of :attr:`rows`."""
        if self._whole is None:
            symmetric = Operator(self._adjacency.normalised, symmetric=True)
            everyone = np.arange(self.num_nodes)
            self._whole = Neighbourhood(Operator(self._all_features()), (symmetric,), (everyone,))
        whole = self._whole
        return Neighbourhood(whole.features, whole.hops * hops, whole.rings * (hops + 1))

    def neighbourhood(self, rows: IntArray, hops: int) -> Neighbourhood:
        """What these rows (each once, ascending) need of the graph, and nothing beyond it."""
        nodes: IntArray = self.positions(rows)
        slices: list[Operator] = []
        rings = [nodes]
        for _ in range(hops):
            matrix, nodes = self._adjacency.hop(nodes)
            slices.append(Operator(matrix))
            rings.append(nodes)
        features = Operator(self._graph.features(self._at(nodes)))
        return Neighbourhood(features, tuple(reversed(slices)), tuple(reversed(rings)))

    def around(self, rows: IntArray, hops: int) -> tuple[Neighbourhood, NDArray[np.int64]]:
        """The neighbourhood of rows in any order, repeats included, and each one's place in it."""
        unique, places = np.unique(rows, return_inverse=True)
        return self.neighbourhood(unique, hops), places

    def propagated(self, rows: IntArray, hops: int) -> list[Matrix]:
        """The rows of X, SX, S²X … up to ``hops``; the products are computed once per view."""
        if hops < 0:
            raise ParameterError(f"hops must not be negative, and is {hops}.")
        if hops not in self._propagated:
            # Layers only ever give copies of rows: those of the whole graph need no copy before.
            features = self._graph._features if self._rows is None else self._all_features()
            self._propagated[hops] = Propagated(self._adjacency, features, hops)
        return self._propagated[hops].rows(self.positions(rows))

    def diffused(
        self, starts: Sequence[IntArray], rows: IntArray, restart: float
    ) -> NDArray[np.float64]:
        r"""How much of the walks from each set of starts is at each row, against an even spread.

        One column per set: 1 where the row has its share of the set's mass, were that the same
        everywhere; 0 where no walk comes.
        """
        if restart not in self._diffusion:
            self._diffusion[restart] = Diffusion(self._adjacency, restart)
        places = [self.positions(start) for start in starts]
        mass, total = self._diffusion[restart].mass(places, self.positions(rows))
        return mass / (total / self.num_nodes)

    def _all_features(self) -> Matrix:
        if self._whole_features is None:
            self._whole_features = self._graph.features(self.rows)
        return self._whole_features
