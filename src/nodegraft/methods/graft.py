"""Graft: class means hop by hop, words and walks from the labels, mixed into one score."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from nodegraft.base.memo import LatestMemo
from nodegraft.base.parameters.constraints import NonNegativeInt, PositiveInt
from nodegraft.episodes.mixed import MixedEpisode, mixed_episodes, queried_nodes
from nodegraft.graph.algebra.matrix import (
    IntArray,
    Matrix,
    is_sparse,
    normalise_rows,
    weigh_columns,
)
from nodegraft.graph.homophily import homophily_of_kinds, relation_weights
from nodegraft.graph.keyed_labels import KeyedLabels
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.spread import SpreadFeatures, SpreadRows
from nodegraft.graph.view import GraphView
from nodegraft.methods.templates.derived import Derived
from nodegraft.model.inputs import GraphInputs
from nodegraft.model.learned import learned
from nodegraft.nn.confidence import (
    ALWAYS_KNOWN,
    UNCALIBRATED,
    calibrated_probabilities,
    known_class_probability,
)
from nodegraft.streams.curriculum import Curriculum
from nodegraft.training.contributions import similar_labels, walked_labels
from nodegraft.training.evidence import (
    PLENTY,
    RESTARTS,
    Evidence,
    Floats,
    Known,
    Taught,
    fair_sample,
)
from nodegraft.training.practice import Calibration, PracticeRound, calibrate

SAMPLE = 16_384
"""How many nodes say what words are usual."""

STAGES = 3
"""Scores are made so often: with the labels alone, then with means refined by the scores before."""


@dataclass(frozen=True)
class _Scorer:
    """All that scores are made from, worked out from labels and graph."""

    evidence: Evidence
    taught: Taught
    centre: tuple[Floats, ...]
    known: Known
    columns: NDArray[np.int64]
    """Where each class of the model stands in ``taught``."""

    def signals(self, rows: IntArray) -> NDArray[np.floating[Any]]:
        near = self.evidence.features.rows(rows)
        return self.evidence.signals(near, rows, self.known)[:, :, self.columns]


@dataclass(frozen=True)
class _Round:
    """One episode of practice, as far as it has come."""

    episode: MixedEpisode
    evidence: Evidence
    taught: Taught
    centre: tuple[Floats, ...]
    queries: SpreadRows
    known: NDArray[np.int64]
    unknown: NDArray[np.int64]
    signals: NDArray[np.floating[Any]]
    pool: SpreadRows
    pooled: NDArray[np.floating[Any]]

    def refined(self, weights: Floats, open_set: Floats) -> "_Round":
        """The same after unlabelled nodes have moved the means of classes with few labels."""
        if not self.taught.few.size:
            return self
        scores = np.tensordot(weights, self.pooled, 1)
        taught = self.evidence.refined(self.taught, self.pool, scores, open_set)
        return replace(
            self,
            taught=taught,
            signals=self.evidence.refreshed(self.signals, self.queries, taught, self.centre),
            pooled=self.evidence.refreshed(self.pooled, self.pool, taught, self.centre),
        )

    def told(self) -> PracticeRound:
        known, unknown = self.signals[:, self.known], self.signals[:, self.unknown]
        return PracticeRound(known, self.episode.targets, self.taught.scarcity, unknown)


@dataclass(kw_only=True)
class Graft(Derived[_Scorer]):
    r"""Nothing is trained but a handful of weights:

    .. math:: s_{ic} = \sum_h w_h \cos(z_i^h - \mu^h, q_c^h - \mu^h)
        + \sum_{h \in \{0, H\}} u_h\, z_i^h \cdot \log \frac{q_c^h + b^h}{2 b^h}
        + \sum_r v_r \log\Bigl(\frac{m^r_{ic}}{\bar m^r_c} + 0.1\Bigr)
        + t \log(\max(0, z_i^\top w_c) + 0.1) + k \log\Bigl(1 + \frac{100}{n_c}\Bigr)

    :math:`z^h` are rows of :math:`S^h X` for :math:`h \le H`, words weighted by how rare they are,
    of length 1, and two more where edges have a direction: the features that edges lead to, and
    those that they come from. :math:`q_c^h` is the mean of a class's :math:`n_c` labels and, where
    these are few, of the unlabelled nodes that the score before takes to be of the class;
    :math:`\mu^h` the mean of the first classes' means; :math:`b^h` the mean of all nodes.
    :math:`m^r_c` is the mass of walks that start at the class's labels and end with chance
    :math:`r` at each step (personalised PageRank), :math:`\bar m` its mean over all nodes. Edges of
    different kinds count by how often they join nodes of one class. :math:`z_i^\top w_c` is a ridge
    regression among the first classes' labels, which a later class joins by its mean
    (:class:`~nodegraft.nn.linear.frozen_ridge.FrozenRidge`). The last term makes up for few labels:
    the mean of five nodes lies further from everybody than that of five hundred.

    The weights :math:`w, u, v, t \ge 0` and :math:`k` are those under which known classes, some of
    them played with few labels, are most likely (:mod:`nodegraft.episodes.mixed`). They say how
    much text, neighbours and position are worth on this graph, and scale the score to log-odds.
    What the model is, is its labels: all else follows from them and from the graph as it is.
    """

    hops: NonNegativeInt = 2
    """How far features are spread along edges (:math:`H`); 0 looks at a node's own features only.
    Each hop costs a pass over all edges once per graph."""

    walks: bool = True
    """Whether where a node sits in the graph counts."""

    far_walks: bool = True
    """Whether walks count that go on for long, beside those that stay near the labels."""

    kept_labels: PositiveInt = 1000
    """Means and walks are of at most so many labels of a class, drawn by the hash of their keys."""

    rare_words: bool = True
    """Whether sparse columns weigh more the fewer nodes have them; dense ones weigh alike."""

    words: bool = True
    """Whether words count by how much more often a class has them; of no effect on features that
    are dense or negative."""

    edge_kinds: bool = True
    """Whether kinds of edges count by how often they join nodes of one class; else alike."""

    directions: bool = True
    """Whether nodes that edges lead to and those they come from are told apart, where edges have a
    direction."""

    ridge: bool = True
    """Whether a regression among the first classes counts, which later ones join by their means."""

    refine: bool = True
    """Whether unlabelled nodes refine the means of classes with few labels."""

    few_labels: bool = True
    """Whether classes with few labels are made up for looking further away."""

    practise: bool = True
    """Whether the weights are fitted on known classes; else fixed ones are taken."""

    rarity_: NDArray[np.float32] = learned()
    """The weight of every feature column."""

    background_: NDArray[np.float64] = learned()
    """The mean row of each hop over a sample of all nodes; empty where words are not compared."""

    kinds_: dict[str, float] = learned()
    """What each kind of edges is worth."""

    unseen_kind_: float = learned()
    """What a kind of edges is worth that came later."""

    directed_: bool = learned()
    """Whether directions of edges count: there were some when the model was fitted."""

    weights_: NDArray[np.float64] = learned()
    """Of the signals, for each stage."""

    confidence_: NDArray[np.float64] = learned()
    """How scores become calibrated probabilities."""

    open_set_: NDArray[np.float64] = learned()
    """How scores of each stage become the chance of being of a known class at all."""

    name: ClassVar[str] = "graft"
    summary: ClassVar[str] = "class means by hop, words, walks from labels; closed form, calibrated"
    reversible: ClassVar[bool] = True
    block_rows: ClassVar[int] = 8192

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Look at the graph, then practise how much each part of the score is worth."""
        self.rarity_ = _rarity(view, self.rare_words)
        self.kinds_, self.unseen_kind_ = dict.fromkeys(view.relations, 1.0), 1.0
        if self.edge_kinds:
            found = homophily_of_kinds(view, curriculum.train)
            self.kinds_, self.unseen_kind_ = relation_weights(found)
        self.directed_ = self.directions and view.has_directions
        self.listener.step("spread features along edges", 0, 1)
        self.background_ = self._background(view)
        self.listener.step("spread features along edges", 1, 1)
        stages, _ = self._practise(view, curriculum)
        self.weights_ = np.stack([one.weights for one in stages])
        self.open_set_ = np.stack([one.open_set for one in stages])
        self.confidence_ = stages[-1].confidence

    def learn_classes(self, view: GraphView, support: NodeLabels) -> None:
        """Nothing but their labels, until somebody asks."""
        self._forget_derived()

    def learn_labels(
        self, view: GraphView, support: NodeLabels, columns: NDArray[np.int64]
    ) -> None:
        """Nothing but the labels, until somebody asks."""
        self._forget_derived()

    def derive(self, view: GraphView) -> _Scorer:
        """Means, refined stage by stage; the order in which classes came plays no part."""
        evidence, labels = self._evidence(view), self.labels_.on(view, self.kept_labels)
        order = np.argsort(np.array(labels.classes), kind="stable")
        counts = np.array([self.labels_[name].size for name in labels], dtype=np.int64)
        rows = [labels[labels.classes[column]] for column in order]
        taught = evidence.taught(rows, counts[order])
        came_first = np.array([known.session == 0 for known in self._table.classes])[order]
        # Where none of them is left, all classes are: else it mattered who came next.
        first = evidence.first_classes(
            taught, np.flatnonzero(came_first if came_first.any() else ~came_first)
        )
        if self.refine and taught.few.size:
            # All labels, those beyond the kept ones too: none of them is unlabelled.
            labelled = [view.rows_of(keys) for keys in self.labels_.values()]
            pool = evidence.pool(taught, np.concatenate(labelled))
            near = evidence.features.rows(pool)
            signals = evidence.signals(near, pool, evidence.known(taught, first))
            for weights, open_set in zip(self.weights_[:-1], self.open_set_[:-1], strict=True):
                scores = np.tensordot(weights, signals, 1)
                taught = evidence.refined(taught, near, scores, open_set)
                signals = evidence.refreshed(signals, near, taught, first.centre)
        known = evidence.known(taught, first)
        return _Scorer(evidence, taught, first.centre, known, np.argsort(order))

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """The weighted sum of all signals."""
        return np.tensordot(self.weights_[-1], self.derived(view).signals(rows), 1)

    def probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Calibrated on known classes, some of them played with few labels."""
        counts = np.array([keys.size for keys in self.labels_.values()])
        scarcity = np.log1p(PLENTY / counts)
        return calibrated_probabilities(super().probabilities(scores), scarcity, self.confidence_)

    def known_class_probability(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """By the best score, against nodes of classes left out of practice."""
        return known_class_probability(scores, self.open_set_[-1])

    def check_learned(self) -> None:
        """A weight for each signal, and a background for each hop."""
        width = self.rarity_.size
        words = len({0, self.hops}) if len(self.background_) else 0
        layers = self.hops + 1 + 2 * self.directed_
        signals = layers + len(self._restarts) + self.ridge + words + 1
        if self.weights_.shape != (STAGES, signals) or self.open_set_.shape != (STAGES, 2):
            raise ValueError(f"there must be {STAGES} times {signals} weights, and open-set scores")
        if self.confidence_.shape != UNCALIBRATED.shape:
            raise ValueError(f"confidence needs {UNCALIBRATED.size} coefficients")
        if self.background_.shape not in ((self.hops + 1, width), (0, width)):
            raise ValueError("there must be a background for each hop, or none")

    def embedding(self, view: GraphView, rows: NDArray[np.int64]) -> Matrix:
        """The rows of all hops side by side, each of length 1."""
        layers = self._weighing(view).propagated(rows, self.hops)
        parts = [normalise_rows(weigh_columns(layer, self.rarity_)) for layer in layers]
        return csr_array(hstack(parts)) if is_sparse(parts[0]) else np.hstack(parts)

    def explain_node(self, view: GraphView, row: int) -> dict[str, Any]:
        """What spoke for the answer and for the runner-up, and where it came from.

        ``for`` and ``for_runner_up`` add up to the two scores. What cosines gave to the answer is
        shared out among its labels and, together, the unlabelled nodes that refined its means; what
        walks gave beyond an unreached node's score among its labels. The five labels that gave most
        are named. ``relations`` says how many neighbours the node has by kind of edge, and what
        the kind is worth.
        """
        scorer = self.derived(view)
        node, weights = np.array([row]), self.weights_[-1]
        parts = weights * scorer.signals(node)[:, 0].T
        scores = parts.sum(axis=1)
        shares = self.probabilities(scores[None])[0]
        first, *rest = np.argsort(-scores, kind="stable").tolist()
        second = rest[0] if rest else first
        column = int(scorer.columns[first])
        similar, unlabelled = similar_labels(
            scorer.evidence, scorer.taught, scorer.centre, weights, row, column
        )
        walked = walked_labels(scorer.evidence, scorer.taught, weights, row, column)
        most = np.argsort(-(similar + walked), kind="stable")[:5]
        names = view.keys_of(scorer.taught.labels[column][most])
        signals = zip(scorer.evidence.names(), parts[first], parts[second], strict=True)
        labels = zip(names, similar[most], walked[most], strict=True)
        return {
            "answer": self.classes_[first],
            "probability": float(shares[first]),
            "runner_up": self.classes_[second],
            "runner_up_probability": float(shares[second]),
            "signals": [
                {"signal": name, "for": float(own), "for_runner_up": float(other)}
                for name, own, other in signals
            ],
            "labels": [
                {"node": key, "similarity": float(near), "walks": float(far)}
                for key, near, far in labels
            ],
            "unlabelled_nodes": unlabelled,
            "relations": [
                {
                    "kind": kind,
                    "worth": self.kinds_.get(kind, self.unseen_kind_),
                    "neighbours": int(view.neighbours(node, kind)[1].size),
                }
                for kind in view.relations
            ],
        }

    def _start(self, inputs: GraphInputs, labels: KeyedLabels) -> None:
        super()._start(inputs, labels)
        # Outlives changes: what a view says of nodes does not depend on labels.
        self._seen = LatestMemo[Evidence]()

    @property
    def _restarts(self) -> tuple[float, ...]:
        return RESTARTS[: (len(RESTARTS) if self.far_walks else 1) if self.walks else 0]

    def _weighing(self, view: GraphView) -> GraphView:
        worth = {name: self.kinds_.get(name, self.unseen_kind_) for name in view.relations}
        return view.weighing(worth)

    def _features(self, view: GraphView, directions: bool = False) -> SpreadFeatures:
        return SpreadFeatures(self._weighing(view), self.hops, self.rarity_, directions)

    def _evidence(self, view: GraphView) -> Evidence:
        def made() -> Evidence:
            features = self._features(view, self.directed_)
            return Evidence(features, self.background_, self._restarts, self.ridge, self.few_labels)

        return self._seen.get((view, self.rarity_), made)

    def _background(self, view: GraphView) -> NDArray[np.float64]:
        nothing = np.zeros((0, view.num_features))
        if not (self.words and _has_words(view)):
            return nothing
        rows = view.sampled(SAMPLE, view.rows[:0])
        near, even = self._features(view).rows(rows), np.full((rows.size, 1), 1.0 / rows.size)
        return np.concatenate([near.sums(hop, even) for hop in range(self.hops + 1)]) + 1e-7

    def _practise(
        self, view: GraphView, curriculum: Curriculum
    ) -> tuple[list[Calibration], list[PracticeRound]]:
        """What practice found for each stage, and what signals said in the last."""
        train, held_out = curriculum.without_pseudo_novel.for_early_stopping(self.seeds)
        shots = 1, curriculum.shots
        episodes = list(mixed_episodes(train, held_out, shots, self.seeds)) if self.practise else []
        if not episodes:
            usual = self._evidence(view).usual_weights()
            return [Calibration(usual, UNCALIBRATED, ALWAYS_KNOWN)] * STAGES, []
        rounds = list(self._rounds(view, train | held_out, episodes))
        stages, told = list[Calibration](), list[PracticeRound]()
        for stage in range(STAGES):
            before = stages[-1] if stage else None
            if before and not self.refine:
                stages.append(before)
                continue
            if before:
                rounds = [one.refined(before.weights, before.open_set) for one in rounds]
            told = [one.told() for one in rounds]
            stages.append(calibrate(told, before.weights if before else None, self.listener))
        return stages, told

    def _rounds(
        self, view: GraphView, labelled: NodeLabels, episodes: Sequence[MixedEpisode]
    ) -> Iterator[_Round]:
        evidence, rows = self._evidence(view), queried_nodes(episodes)
        queries = evidence.features.rows(rows)
        for done, episode in enumerate(episodes, start=1):
            many, few = episode.tasks
            taught = self._taught(view, evidence, many)
            if few:
                taught = taught | self._taught(view, evidence, few)
            first = evidence.first_classes(taught, np.arange(len(many)), practice=True)
            pool: IntArray = rows[:0]
            if self.refine and taught.few.size:
                # Labels, and nodes of classes that this episode takes to be unknown.
                absent = labelled.select(set(labelled) - set(many) - set(few))
                without = (many.rows(), few.rows(), absent.rows())
                pool = evidence.pool(taught, np.concatenate(without))
            near, known = evidence.features.rows(pool), evidence.known(taught, first)
            self.listener.step("practise on known classes", done, len(episodes))
            yield _Round(
                episode,
                evidence,
                taught,
                first.centre,
                queries,
                np.searchsorted(rows, episode.query.rows()),
                np.searchsorted(rows, episode.unknown),
                evidence.signals(queries, rows, known).astype(np.float32),
                near,
                evidence.signals(near, pool, known).astype(np.float32),
            )

    def _taught(self, view: GraphView, evidence: Evidence, labels: NodeLabels) -> Taught:
        kept = [fair_sample(view, rows, self.kept_labels) for rows in labels.values()]
        counts = np.array([rows.size for rows in labels.values()], dtype=np.int64)
        return evidence.taught(kept, counts)


def _has_words(view: GraphView) -> bool:
    """Whether features are sparse, and none is negative: only then are ratios of them odds."""
    if not is_sparse(view.features(view.rows[:0])):
        return False
    return bool((csr_array(view.features(view.rows)).data >= 0).all())


def _rarity(view: GraphView, wanted: bool) -> NDArray[np.float32]:
    """Inverse document frequencies of sparse features; dense columns weigh alike."""
    nobody = np.zeros(0, dtype=np.int64)
    if not (wanted and is_sparse(view.features(nobody))):
        return np.ones(view.num_features, dtype=np.float32)
    features = csr_array(view.features(view.rows))
    counts = np.bincount(features.indices[features.data != 0], minlength=view.num_features)
    rarity: NDArray[np.float64] = np.log((1 + view.num_nodes) / (1 + counts)) + 1
    return rarity.astype(np.float32)
