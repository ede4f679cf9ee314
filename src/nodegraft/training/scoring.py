"""Scores of nodes: signals weighed and added up one after the other, so that none is kept."""

from dataclasses import dataclass

import numpy as np

from nodegraft.graph.algebra.diffusion import WalkTable
from nodegraft.graph.algebra.matrix import IntArray
from nodegraft.graph.spread import SpreadRows
from nodegraft.training.evidence import FLOOR, Evidence, Floats, Known


@dataclass(frozen=True)
class Scoring:
    """What :meth:`Evidence.signals` gives, weighed and summed, in memory for a few signals."""

    evidence: Evidence
    """The signals."""

    known: Known
    """The classes."""

    weights: Floats
    """Of the signals."""

    def scores(self, rows: IntArray) -> Floats:
        """Of some nodes, nodes x classes.

        Args:
            rows: Row numbers, each once and ascending.
        """
        evidence, known = self.evidence, self.known
        scores = np.repeat(self.weights[-1] * known.scarcity[None], rows.size, axis=0)
        if known.walks:
            restarts = self.weights[: len(evidence.restarts)]
            add_walks(scores, known.walks, evidence.view.positions(rows), restarts)
        for part, near in evidence.features.rows(rows).pieces():
            self._add_similarity(scores[part], near)
        return scores

    def _add_similarity(self, scores: Floats, near: SpreadRows) -> None:
        """What rows say, layer by layer."""
        evidence, regression = self.evidence, np.zeros(scores.shape)
        similar = self.weights[evidence.num_fixed :]
        words = iter(similar[len(evidence.layers) :])
        for vectors, weight in zip(self.known.vectors, similar, strict=False):
            found = vectors.compared(near)
            scores += np.multiply(found.cosines, weight, out=found.cosines)
            if found.words is not None:
                scores += np.multiply(found.words, next(words), out=found.words)
            if found.regression is not None:
                regression += found.regression
        if evidence.num_fixed > len(evidence.restarts):
            np.maximum(regression, 0.0, out=regression)
            regression += FLOOR
            np.log(regression, out=regression)
            regression *= self.weights[evidence.num_fixed - 1]
            scores += regression


def add_walks(scores: Floats, walks: WalkTable, nodes: IntArray, weights: Floats) -> None:
    """What walks say, class by class: only nodes that walks come to are looked at.

    Args:
        scores: Nodes x classes; they are added to.
        walks: Where walks from the labels come to.
        nodes: The nodes, each once and ascending.
        weights: One for each chance that a walk ends.
    """
    # Practice finds some worth nothing.
    used = np.flatnonzero(weights)
    weights, even = weights[used], walks.num_nodes / walks.totals[used]
    unreached = np.log(FLOOR) * weights.sum()
    scores += unreached
    for column in range(scores.shape[1]):
        places, mass = walks.met(column, nodes)
        shares = mass[used] * even[:, column, None]
        shares += FLOOR
        scores[places, column] += weights @ np.log(shares, out=shares) - unreached
