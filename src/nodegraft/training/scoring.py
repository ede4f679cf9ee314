"""Scores of nodes: signals weighed and added up one after the other, so that none is kept."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.hashing import content_hash
from nodegraft.graph.algebra.diffusion import WalkTable
from nodegraft.graph.algebra.matrix import IntArray
from nodegraft.graph.algebra.panels import times_columns
from nodegraft.graph.spread import SpreadRows
from nodegraft.training.evidence import FLOOR, Evidence
from nodegraft.training.taught import Floats, Known

TOGETHER = 2**13
"""Walks of so many nodes times classes are looked at together: they stay in a core's cache."""


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
        """Some of the classes: each has the scores that it has among all, to the bit.

        Args:
            columns: Where they stand.
        """
        return Scoring(self.evidence, self.known.of(columns), self.weights)

    @cached_property
    def hashes(self) -> list[str]:
        """For each class one of all that its scores depend on, beside the graph."""
        known = self.known
        layers = zip(*(one.hashes() for one in known.vectors), strict=True)
        restarts = list(self.evidence.restarts)
        return [
            content_hash(self.weights, restarts, start, known.scarcity[[column]], *vectors)
            for column, (start, vectors) in enumerate(zip(known.starts, layers, strict=True))
        ]

    def scores(self, rows: IntArray) -> Floats:
        """Of some nodes, nodes x classes.

        Args:
            rows: Row numbers, each once and ascending.
        """
        evidence, known = self.evidence, self.known
        scores = np.empty((rows.size, known.scarcity.size), order="F")
        restarts = self.weights[: len(evidence.restarts)]
        scores[:] = self.weights[-1] * known.scarcity + _unreached(restarts)
        if known.walks:
            add_walks(scores, known.walks, evidence.view.positions(rows), restarts)
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
        scores -= times_columns(np.stack(shares, axis=1), shifts)
        if fixed > len(self.evidence.restarts):
            np.maximum(regression, 0.0, out=regression)
            regression += FLOOR
            _add(scores, np.log(regression, out=regression), self.weights[fixed - 1])


def _add(total: Floats, part: Floats, factors: Floats | float) -> None:
    """Nodes x classes, each node's numbers times a factor; the part is used up."""
    part *= np.reshape(factors, (-1, 1))
    total += part


def _unreached(weights: Floats) -> float:
    """What walks say of a node that none of them comes to."""
    return float(np.log(FLOOR) * weights[weights != 0].sum())


def add_walks(scores: Floats, walks: WalkTable, nodes: IntArray, weights: Floats) -> None:
    """What walks say, of nodes that they come to.

    Args:
        scores: Nodes x classes, as of nodes that no walk comes to; they are added to.
        walks: Where walks from the labels come to.
        nodes: The nodes, each once and ascending.
        weights: One for each chance that a walk ends.
    """
    # Practice finds some worth nothing.
    used = np.flatnonzero(weights)
    weights, even = weights[used], walks.num_nodes / walks.totals[used]
    unreached = _unreached(weights)
    if not walks.meets_all:
        for column, (places, mass) in enumerate(walks.met(nodes)):
            shares = mass[used] * even[:, column, None]
            shares += FLOOR
            scores[places, column] += weights @ np.log(shares, out=shares) - unreached
        return
    # Of few nodes many classes at once, of many few: each is multiplied as if it were alone.
    some = max(1, TOGETHER // max(1, nodes.size))
    for start in range(0, scores.shape[1], some):
        sets = slice(start, start + some)
        shares = walks.everywhere(nodes, sets)[:, used] * even.T[sets, :, None]
        shares += FLOOR
        scores[:, sets] += (weights @ np.log(shares, out=shares) - unreached).T
