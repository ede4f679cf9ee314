"""Node scores: weighted sums of signals, derived from labels and graph, with a cache on disk."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.files.bundle import Arrays
from nodegraft.base.hashing import content_hash
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.growth.rows_view import RowsView
from nodegraft.graph.stores import ArrayCache
from nodegraft.methods.graft.classes import ClassVectors, Floats, LabelledClasses
from nodegraft.methods.graft.confidence import (
    class_shares,
    known_class_probability,
    share_of_known_classes,
)
from nodegraft.methods.graft.evidence import Evidence
from nodegraft.methods.graft.practice import Mixture
from nodegraft.methods.graft.signals import Signal
from nodegraft.methods.linear.loglinear import Signals


@dataclass(frozen=True)
class Scoring:
    """Weighted sum of signals, computed with memory for one signal at a time.

    Args:
        evidence: Evidence, which computes the signals.
        classes: Vectors of the scored classes.
        weights: Weight of each signal.
    """

    evidence: Evidence
    classes: ClassVectors
    weights: Floats

    def of(self, columns: NDArray[np.int64]) -> "Scoring":
        """Return the scoring of some classes only; scores may change by rounding."""
        return replace(self, classes=self.classes.of(columns))

    @cached_property
    def hashes(self) -> list[str]:
        """For each class, a hash of everything that its scores depend on except the graph."""
        names = [signal.name for signal in self.evidence.signals]
        return [content_hash(self.weights, names, digest) for digest in self.classes.hashes()]

    def scores(self, rows: IntArray) -> Floats:
        """Compute scores: nodes x classes.

        Args:
            rows: Row numbers of the nodes, ascending and without duplicates.
        """
        scores = np.zeros((rows.size, self.classes.scarcity.size))
        used, classes = self._weighted_signals
        for part, piece in self.evidence.nodes(rows).pieces():
            total = np.zeros((len(piece), scores.shape[1]), order="F")
            for signal, weight in used:
                values = signal.values(piece, classes)
                values *= weight
                total += values
            scores[part] = total
        return scores

    @cached_property
    def _weighted_signals(self) -> tuple[list[tuple[Signal, float]], ClassVectors]:
        """Signals whose weight is not 0, and the class vectors that they need."""
        weighted = zip(self.evidence.signals, self.weights.tolist(), strict=True)
        used = [(signal, weight) for signal, weight in weighted if weight]
        needed = {(signal.kind, signal.place if signal.uses_means else None) for signal, _ in used}
        vectors = {
            kind: {
                layer: part
                for layer, part in layers.items()
                if needed & {(kind, layer), (kind, None)}
            }
            for kind, layers in self.classes.vectors.items()
        }
        return used, replace(self.classes, vectors=vectors)

    def cached_scores(self, rows: IntArray, block_rows: int) -> Floats:
        """Return scores like :meth:`scores`, with whole blocks of nodes cached on disk.

        Results may differ by rounding. A cached block has one column for each class, with the hash
        of the column's inputs as key, and the same number of older columns. So two versions can
        alternately use the cache, an undo finds the old columns, and after a change only the
        affected classes are scored again.

        Args:
            rows: Row numbers of the nodes, ascending and without duplicates.
        """
        cache, nodes = self.evidence.features.array_cache, self.evidence.view.num_nodes
        if not (cache.keeps and _is_block(rows, block_rows, nodes)):
            return self.scores(rows)
        place = "scores", block_rows, int(rows[0])
        columns = _columns(cache.get(*place))
        missing = np.array([at for at, name in enumerate(self.hashes) if name not in columns])
        if missing.size:
            scores = self.of(missing).scores(rows)
            columns |= {self.hashes[column]: scores[:, at] for at, column in enumerate(missing)}
            _store(cache, place, self.hashes, columns)
        return np.stack([columns[name] for name in self.hashes]).T


@dataclass(frozen=True)
class Derivation:
    """Scoring of a model's classes on one graph, and shares of classes among unlabelled nodes.

    Args:
        evidence: Evidence, which computes the signals.
        classes: Classes in the order of their names.
        columns: Position of each class of the model in ``classes``.
        scoring: Scoring of the classes in the model's order.
        shares: Estimated share of each class among unlabelled nodes, in the model's order.
        share_of_known: Estimated share of unlabelled nodes that belong to a known class.
    """

    evidence: Evidence
    classes: LabelledClasses
    columns: NDArray[np.int64]
    scoring: Scoring
    shares: Floats
    share_of_known: float

    def for_rows(self, view: RowsView) -> "Derivation":
        """Return the derivation for rows that are not in the graph, with the same classes."""
        evidence, classes = self.evidence.for_rows(view), self.scoring.classes
        heat = None if classes.heat is None else classes.heat.with_rows(*view.neighbour_means())
        scoring = replace(self.scoring, evidence=evidence, classes=replace(classes, heat=heat))
        return replace(self, evidence=evidence, scoring=scoring)

    def values(self, rows: IntArray) -> Signals:
        """Return the values of all signals, with classes in the model's order.

        Args:
            rows: Row numbers of the nodes, ascending and without duplicates.
        """
        return self.evidence.values(self.evidence.nodes(rows), self.scoring.classes)


def derive(
    evidence: Evidence,
    labels: Mapping[str, IntArray],
    counts: NDArray[np.int64],
    is_first: NDArray[np.bool_],
    labelled: IntArray,
    stages: Sequence[Mixture],
    *,
    refine: bool,
    lasting: bool,
) -> Derivation:
    """Refine class means in each stage, and return the resulting scoring of all classes.

    The result does not depend on the order in which classes were added.

    Args:
        labels: Row numbers of the labels used for each class, by class name.
        counts: Number of labels of each class, including unused ones.
        is_first: Whether each class was known at ``fit``.
        stages: Weights and open-set coefficients of each stage.
        lasting: Whether to cache heat on disk for later processes.
    """
    # Import scipy only here, because its import is slow.
    from scipy.special import softmax

    names = list(labels)
    order = np.argsort(np.array(names), kind="stable")
    # If all first classes were removed, use all classes instead, so that their order has no effect.
    first = np.flatnonzero(is_first[order] if is_first.any() else np.ones_like(is_first))
    rows = [labels[names[column]] for column in order]
    classes = evidence.labelled(rows, counts[order], first)
    vectors = evidence.class_vectors(classes, lasting)
    weights, sample = stages[-1].weights, evidence.sample(labelled)
    if refine and classes.few.size:
        pool = evidence.pool(classes, sample, labelled)
        nodes, is_sampled = evidence.nodes(pool), np.isin(pool, sample)
        values = evidence.values(nodes, vectors)
        scores = [np.tensordot(stages[0].weights, values, 1)]
        for before, stage in pairwise(stages):
            classes = evidence.refined(classes, nodes, scores[-1], before.open_set)
            evidence.refresh(evidence.signals, values, nodes, classes)
            scores.append(np.tensordot(stage.weights, values, 1))
        initial, final = scores[0][is_sampled], scores[-1][is_sampled]
        vectors = evidence.class_vectors(classes, lasting)
    else:
        initial = final = Scoring(evidence, vectors, stages[0].weights).scores(sample)
        # Stages without refinement or practice have equal weights; compute their scores only once.
        if not np.array_equal(stages[0].weights, weights):
            final = Scoring(evidence, vectors, weights).scores(sample)
    columns = np.argsort(order)
    scoring = Scoring(evidence, vectors.of(columns), weights)
    shares = class_shares(softmax(final, axis=1))[columns]
    # Use the first stage, because nodes of unknown classes have not affected its means.
    chances = known_class_probability(initial, stages[0].open_set)
    share = share_of_known_classes(chances) if stages[0].open_set[0] > 0 else 0.5
    return Derivation(evidence, classes, columns, scoring, shares, share)


def _is_block(rows: IntArray, block_rows: int, nodes: int) -> bool:
    if not rows.size or rows[0] % block_rows:
        return False
    last = min(rows[0] + block_rows, nodes) - 1
    return bool(rows[-1] == last and rows.size == last + 1 - rows[0])


def _columns(block: Arrays | None) -> dict[str, Floats]:
    if block is None:
        return {}
    return dict(zip((bytes(name).hex() for name in block["names"]), block["scores"], strict=True))


def _store(
    cache: ArrayCache,
    place: tuple[str, int, int],
    needed: Sequence[str],
    columns: dict[str, Floats],
) -> None:
    """Cache the needed columns, and the same number of other columns: those used most recently."""
    others = [name for name in columns if name not in set(needed)]
    names = [*dict.fromkeys(needed), *others[: len(needed)]]
    digests = np.stack([np.frombuffer(bytes.fromhex(name), dtype=np.uint8) for name in names])
    cache.put({"names": digests, "scores": np.stack([columns[name] for name in names])}, *place)
