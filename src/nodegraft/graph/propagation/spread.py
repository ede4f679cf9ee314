"""Products of vectors with normalised rows of propagated features.

Most of these rows are never computed themselves.
"""

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
"""If at least 1/BLOCK_SHARE of a block's rows are read, the lengths of all its rows are cached."""

PIECE_ROWS = 512
"""Number of dense rows in a batch, which fits into a CPU cache with its products."""

FORMED_ROWS = 32
"""If a batch has at most this number of sparse rows, they are computed explicitly, which is faster
than products over all their neighbours. These rows are in float32, so the seventh digit of a score
may depend on the batch size.
"""


class SpreadFeatures:
    """Layers of features and sums over neighbours, with weighted columns and rows of length 1.

    The first layers are :math:`X, SX, S^2X` …. With directions, there are two more layers: in each
    row, the sum of the features of all nodes that edges lead to, or of all nodes that edges come
    from. The last layers are the blocks: each is the sum of the features of neighbours by one edge
    type in one direction.

    A row of :math:`S^2 X` may have thousands of non-zero words. Most callers need only the products
    of the row with a vector for each class, which are computed as :math:`S(S(Xv))`. Only the length
    of a row, which normalises it, needs the row itself; it is computed once for each node.

    Row numbers in arguments are ascending, each once.

    Args:
        view: View of the graph.
        hops: Largest power of :math:`S`.
        columns: Weight of each column of :math:`X`.
        directions: Whether there are layers for the two directions of edges.
        blocks: Edge types and directions that have their own layer.
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
        """Cache on disk of arrays that are derived from these layers."""
        self._lengths = np.zeros((len(self.all_layers), view.num_nodes))
        self._is_known = np.zeros(view.num_nodes, dtype=bool)

    def grown(self, view: GraphView, growth: Growth) -> "SpreadFeatures":
        """Return the layers after growth of the graph; known lengths of unchanged rows stay."""
        child = SpreadFeatures(view, self.hops, self.columns, bool(self.directions), self.blocks)
        known = np.flatnonzero(self._is_known & ~self.stale(growth)[: self._is_known.size])
        child._know(known, self._lengths[:, known])
        return child

    def stale(self, growth: Growth) -> NDArray[np.bool_]:
        """Return for every node whether growth of the graph changed its row in any layer."""
        return growth.within(self.hops)

    @property
    def powers(self) -> range:
        """Layer numbers of X, SX, S²X …"""
        return range(self.hops + 1)

    @property
    def layers(self) -> range:
        """Numbers of all layers except blocks; the layers for edge directions are the last."""
        return range(len(self.powers) + len(self.directions))

    @property
    def all_layers(self) -> range:
        """Layer numbers of all layers; blocks are the last ones."""
        return range(len(self.layers) + len(self.blocks))

    @property
    def block_layers(self) -> list[int]:
        """Layer numbers of X and of all blocks; empty if there are no blocks."""
        return [0, *self.all_layers[len(self.layers) :]] if self.blocks else []

    def rows(self, rows: IntArray) -> "SpreadRows":
        """Return an object for products with the rows of the given nodes, in all layers."""
        return SpreadRows(self, rows)

    def weighted(self, vectors: Floats) -> Floats:
        """Multiply vectors by the column weights, as input of :meth:`SpreadRows.times`."""
        return np.ascontiguousarray((vectors * self.columns).T)

    def formed(self, rows: IntArray, layers: Sequence[int]) -> Iterator[Matrix]:
        """Yield rows of given nodes for each layer, weighted and of length 1."""
        raw = self.raw(rows, layers)
        return (normalise_rows(weigh_columns(layer, self.columns)) for layer in raw)

    def raw(self, rows: IntArray, layers: Sequence[int] | None = None) -> Iterator[Matrix]:
        """Yield rows of given nodes for each layer, neither weighted nor normalised.

        Args:
            layers: Layer numbers, ascending; None for all layers.
        """
        numbers = self.all_layers if layers is None else layers
        powers = [layer for layer in numbers if layer in self.powers]
        if powers:
            spread = self.view.propagated(rows, powers[-1])
            yield from (spread[power] for power in powers)
        for layer in numbers[len(powers) :]:
            near = self.beside(rows, layer)
            step = near.hops[0].matrix
            # Use float64 for sparse features, because sums over the many neighbours of a hub need
            # it; dense rows stay in float32.
            yield (_wide(step) if self.view.has_sparse_features else step) @ near.features.matrix

    def beside(self, rows: IntArray, layer: int) -> Neighbourhood:
        """Return the neighbours whose features are added up in a direction layer or in a block.

        Args:
            layer: Layer number that is not in :attr:`powers`.
        """
        if layer in self.layers:
            return self.view.directed(rows, self.directions[layer - len(self.powers)])
        return block_neighbours(self.view, rows, self.blocks[layer - len(self.layers)])

    def lengths(self, rows: IntArray, layers: Sequence[Matrix] | None = None) -> Floats:
        """Return the lengths of the weighted rows before normalisation: layers x rows.

        Args:
            layers: Result of :meth:`raw` for these rows in all layers; None to compute it if
                needed.
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
        # Set this flag last, because other threads read lengths only of rows with this flag.
        self._is_known[places] = True

    def _read_cached(self, rows: IntArray) -> None:
        """Read row lengths from the cache on disk, block by block.

        A missing block is computed and cached if many of its rows are needed.
        """
        blocks, counts = np.unique(rows // BLOCK_ROWS, return_counts=True)
        for block, count in zip(blocks.tolist(), counts.tolist(), strict=True):
            start = block * BLOCK_ROWS
            members = np.arange(start, min(start + BLOCK_ROWS, self.view.num_nodes))
            cached = self.array_cache.get("lengths", block)
            if cached is not None:
                self._know(members, cached["lengths"])
            elif BLOCK_SHARE * count >= members.size:
                self._measure(members)
                self.array_cache.put({"lengths": self._lengths[:, members]}, "lengths", block)


class SpreadRows:
    """Rows of given nodes in all layers, for products with vectors.

    Args:
        features: Layers with the rows of all nodes.
        rows: Row numbers, each once and ascending.
    """

    def __init__(self, features: SpreadFeatures, rows: IntArray) -> None:
        self._features = features
        self._rows = rows
        # Compute dense rows once, for the lengths below and for later products. Sparse rows are not
        # stored, because each hop adds non-zero numbers to them.
        self._dense: list[Any] | None = None
        if not features.view.has_sparse_features:
            self._dense = list(features.raw(rows))
        lengths = features.lengths(rows, self._dense)
        self.present = lengths > 0
        """Whether each row has any non-zero number: layers x nodes."""
        self.factors = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=self.present)
        """Factor that scales each row to length 1; 0 for rows of zeros: layers x nodes."""

    @property
    def are_dense(self) -> bool:
        """Whether rows are dense, so that they were computed and are in memory."""
        return self._dense is not None

    def part(self, places: IntArray | slice) -> "SpreadRows":
        """Return only some of these rows, which must not be sparse."""
        part = copy(self)
        part._rows, part._dense = self._rows[places], [layer[places] for layer in self._dense or ()]
        part.present, part.factors = self.present[:, places], self.factors[:, places]
        return part

    def without_blocks(self) -> "SpreadRows":
        """Return a copy of these rows without the cached rows of block layers."""
        part, count = copy(self), len(self._features.layers)
        part._dense = self._dense[:count] if self._dense else self._dense
        for name in {"_chains", "_formed"} & vars(part).keys():
            vars(part)[name] = vars(part)[name][:count]
        return part

    def dense(self, layer: int) -> Floats:
        """Return the rows of one layer, which must be dense, weighted and of length 1."""
        rows = np.asarray((self._dense or ())[layer], dtype=np.float64)
        dense: Floats = rows * self._features.columns * self.factors[layer][:, None]
        return dense

    @cached_property
    def _formed(self) -> list[list[Any]]:
        return [[_wide(layer)] for layer in self._features.raw(self._rows)]

    @cached_property
    def _chains(self) -> list[list["csr_array[Any]"]]:
        """For each layer, the matrices whose product is its rows; the last of them has features."""
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
        """Yield dense rows in batches that fit into the CPU cache, sparse rows as one batch."""
        count = self._rows.size
        step = PIECE_ROWS if self._dense else max(1, count)
        for start in range(0, count, step):
            part = slice(start, start + step)
            yield part, self.part(part) if self._dense else self

    def products(self, layer: int, vectors: Floats) -> Floats:
        """Return products of vectors with rows before normalisation: nodes x vectors.

        Args:
            vectors: Result of :meth:`SpreadFeatures.weighted`.
        """
        if self._dense:
            return _by_columns(self._dense[layer].astype(np.float64), vectors)
        formed = self._rows.size <= FORMED_ROWS
        for matrix in reversed((self._formed if formed else self._chains)[layer]):
            vectors = matrix @ vectors
        return vectors

    def times(self, layer: int, vectors: Floats) -> Floats:
        """Return products of vectors with the normalised rows of one layer: nodes x vectors."""
        if self._dense:
            rows = self._dense[layer] * self.factors[layer][:, None]
            return _by_columns(rows, vectors)
        products = self.products(layer, vectors)
        products *= self.factors[layer][:, None]
        return products

    def sums(self, layer: int, shares: Floats) -> Floats:
        """Return weighted sums of the normalised rows of one layer: sums x columns.

        Args:
            shares: Weight of each node's row in each sum: nodes x sums.
        """
        product = shares * self.factors[layer][:, None]
        if self._dense:
            product = _by_columns(self._dense[layer].astype(np.float64).T, product)
        else:
            # Do not use the explicitly computed float32 rows here, because a sum must not depend on
            # the batch size.
            for matrix in self._chains[layer]:
                product = matrix.T @ product
        return np.asarray(product.T * self._features.columns)


def _by_columns(left: Floats, right: Floats) -> Floats:
    """Return ``left @ right`` in column-major order, which makes operations on its columns fast."""
    product: Floats = (right.T @ left.T).T
    return product


def _wide(matrix: Matrix) -> "csr_array[Any]":
    return csr_array(matrix, dtype=np.float64)
