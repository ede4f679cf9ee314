"""Graft: class means hop by hop and walks from the labels, mixed into one calibrated score."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add, or_
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack
from torch import Tensor

from nodegraft.base.parameters.constraints import NonNegativeInt, OpenFraction, PositiveInt
from nodegraft.episodes.mixed import MixedEpisode, mixed_episodes, queried_nodes
from nodegraft.graph.algebra.matrix import (
    IntArray,
    Matrix,
    is_sparse,
    normalise_rows,
    take_rows,
    weigh_columns,
)
from nodegraft.graph.keys import hash_order
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.memory.class_sums import ClassSums
from nodegraft.model.learned import learned
from nodegraft.model.method import Method
from nodegraft.nn.confidence import (
    ALWAYS_KNOWN,
    UNCALIBRATED,
    calibrated_probabilities,
    known_class_probability,
)
from nodegraft.nn.linear.centred_cosine import centred_cosines, cosine_contributions
from nodegraft.nn.linear.loglinear import Signals
from nodegraft.streams.curriculum import Curriculum
from nodegraft.training.practice import Calibration, PracticeRound, calibrate

FLOOR = 0.1
"""Added to a node's share of a class's walks: not being reached is a hint, not a proof."""

PLENTY = 100
"""Labels from which on a class is hardly scored as a new one any more."""

SIMILARITY, WALKS, FEW_LABELS = 20.0, 0.6, 0.4
"""Weights where there is nothing to practise on: about what four real graphs came to."""


@dataclass(frozen=True)
class _Known:
    """What signals are made from: sums of classes, and the rows that their walks start from."""

    sums: ClassSums
    starts: tuple[IntArray, ...]

    def take(self, columns: NDArray[np.int64]) -> "_Known":
        return _Known(self.sums.take(columns), tuple(self.starts[column] for column in columns))

    def __or__(self, others: "_Known") -> "_Known":
        return _Known(self.sums | others.sums, self.starts + others.starts)

    @property
    def scarcity(self) -> NDArray[np.float64]:
        return np.log1p(PLENTY / self.sums.counts)


@dataclass(kw_only=True)
class Graft(Method):
    r"""Nothing is trained but a handful of weights:

    .. math:: s_{ic} = \sum_{h=0}^{H} w_h \cos(z_i^h - \mu^h, p_c^h - \mu^h)
        + v \log\Bigl(\frac{m_{ic}}{u_c} + 0.1\Bigr) + b \log\Bigl(1 + \frac{100}{n_c}\Bigr)

    :math:`z^h` are rows of :math:`S^h X`, words weighted by how rare they are, of length 1;
    :math:`p_c^h` their means over the :math:`n_c` labels of a class; :math:`\mu^h` the mean of the
    first classes' means. :math:`m_c` is the mass of walks that start at the class's labels and
    return there (personalised PageRank), :math:`u_c` its mean over all nodes. The last term makes
    up for few labels: the mean of five nodes lies further from everybody than that of five hundred.

    The weights :math:`w, v \ge 0` and :math:`b` are those under which known classes, some of them
    played with few labels, are most likely (:mod:`nodegraft.episodes.mixed`). They say how much
    text, neighbours and position are worth on this graph, and scale the score to log-odds. What
    arrives later only adds to sums: nothing is passed over, nobody else's numbers move.
    """

    hops: NonNegativeInt = 2
    """How far features are spread along edges (:math:`H`); 0 looks at a node's own features only.
    Each hop costs a pass over all edges once per graph."""

    restart: OpenFraction = 0.3
    """The chance that a walk ends at each step: smaller values look further away."""

    kept_labels: PositiveInt = 1000
    """Walks start from at most so many labels of a class, drawn by the hash of their keys."""

    rare_words: bool = True
    """Whether sparse columns weigh more the fewer nodes have them; dense ones weigh alike."""

    walks: bool = True
    """Whether where a node sits in the graph counts."""

    few_labels: bool = True
    """Whether classes with few labels are made up for looking further away."""

    practise: bool = True
    """Whether the weights are fitted on known classes; else fixed ones are taken."""

    rarity_: NDArray[np.float32] = learned()
    """The weight of every feature column."""

    memory_: dict[str, Tensor] = learned()
    """The sums of the classes' labels."""

    centre_: NDArray[np.float64] = learned()
    """The mean of the first classes' means, all hops side by side."""

    weights_: NDArray[np.float64] = learned()
    """Of the hops, of the walks and of few labels."""

    confidence_: NDArray[np.float64] = learned()
    """How scores become calibrated probabilities."""

    open_set_: NDArray[np.float64] = learned()
    """How scores become the chance of being of a known class at all."""

    name: ClassVar[str] = "graft"
    summary: ClassVar[str] = "class means by hop, walks from the labels; closed form, calibrated"
    reversible: ClassVar[bool] = True
    block_rows: ClassVar[int] = 4096

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Sum up the known classes, then practise how much each part of the score is worth."""
        self.rarity_ = _rarity(view, self.rare_words)
        self.listener.step("spread features along edges", 0, 1)
        view.propagated(np.zeros(0, dtype=np.int64), self.hops)
        self.listener.step("spread features along edges", 1, 1)
        memory = self._remember(view, curriculum.train)
        self.memory_ = memory.to_tensors()
        self.centre_ = memory.means.mean(axis=0)
        learned = self._practise(view, curriculum, memory)
        self.weights_, self.confidence_ = learned.weights, learned.confidence
        self.open_set_ = learned.open_set

    def learn_classes(self, view: GraphView, support: NodeLabels) -> None:
        """One more sum for each class."""
        self.memory_ = (self._sums() | self._remember(view, support)).to_tensors()

    def learn_labels(
        self, view: GraphView, support: NodeLabels, columns: NDArray[np.int64]
    ) -> None:
        """Add to the sums of known classes."""
        memory = self._sums()
        others = np.setdiff1d(np.arange(memory.counts.size), columns)
        merged = memory.take(others) | (memory.take(columns) + self._remember(view, support))
        back = np.argsort(np.concatenate((others, columns)))
        self.memory_ = merged.take(back).to_tensors()

    def keep_classes(self, columns: NDArray[np.int64]) -> None:
        """Drop the other sums: what is left is as it was before they came."""
        self.memory_ = self._sums().take(columns).to_tensors()

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """The weighted sum of all signals."""
        known = self._known_on(view)
        signals = self._signals(view, rows, self._layers(view, rows), known, self.centre_)
        return np.tensordot(self.weights_, signals, 1)

    def probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Calibrated on known classes, some of them played with few labels."""
        scarcity = _Known(self._sums(), ()).scarcity
        return calibrated_probabilities(super().probabilities(scores), scarcity, self.confidence_)

    def known_class_probability(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """By the best score, against nodes of classes left out of practice."""
        return known_class_probability(scores, self.open_set_)

    def check_learned(self) -> None:
        """One sum for each class, and a weight for each signal."""
        self._sums().check(len(self.classes_), self.centre_.size)
        signals = self.hops + 1 + self.walks + 1
        if self.weights_.shape != (signals,) or self.centre_.size != self.rarity_.size * (
            self.hops + 1
        ):
            raise ValueError(f"there must be {signals} weights, and a centre for each hop")

    def embedding(self, view: GraphView, rows: NDArray[np.int64]) -> Matrix:
        """The rows of all hops side by side, each of length 1."""
        layers = self._layers(view, rows)
        return csr_array(hstack(layers)) if is_sparse(layers[0]) else np.hstack(layers)

    def explain_node(self, view: GraphView, row: int) -> dict[str, Any]:
        """What spoke for the answer and for the runner-up, and the labels that contributed most.

        ``for`` and ``for_runner_up`` add up to the two scores. Each label has its share of what
        similarity gave to the answer, and of what walks gave beyond an unreached node's score.
        """
        node, known = np.array([row]), self._known_on(view)
        layers = self._layers(view, node)
        parts = self.weights_ * self._signals(view, node, layers, known, self.centre_)[:, 0].T
        scores = parts.sum(axis=1)
        shares = self.probabilities(scores[None])[0]
        first, *rest = np.argsort(-scores, kind="stable").tolist()
        second = rest[0] if rest else first
        names = [
            *("own features" if hop == 0 else f"features {hop} away" for hop in range(len(layers))),
            *(["walks"] if self.walks else []),
            "few labels",
        ]
        labels = known.starts[first]
        similar, walked = self._contributions(view, node, layers, known, first)
        most = np.argsort(-(similar + walked), kind="stable")[:5]
        return {
            "answer": self.classes_[first],
            "probability": float(shares[first]),
            "runner_up": self.classes_[second],
            "runner_up_probability": float(shares[second]),
            "signals": [
                {"signal": name, "for": float(own), "for_runner_up": float(other)}
                for name, own, other in zip(names, parts[first], parts[second], strict=True)
            ],
            "labels": [
                {"node": key, "similarity": float(near), "walks": float(far)}
                for key, near, far in zip(
                    view.keys_of(labels[most]), similar[most], walked[most], strict=True
                )
            ],
        }

    def _contributions(
        self,
        view: GraphView,
        node: NDArray[np.int64],
        layers: Sequence[Matrix],
        known: _Known,
        column: int,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Of each label of one class, to similarity and to walks."""
        labels, count = known.starts[column], known.sums.counts[column]
        means = np.split(known.sums.take(np.array([column])).means[0], len(layers))
        middles = np.split(self.centre_, len(layers))
        near = self._layers(view, labels.astype(np.int64))
        similar = sum(
            weight * cosine_contributions(own, examples, mean, middle) / count
            for weight, own, examples, mean, middle in zip(
                self.weights_, layers, near, means, middles, strict=False
            )
        )
        if not self.walks:
            return np.asarray(similar), np.zeros(labels.size)
        mass = view.diffused([node], labels, self.restart)[:, 0]
        reached = view.diffused([labels], node, self.restart)[0, 0]
        gain = self.weights_[len(layers)] * np.log(reached / FLOOR + 1.0)
        return np.asarray(similar), gain * mass / max(float(mass.sum()), 1e-12)

    def _sums(self) -> ClassSums:
        return ClassSums.from_tensors(self.memory_)

    def _known_on(self, view: GraphView) -> _Known:
        """All known classes, with the rows of their labels in this graph."""
        labels = self.labels_.on(view, self.kept_labels)
        return _Known(self._sums(), tuple(map(np.sort, labels.values())))

    def _starts(self, view: GraphView, labels: NodeLabels) -> tuple[IntArray, ...]:
        """The rows that walks of labels start from: of a large class those of the first hashes."""
        kept = [
            rows
            if rows.size <= self.kept_labels
            else rows[hash_order(view.key_array_of(rows))[: self.kept_labels]]
            for rows in labels.values()
        ]
        return tuple(map(np.sort, kept))

    def _layers(self, view: GraphView, rows: NDArray[np.int64]) -> list[Matrix]:
        layers = view.propagated(rows, self.hops)
        return [normalise_rows(weigh_columns(layer, self.rarity_)) for layer in layers]

    def _remember(self, view: GraphView, labels: NodeLabels) -> ClassSums:
        if labels.num_nodes <= self.block_rows:
            counts = np.array([rows.size for rows in labels.values()], dtype=np.int64)
            return ClassSums.of(self.embedding(view, labels.rows()), counts)
        if len(labels) > 1:
            return reduce(or_, self._one_by_one(view, labels))
        [(name, rows)] = labels.items()
        blocks = np.split(rows, range(self.block_rows, rows.size, self.block_rows))
        return reduce(add, (self._remember(view, NodeLabels({name: block})) for block in blocks))

    def _one_by_one(self, view: GraphView, labels: NodeLabels) -> Iterator[ClassSums]:
        for done, name in enumerate(labels, start=1):
            yield self._remember(view, labels.select([name]))
            self.listener.step("sum up classes", done, len(labels))

    def _signals(
        self,
        view: GraphView,
        rows: NDArray[np.int64],
        layers: Sequence[Matrix],
        known: _Known,
        centre: NDArray[np.float64],
    ) -> Signals:
        means = np.split(known.sums.means, len(layers), axis=1)
        middles = np.split(centre, len(layers))
        signals = [
            centred_cosines(layer, mean, middle)
            for layer, mean, middle in zip(layers, means, middles, strict=True)
        ]
        if self.walks:
            signals.append(np.log(view.diffused(known.starts, rows, self.restart) + FLOOR))
        scarcity = known.scarcity if self.few_labels else np.zeros(known.sums.counts.size)
        return np.stack([*signals, np.broadcast_to(scarcity, signals[0].shape)])

    def _practise(self, view: GraphView, curriculum: Curriculum, memory: ClassSums) -> Calibration:
        train, held_out = curriculum.without_pseudo_novel.for_early_stopping(self.seeds)
        shots = 1, curriculum.shots
        episodes = list(mixed_episodes(train, held_out, shots, self.seeds)) if self.practise else []
        if episodes:
            if not len(curriculum.held_out):
                # Some labels were set aside to be asked about: they must not teach as well.
                memory = self._remember(view, train)
            known = _Known(memory, self._starts(view, train))
            rounds = list(self._rounds(view, train.classes, known, episodes))
            return calibrate(rounds, self.listener)
        hops = [SIMILARITY / (self.hops + 1)] * (self.hops + 1)
        weights = [*hops, *([WALKS] if self.walks else []), FEW_LABELS]
        return Calibration(np.array(weights), UNCALIBRATED, ALWAYS_KNOWN)

    def _rounds(
        self,
        view: GraphView,
        classes: Sequence[str],
        known: _Known,
        episodes: Sequence[MixedEpisode],
    ) -> Iterator[PracticeRound]:
        rows = queried_nodes(episodes)
        layers = self._layers(view, rows)
        column = {name: place for place, name in enumerate(classes)}
        for done, episode in enumerate(episodes, start=1):
            many, few = episode.tasks
            full = known.take(np.array([column[name] for name in many]))
            taught = full
            if few:
                taught = full | _Known(self._remember(view, few), self._starts(view, few))
            centre = full.sums.means.mean(axis=0)
            signals, unknown = (
                self._signals(
                    view,
                    nodes,
                    [take_rows(layer, np.searchsorted(rows, nodes)) for layer in layers],
                    taught,
                    centre,
                )
                for nodes in (episode.query.rows(), episode.unknown)
            )
            self.listener.step("practise on known classes", done, len(episodes))
            yield PracticeRound(signals, episode.targets, taught.scarcity, unknown)


def _rarity(view: GraphView, wanted: bool) -> NDArray[np.float32]:
    """Inverse document frequencies of sparse features; dense columns weigh alike."""
    nobody = np.zeros(0, dtype=np.int64)
    if not (wanted and is_sparse(view.features(nobody))):
        return np.ones(view.num_features, dtype=np.float32)
    features = csr_array(view.features(view.rows))
    counts = np.bincount(features.indices[features.data != 0], minlength=view.num_features)
    rarity: NDArray[np.float64] = np.log((1 + view.num_nodes) / (1 + counts)) + 1
    return rarity.astype(np.float32)
