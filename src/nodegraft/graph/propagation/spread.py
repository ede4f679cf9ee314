"""Rows of X, SX, S²X and their like, of length 1, known by their products: with words, most are
never formed."""

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.graph.edges.entries import IN, OUT
from nodegraft.graph.edges.matrix import (
    IntArray,
    Matrix,
    normalise_rows,
    row_norms,
    weigh_columns,
)
from nodegraft.graph.edges.operator import Neighbourhood
from nodegraft.graph.growth.growing import Growth
from nodegraft.graph.propagation.typed_blocks import Block, block_neighbours
from nodegraft.graph.view import GraphView

Floats = NDArray[np.float64]

BLOCK_ROWS = 4096

BLOCK_SHARE = 8
"""Where this part of a block is asked for, all its lengths are worked out and kept."""

PIECE_ROWS = 512
"""So many dense rows, and their products with some dozens of classes, stay in a core's cache."""

FORMED_ROWS = 32
"""So few rows are formed to be compared: less work than products over all their neighbours. They
are in single precision: a score's seventh digit may depend on how many nodes are asked about."""


class SpreadFeatures:
    r"""Layers of rows made from the features around a node, columns weighted, each of length 1.

    The first layers are :math:`X, SX, S^2X` …; two more, where directions count, are the sums of
    the features that edges lead to, and of those that they come from. Behind them may come blocks:
    the sums of the features of neighbours by one edge type in one direction.

    A row of :math:`S^2 X` may hold thousands of words; what is asked of many of them is mostly the
    product with a vector for each class, and :math:`S(S(Xv))` is the same number. Lengths need the
    rows themselves, once for each node.

    Args:
        view: What may be seen of the graph.
        hops: The largest power of :math:`S`.
        columns: The weight of each column of :math:`X`.
        directions: Whether there are layers for the two directions of edges.
        blocks: Edge types and directions that have a layer of their own.
    """

    def __init__(
        self,
        view: GraphView,
        hops: int,
        columns: NDArray[np.float32],
        directions: bool = False,
        blocks: Sequence[Block] = (),
    ) -> None:
        self.view = view
        self.hops = hops
        self.columns = columns
        self.directions = (OUT, IN) if directions else ()
        self.blocks = tuple(blocks)
        names = [f"{name} {direction}" for name, direction in blocks]
        self.array_cache = view.array_cache.under(hops, len(self.directions), columns, names)
        """Where what these rows say outlives the process."""
        self._lengths = np.zeros((len(self.all_layers), view.num_nodes))
        self._is_known = np.zeros(view.num_nodes, dtype=bool)

    def grown(self, view: GraphView, growth: Growth) -> "SpreadFeatures":
        """Return the features of a graph that has grown, with the lengths of rows that did not
        change.
        """
        child = SpreadFeatures(view, self.hops, self.columns, bool(self.directions), self.blocks)
        kept = np.flatnonzero(self._is_known & ~self.stale(growth)[: self._is_known.size])
        child._know(kept, self._lengths[:, kept])
        return child

    def stale(self, growth: Growth) -> NDArray[np.bool_]:
        """Return for every node whether growth changed one of its rows."""
        return growth.within(self.hops)

    @property
    def powers(self) -> range:
        """The numbers of the layers X, SX, S²X …"""
        return range(self.hops + 1)

    @property
    def layers(self) -> range:
        """The numbers of all layers but the blocks, those of the two directions last."""
        return range(len(self.powers) + len(self.directions))

    @property
    def all_layers(self) -> range:
        """The numbers of all layers, the blocks last."""
        return range(len(self.layers) + len(self.blocks))

    @property
    def block_layers(self) -> list[int]:
        """The numbers of the layer X and of the blocks; none without blocks."""
        return [0, *self.all_layers[len(self.layers) :]] if self.blocks else []

    def rows(self, rows: IntArray) -> "SpreadRows":
        """Return the rows of some nodes.

        Args:
            rows: Row numbers, each once and ascending.
        """
        return SpreadRows(self, rows)

    def weighed(self, vectors: Floats) -> Floats:
        """Vectors made ready for :meth:`SpreadRows.times`: as columns, weighted as the rows are."""
        return np.ascontiguousarray((vectors * self.columns).T)

    def formed(self, rows: IntArray, layers: Sequence[int]) -> Iterator[Matrix]:
        """Yield the rows of some layers themselves, of length 1.

        Args:
            rows: Row numbers, each once and ascending.
            layers: Which, ascending.
        """
        raw = self.raw(rows, layers)
        return (normalise_rows(weigh_columns(layer, self.columns)) for layer in raw)

    def raw(self, rows: IntArray, layers: Sequence[int] | None = None) -> Iterator[Matrix]:
        """Yield the rows of some layers, neither weighted nor of length 1.

        Args:
            rows: Row numbers, each once and ascending.
            layers: Which, ascending; None for all.
        """
        wanted = self.all_layers if layers is None else layers
        powers = [layer for layer in wanted if layer in self.powers]
        if powers:
            spread = self.view.propagated(rows, powers[-1])
            yield from (spread[power] for power in powers)
        for layer in wanted[len(powers) :]:
            near = self.beside(rows, layer)
            step = near.hops[0].matrix
            # Sums over a hub's neighbours need more digits; dense rows have as many as features.
            yield (_wide(step) if self.view.has_sparse_features else step) @ near.features.matrix

    def beside(self, rows: IntArray, layer: int) -> Neighbourhood:
        """Return the neighbours that a layer behind :attr:`powers` sums up.

        Args:
            rows: Row numbers, each once and ascending.
        """
        if layer in self.layers:
            return self.view.directed(rows, self.directions[layer - len(self.powers)])
        return block_neighbours(self.view, rows, self.blocks[layer - len(self.layers)])

    def lengths(self, rows: IntArray, layers: Sequence[Matrix] | None = None) -> Floats:
        """Return the lengths of rows before they were normalised: layers x rows.

        Args:
            rows: Row numbers, ascending.
            layers: What :meth:`raw` says of them, where that is at hand.
        """
        places = self.view.positions(rows)
        if layers is not None:
            new = np.flatnonzero(~self._is_known[places])
            if new.size:
                self._know(places[new], self._norms(layer[new] for layer in layers))
            return self._lengths[:, places]
        if self.array_cache.keeps:
            self._read_cached(self._unknown(rows, places))
        unknown = self._unknown(rows, places)
        for start in range(0, unknown.size, BLOCK_ROWS):
            self._measure(unknown[start : start + BLOCK_ROWS])
        return self._lengths[:, places]

    def _unknown(self, rows: IntArray, places: IntArray) -> IntArray:
        unknown: IntArray = rows[~self._is_known[places]]
        return unknown

    def _measure(self, rows: IntArray) -> None:
        self._know(self.view.positions(rows), self._norms(self.raw(rows)))

    def _norms(self, layers: Iterable[Matrix]) -> list[Floats]:
        return [row_norms(weigh_columns(layer, self.columns)) for layer in layers]

    def _know(self, places: IntArray, lengths: Sequence[Floats] | Floats) -> None:
        for layer in self.all_layers:
            self._lengths[layer, places] = lengths[layer]
        # Other threads look here first.
        self._is_known[places] = True

    def _read_cached(self, rows: IntArray) -> None:
        """Whole blocks of rows: those found there, and those of which much is asked for."""
        blocks, asked = np.unique(rows // BLOCK_ROWS, return_counts=True)
        for block, count in zip(blocks.tolist(), asked.tolist(), strict=True):
            start = block * BLOCK_ROWS
            members = np.arange(start, min(start + BLOCK_ROWS, self.view.num_nodes))
            kept = self.array_cache.get("lengths", block)
            if kept is not None:
                self._know(members, kept["lengths"])
            elif BLOCK_SHARE * count >= members.size:
                self._measure(members)
                self.array_cache.put({"lengths": self._lengths[:, members]}, "lengths", block)


class SpreadRows:
    """Some nodes' rows, for products.

    Args:
        features: Of all nodes.
        rows: Row numbers, each once and ascending.
    """

    def __init__(self, features: SpreadFeatures, rows: IntArray) -> None:
        self._features = features
        self._rows = rows
        # Dense rows are no wider after a hop than before: they are formed, and measured so.
        self._dense: list[Any] | None = None
        if not features.view.has_sparse_features:
            self._dense = list(features.raw(rows))
        lengths = features.lengths(rows, self._dense)
        self.present = lengths > 0
        """Layers x nodes: whether the row has anything in it."""
        self.factors = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=self.present)
        """Layers x nodes: what makes the row one of length 1."""

    @property
    def are_dense(self) -> bool:
        """Whether the rows themselves are in memory."""
        return self._dense is not None

    def part(self, places: IntArray | slice) -> "SpreadRows":
        """Return the rows of some nodes; the rows must be dense."""
        part = copy(self)
        part._rows, part._dense = self._rows[places], [layer[places] for layer in self._dense or ()]
        part.present, part.factors = self.present[:, places], self.factors[:, places]
        return part

    def without_blocks(self) -> "SpreadRows":
        """Return the same rows without cached blocks."""
        part, count = copy(self), len(self._features.layers)
        part._dense = self._dense[:count] if self._dense else self._dense
        for name in {"_chains", "_formed"} & vars(part).keys():
            vars(part)[name] = vars(part)[name][:count]
        return part

    def dense(self, layer: int) -> Floats:
        """Return the rows of one layer, of length 1, if they are dense."""
        rows = np.asarray((self._dense or ())[layer], dtype=np.float64)
        dense: Floats = rows * self._features.columns * self.factors[layer][:, None]
        return dense

    @cached_property
    def _formed(self) -> list[list[Any]]:
        return [[_wide(layer)] for layer in self._features.raw(self._rows)]

    @cached_property
    def _chains(self) -> list[list["csr_array[Any]"]]:
        """Matrices of each layer whose product its rows are, the features last."""
        view, hops = self._features.view, self._features.hops
        near = view.neighbourhood(self._rows, hops)
        slices = [_wide(hop.matrix) for hop in near.hops]
        features = [_wide(near.features.matrix)]
        for ring, smaller in zip(near.rings, near.rings[1:], strict=False):
            features.append(csr_array(features[-1][np.searchsorted(ring, smaller)]))
        chains = [[*slices[hops - hop :][::-1], features[hops - hop]] for hop in range(hops + 1)]
        for layer in self._features.all_layers[hops + 1 :]:
            beside = self._features.beside(self._rows, layer)
            chains.append([_wide(beside.hops[0].matrix), _wide(beside.features.matrix)])
        return chains

    def pieces(self) -> Iterator[tuple[slice, "SpreadRows"]]:
        """Yield a few nodes at a time if rows are dense, so that products stay in the processor's
        cache."""
        count = self._rows.size
        step = PIECE_ROWS if self._dense else max(1, count)
        for start in range(0, count, step):
            part = slice(start, start + step)
            yield part, self.part(part) if self._dense else self

    def products(self, layer: int, vectors: Floats) -> Floats:
        """Return products of the rows of one layer before normalisation: nodes x vectors."""
        if self._dense:
            return _by_columns(self._dense[layer].astype(np.float64), vectors)
        formed = self._rows.size <= FORMED_ROWS
        for matrix in reversed((self._formed if formed else self._chains)[layer]):
            vectors = matrix @ vectors
        return vectors

    def times(self, layer: int, vectors: Floats) -> Floats:
        """Return products of the rows of length 1: nodes x vectors."""
        if self._dense:
            rows = self._dense[layer] * self.factors[layer][:, None]
            return _by_columns(rows, vectors)
        products = self.products(layer, vectors)
        products *= self.factors[layer][:, None]
        return products

    def sums(self, layer: int, shares: Floats) -> Floats:
        """Weighted sums of the rows of one layer, as wide as the features.

        Args:
            shares: Nodes x sums: how much of each row goes into each sum.
        """
        product = shares * self.factors[layer][:, None]
        if self._dense:
            product = _by_columns(self._dense[layer].astype(np.float64).T, product)
        else:
            # Never of formed rows: a mean must not depend on how many others it is made with.
            for matrix in self._chains[layer]:
                product = matrix.T @ product
        return np.asarray(product.T * self._features.columns)


def _by_columns(left: Floats, right: Floats) -> Floats:
    """Return ``left @ right``, column by column in memory: what is done to each next is done to
    many numbers at once."""
    product: Floats = (right.T @ left.T).T
    return product


def _wide(matrix: Matrix) -> "csr_array[Any]":
    return csr_array(matrix, dtype=np.float64)
