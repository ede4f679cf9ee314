"""A contextual stochastic block model of any size: graphs to try things on."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from nodegraft.base.errors import ParameterError
from nodegraft.base.parameters.constraints import (
    Fraction,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveInt,
)
from nodegraft.base.seeds import Seeds
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.matrix import IntArray, Matrix, index_type
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import NodeKeys
from nodegraft.graph.labels import NodeLabels

_BLOCK = 1 << 18


@dataclass(kw_only=True)
class BlockModel:
    r"""Classes of equal size, edges within and between them, features around class means.

    Deshpande et al. 2018, Contextual stochastic block models.

    >>> graph, labels = BlockModel(nodes=300, classes=8).draw()
    >>> graph.num_nodes, labels
    (300, NodeLabels(8 classes, 300 nodes))
    """

    nodes: PositiveInt = 2000
    """How many nodes."""

    classes: PositiveInt = 20
    """How many classes, at least 4."""

    homophily: Fraction = 0.8
    """The chance that an edge ends within the class it starts from; else in one of the others."""

    degree: NonNegativeFloat = 8.0
    """``nodes * degree / 2`` edges are drawn; repeated ones count once."""

    features: PositiveInt = 64
    """How many columns a feature row has."""

    signal: NonNegativeFloat = 4.0
    """How far class means lie apart, in standard deviations; of sparse features a share
    ``signal / (1 + signal)`` of the words is from the class's own few."""

    sparse: bool = False
    """Whether features are counts of drawn words instead of Gaussian."""

    words: PositiveInt = 12
    """How many words a node has, where features are sparse."""

    seed: NonNegativeInt = 0
    """Draws everything."""

    def draw(self) -> tuple[Graph, NodeLabels]:
        """Draw a graph with integer keys, and the class of each node."""
        if not 4 <= self.classes <= self.nodes:
            raise ParameterError(f"classes must be from 4 to nodes ({self.nodes}): {self.classes}.")
        seeds = Seeds(self.seed)
        # Node ``order[slot]`` has class ``slot % classes``, so a slice with a step selects a class.
        order = seeds.generator("order").permutation(np.arange(self.nodes, dtype=self._rows))
        ids = np.empty(self.nodes, dtype=np.int32)
        ids[order] = np.arange(self.nodes) % self.classes
        source, target = self._slots(seeds.generator("edges"))
        adjacency = Adjacency.from_edges(order[source], order[target], self.nodes)
        draw = self._counts if self.sparse else self._gaussians
        features = draw(ids, seeds.generator("features"))
        graph = Graph.from_parts(NodeKeys(np.arange(self.nodes)), features, adjacency)
        return graph, NodeLabels.from_numbers(ids)

    @property
    def _rows(self) -> type[np.int32] | type[np.int64]:
        return index_type(self.nodes)

    def _slots(self, draws: np.random.Generator) -> tuple[IntArray, IntArray]:
        count = round(self.nodes * self.degree / 2)
        source = draws.integers(self.nodes, size=count, dtype=self._rows)
        step = draws.integers(1, self.classes, size=count, dtype=np.int32)
        step[draws.random(count, dtype=np.float32) < self.homophily] = 0
        column = (source % self.classes + step) % self.classes
        # The first classes have one member more where the numbers do not divide.
        sizes: IntArray = (self.nodes - 1 - column) // self.classes + 1
        place: IntArray = (draws.random(count) * sizes).astype(self._rows)
        return source, column + self.classes * place

    def _gaussians(self, ids: IntArray, draws: np.random.Generator) -> Matrix:
        means = draws.standard_normal((self.classes, self.features), dtype=np.float32)
        # Random directions are nearly orthogonal, so this length puts ends ``signal`` apart.
        means *= self.signal / np.sqrt(2) / np.linalg.norm(means, axis=1, keepdims=True)
        rows = draws.standard_normal((self.nodes, self.features), dtype=np.float32)
        for start in range(0, self.nodes, _BLOCK):
            rows[start : start + _BLOCK] += means[ids[start : start + _BLOCK]]
        return rows

    def _counts(self, ids: IntArray, draws: np.random.Generator) -> "csr_array[Any]":
        few = max(2, self.features // 16)
        own = draws.integers(self.features, size=(self.classes, few), dtype=np.int32)
        shape = (self.nodes, self.words)
        drawn = draws.integers(self.features, size=shape, dtype=np.int32)
        topical = draws.random(shape, dtype=np.float32) < self.signal / (1.0 + self.signal)
        which = draws.integers(few, size=shape, dtype=np.int32)
        drawn[topical] = own[ids[:, None], which][topical]
        ends = np.arange(0, drawn.size + 1, self.words)
        ones = np.ones(drawn.size, dtype=np.float32)
        counts = csr_array((ones, drawn.ravel(), ends), shape=(self.nodes, self.features))
        counts.sum_duplicates()
        return counts
