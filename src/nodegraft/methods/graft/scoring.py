"""Scores of nodes: signals weighed and added up one after the other, so that none is kept."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.hashing import content_hash
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.propagation.set_mass import DiffusionTable
from nodegraft.graph.propagation.spread import SpreadRows
from nodegraft.methods.graft.classes import Floats, Known
from nodegraft.methods.graft.signals import FLOOR, Evidence

TOGETHER = 2**13
"""Heat of this many nodes times classes is read at once: it fits into a core's cache."""


@dataclass(frozen=True)
class Scoring:
    """What :meth:`Evidence.signals` gives, weighed and summed, with memory for a few signals."""

    evidence: Evidence
    """The signals."""

    known: Known
    """The classes."""

    weights: Floats
    """Of the signals."""

    def of(self, columns: NDArray[np.int64]) -> "Scoring":
        """Some of the classes: each has the scores that it has among all, but for rounding.

        Args:
            columns: Where they stand.
        """
        return Scoring(self.evidence, self.known.of(columns), self.weights)

    @cached_property
    def hashes(self) -> list[str]:
        """For each class one of all that its scores depend on, beside the graph."""
        known = self.known
        by_layer = [one.hashes() for one in known.vectors]
        if known.typed:
            by_layer.append(known.typed.hashes())
        layers = zip(*by_layer, strict=True)
        times = list(self.evidence.times)
        return [
            content_hash(self.weights, times, start, known.scarcity[[column]], *hashes)
            for column, (start, hashes) in enumerate(zip(known.starts, layers, strict=True))
        ]

    def scores(self, rows: IntArray) -> Floats:
        """Of some nodes, nodes x classes.

        Args:
            rows: Row numbers, each once and ascending.
        """
        evidence, known = self.evidence, self.known
        scores = np.empty((rows.size, known.scarcity.size), order="F")
        scores[:] = self.weights[-1] * known.scarcity
        if known.heat:
            weights = self.weights[: len(evidence.times)]
            add_heat(scores, known.heat, evidence.view.positions(rows), weights)
        for part, near in evidence.features.rows(rows).pieces():
            self._add_similarity(scores[part], near)
        return scores

    def _add_similarity(self, scores: Floats, near: SpreadRows) -> None:
        """What rows say, layer by layer."""
        vectors, fixed = self.known.vectors, self.evidence.num_fixed
        cosines, words = np.split(self.weights[fixed:-1], [len(vectors)])
        shares, worded, regression = [], iter(words), np.zeros_like(scores)
        for one, weight in zip(vectors, cosines, strict=True):
            products, factors = near.products(one.layer, one.vectors), near.factors[one.layer]
            shares.append(weight / one.distances(near, products[:, 0] * factors))
            _add(scores, one.kind(products, 0), shares[-1] * factors)
            if one.has_words:
                _add(scores, one.kind(products, 1), next(worded) * factors)
            if one.has_regression:
                _add(regression, one.kind(products, 1 + one.has_words), factors)
        # Cosines are seen from the centre.
        shifts = np.stack([one.shift for one in vectors])
        scores -= np.stack(shares, axis=1) @ shifts
        typed = self.known.typed
        if self.evidence.ridge:
            _add_log(scores, regression, self.weights[len(self.evidence.times)])
        if typed and self.weights[fixed - 1]:
            _add_log(scores, typed.scores(near), self.weights[fixed - 1])


def _add_log(total: Floats, regression: Floats, weight: float) -> None:
    """Scores in a regression as logarithms, none below that of 0; they are used up."""
    np.maximum(regression, 0.0, out=regression)
    regression += FLOOR
    _add(total, np.log(regression, out=regression), weight)


def _add(total: Floats, part: Floats, factors: Floats | float) -> None:
    """Nodes x classes, each node's numbers times a factor; the part is used up."""
    part *= np.reshape(factors, (-1, 1))
    total += part


def add_heat(scores: Floats, heat: DiffusionTable, nodes: IntArray, weights: Floats) -> None:
    """Add the weighted logarithms of each node's share of the heat.

    Args:
        scores: Nodes x classes; they are changed.
        heat: Heat from the labels of each class.
        nodes: Node numbers, each once and ascending.
        weights: One for each diffusion time.
    """
    # Weights of single stages may be 0.
    used = np.flatnonzero(weights)
    weights, even = weights[used], heat.num_nodes / heat.totals[used]
    # Many classes at once for few nodes, few classes for many.
    together = max(1, TOGETHER // max(1, nodes.size))
    for start in range(0, scores.shape[1], together):
        sets = slice(start, start + together)
        shares = heat.at(nodes, sets)[:, used] * even.T[sets, :, None]
        shares += FLOOR
        scores[:, sets] += (weights @ np.log(shares, out=shares)).T
