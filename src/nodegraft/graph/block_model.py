"""Contextual stochastic block model: random graphs of any size for tests and experiments."""

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
    """Random graphs with homophilous edges, and features that depend on the class.

    All classes have the same number of nodes, or one node more.

    Reference: Deshpande et al. 2018, Contextual stochastic block models.

    >>> graph, labels = BlockModel(nodes=300, classes=8).draw()
    >>> graph.num_nodes, labels
    (300, NodeLabels(8 classes, 300 nodes))
    """

    nodes: PositiveInt = 2000
    """Number of nodes of the graph."""

    classes: PositiveInt = 20
    """Number of classes of nodes, at least 4."""

    homophily: Fraction = 0.8
    """Probability that both nodes of an edge have the same class."""

    degree: NonNegativeFloat = 8.0
    """Mean degree: ``nodes * degree / 2`` edges are drawn, then duplicates are removed."""

    features: PositiveInt = 64
    """Number of feature columns."""

    signal: NonNegativeFloat = 4.0
    """Distance between class means in standard deviations. With sparse features, a fraction
    ``signal / (1 + signal)`` of the words of a node is drawn from a few words that are typical of
    its class.
    """

    sparse: bool = False
    """Whether features are sparse word counts instead of Gaussian numbers."""

    words: PositiveInt = 12
    """Number of words per node, for sparse features only."""

    seed: NonNegativeInt = 0
    """Seed of the random generator for all draws."""

    def draw(self) -> tuple[Graph, NodeLabels]:
        """Draw a random graph with integer keys, and labels for all its nodes."""
        if not 4 <= self.classes <= self.nodes:
            raise ParameterError(f"classes must be from 4 to nodes ({self.nodes}): {self.classes}.")
        seeds = Seeds(self.seed)
        # The class of node ``order[slot]`` is ``slot % classes``, so a slice with a step selects
        # all nodes of a class.
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
        # If the number of classes does not divide the number of nodes, the first classes have one
        # node more.
        sizes: IntArray = (self.nodes - 1 - column) // self.classes + 1
        place: IntArray = (draws.random(count) * sizes).astype(self._rows)
        return source, column + self.classes * place

    def _gaussians(self, ids: IntArray, draws: np.random.Generator) -> Matrix:
        means = draws.standard_normal((self.classes, self.features), dtype=np.float32)
        # Random directions are nearly orthogonal, so class means of this length are ``signal``
        # apart.
        means *= self.signal / np.sqrt(2) / np.linalg.norm(means, axis=1, keepdims=True)
        rows = draws.standard_normal((self.nodes, self.features), dtype=np.float32)
        for start in range(0, self.nodes, _BLOCK):
            rows[start : start + _BLOCK] += means[ids[start : start + _BLOCK]]
        return rows

    def _counts(self, ids: IntArray, draws: np.random.Generator) -> "csr_array[Any]":
        few = max(2, self.features // 16)
        own = draws.integers(self.features, size=(self.classes, few), dtype=np.int32)
        shape = (self.nodes, self.words)
        columns = draws.integers(self.features, size=shape, dtype=np.int32)
        topical = draws.random(shape, dtype=np.float32) < self.signal / (1.0 + self.signal)
        which = draws.integers(few, size=shape, dtype=np.int32)
        columns[topical] = own[ids[:, None], which][topical]
        ends = np.arange(0, columns.size + 1, self.words)
        ones = np.ones(columns.size, dtype=np.float32)
        counts = csr_array((ones, columns.ravel(), ends), shape=(self.nodes, self.features))
        counts.sum_duplicates()
        return counts
