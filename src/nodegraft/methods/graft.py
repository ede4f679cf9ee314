"""Graft: class means hop by hop and walks from the labels, mixed into one calibrated score."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add, or_
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack
from scipy.special import softmax

from nodegraft.episodes.mixed import MixedEpisode, asked, mixed_episodes
from nodegraft.graph.labels import Labelled
from nodegraft.graph.matrix import Matrix, is_sparse, normalise_rows, take_rows, weigh_columns
from nodegraft.graph.stream import Curriculum
from nodegraft.graph.view import GraphView
from nodegraft.memory.class_sums import ClassSums
from nodegraft.methods.base import Method
from nodegraft.nn.centred_cosine import centred_cosines, cosine_shares
from nodegraft.nn.confidence import EVERYONE, UNCHANGED, confident, familiar
from nodegraft.nn.loglinear import Signals
from nodegraft.training.practice import Judgement, Round, practise

FLOOR = 0.1
"""Added to a node's share of a class's walks: not being reached is a hint, not a proof."""

PLENTY = 100
"""Labels from which on a class is hardly judged as a new one any more."""

SIMILARITY, WALKS, FEW_LABELS = 20.0, 0.6, 0.4
"""Weights where there is nothing to practise on: about what four real graphs came to."""


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

    hops: int = 2
    restart: float = 0.3
    kept_labels: int = 1000
    rare_words: bool = True
    walks: bool = True
    few_labels: bool = True
    practise: bool = True

    name: ClassVar[str] = "graft"
    summary: ClassVar[str] = "class means by hop, walks from the labels; closed form, calibrated"
    block_rows: ClassVar[int] = 4096

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Sum up the known classes, then practise how much each part of the score is worth."""
        self.rarity_ = _rarity(view, self.rare_words)
        memory = self._remember(view, curriculum.train)
        self.memory_ = memory.to_tensors()
        self.centre_ = memory.means.mean(axis=0)
        learned = self._practise(view, curriculum, memory)
        self.weights_, self.confidence_ = learned.weights, learned.confidence
        self.familiarity_ = learned.familiarity

    def learn_classes(self, view: GraphView, support: Labelled) -> None:
        """One more sum for each class."""
        self.memory_ = (self.memory | self._remember(view, support)).to_tensors()

    def learn_more(self, view: GraphView, support: Labelled, columns: NDArray[np.int64]) -> None:
        """Add to the sums of known classes."""
        memory = self.memory
        others = np.setdiff1d(np.arange(memory.counts.size), columns)
        merged = memory.take(others) | (memory.take(columns) + self._remember(view, support))
        back = np.argsort(np.concatenate((others, columns)))
        self.memory_ = merged.take(back).to_tensors()

    def unlearn_classes(self, kept: NDArray[np.int64]) -> None:
        """Drop the other sums: what is left is as it was before they came."""
        self.memory_ = self.memory.take(kept).to_tensors()

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """The weighted sum of all signals."""
        signals = self._signals(view, rows, self._layers(view, rows), self.memory, self.centre_)
        return np.tensordot(self.weights_, signals, 1)

    def probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Calibrated on known classes, some of them played with few labels."""
        return confident(softmax(scores, axis=1), _evidence(self.memory), self.confidence_)

    def familiarity(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """By the best score, against nodes of classes left out of practice."""
        return familiar(scores, self.familiarity_)

    def embedding(self, view: GraphView, rows: NDArray[np.int64]) -> Matrix:
        """The rows of all hops side by side, each of length 1."""
        layers = self._layers(view, rows)
        return csr_array(hstack(layers)) if is_sparse(layers[0]) else np.hstack(layers)

    def explain_node(self, view: GraphView, row: int) -> dict[str, Any]:
        """What spoke for the answer and for the runner-up, and the labels that contributed most.

        ``for`` and ``for_runner_up`` add up to the two scores. Each label has its share of what
        similarity gave to the answer, and of what walks gave beyond an unreached node's score.
        """
        node, memory = np.array([row]), self.memory
        layers = self._layers(view, node)
        parts = self.weights_ * self._signals(view, node, layers, memory, self.centre_)[:, 0].T
        scores = parts.sum(axis=1)
        shares = self.probabilities(scores[None])[0]
        first, *rest = np.argsort(-scores, kind="stable").tolist()
        second = rest[0] if rest else first
        names = [
            *("own features" if hop == 0 else f"features {hop} away" for hop in range(len(layers))),
            *(["walks"] if self.walks else []),
            "few labels",
        ]
        labels = memory.rows[first]
        similar, walked = self._contributions(view, node, layers, memory, first)
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
        memory: ClassSums,
        column: int,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Of each label of one class, to similarity and to walks."""
        labels, count = memory.rows[column], memory.counts[column]
        means = np.split(memory.take(np.array([column])).means[0], len(layers))
        middles = np.split(self.centre_, len(layers))
        similar = sum(
            weight * cosine_shares(own, near, mean, middle) / count
            for weight, own, near, mean, middle in zip(
                self.weights_, layers, self._layers(view, labels), means, middles, strict=False
            )
        )
        if not self.walks:
            return np.asarray(similar), np.zeros(labels.size)
        mass = view.diffused([node], labels, self.restart)[:, 0]
        reached = view.diffused([labels], node, self.restart)[0, 0]
        gain = self.weights_[len(layers)] * np.log(reached / FLOOR + 1.0)
        return np.asarray(similar), gain * mass / max(float(mass.sum()), 1e-12)

    @property
    def memory(self) -> ClassSums:
        """What is kept of the known classes."""
        return ClassSums.from_tensors(self.memory_)

    def _layers(self, view: GraphView, rows: NDArray[np.int64]) -> list[Matrix]:
        layers = view.propagated(rows, self.hops)
        return [normalise_rows(weigh_columns(layer, self.rarity_)) for layer in layers]

    def _remember(self, view: GraphView, labelled: Labelled) -> ClassSums:
        if labelled.num_nodes <= self.block_rows:
            return ClassSums.of(self.embedding(view, labelled.rows()), labelled, self.kept_labels)
        if len(labelled) > 1:
            return reduce(or_, (self._remember(view, labelled.only([name])) for name in labelled))
        [(name, rows)] = labelled.items()
        blocks = np.split(rows, range(self.block_rows, rows.size, self.block_rows))
        return reduce(add, (self._remember(view, Labelled({name: block})) for block in blocks))

    def _signals(
        self,
        view: GraphView,
        rows: NDArray[np.int64],
        layers: Sequence[Matrix],
        memory: ClassSums,
        centre: NDArray[np.float64],
    ) -> Signals:
        means = np.split(memory.means, len(layers), axis=1)
        middles = np.split(centre, len(layers))
        signals = [
            centred_cosines(layer, mean, middle)
            for layer, mean, middle in zip(layers, means, middles, strict=True)
        ]
        if self.walks:
            signals.append(np.log(view.diffused(memory.rows, rows, self.restart) + FLOOR))
        evidence = _evidence(memory) if self.few_labels else np.zeros(memory.counts.size)
        return np.stack([*signals, np.broadcast_to(evidence, signals[0].shape)])

    def _practise(self, view: GraphView, curriculum: Curriculum, memory: ClassSums) -> Judgement:
        train, held_out = curriculum.undivided.for_early_stopping(self.seeds)
        shots = 1, curriculum.shots
        episodes = list(mixed_episodes(train, held_out, shots, self.seeds)) if self.practise else []
        if episodes:
            if not len(curriculum.held_out):
                # Some labels were set aside to be asked about: they must not teach as well.
                memory = self._remember(view, train)
            return practise(list(self._rounds(view, train.classes, memory, episodes)))
        hops = [SIMILARITY / (self.hops + 1)] * (self.hops + 1)
        weights = [*hops, *([WALKS] if self.walks else []), FEW_LABELS]
        return Judgement(np.array(weights), UNCHANGED, EVERYONE)

    def _rounds(
        self,
        view: GraphView,
        classes: Sequence[str],
        memory: ClassSums,
        episodes: Sequence[MixedEpisode],
    ) -> Iterator[Round]:
        rows = asked(episodes)
        layers = self._layers(view, rows)
        column = {name: place for place, name in enumerate(classes)}
        for episode in episodes:
            many, few = episode.tasks
            full = memory.take(np.array([column[name] for name in many]))
            known = full | self._remember(view, few) if few else full
            centre = full.means.mean(axis=0)
            signals, strangers = (
                self._signals(
                    view,
                    nodes,
                    [take_rows(layer, np.searchsorted(rows, nodes)) for layer in layers],
                    known,
                    centre,
                )
                for nodes in (episode.query.rows(), episode.strangers)
            )
            yield Round(signals, episode.targets, _evidence(known), strangers)


def _rarity(view: GraphView, wanted: bool) -> NDArray[np.float32]:
    """Inverse document frequencies of sparse features; dense columns weigh alike."""
    nobody = np.zeros(0, dtype=np.int64)
    if not (wanted and is_sparse(view.features(nobody))):
        return np.ones(view.num_features, dtype=np.float32)
    features = csr_array(view.features(view.rows))
    counts = np.bincount(features.indices[features.data != 0], minlength=view.num_features)
    rarity: NDArray[np.float64] = np.log((1 + view.num_nodes) / (1 + counts)) + 1
    return rarity.astype(np.float32)


def _evidence(memory: ClassSums) -> NDArray[np.float64]:
    return np.log1p(PLENTY / memory.counts)
