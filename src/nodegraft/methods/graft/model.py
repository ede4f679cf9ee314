"""Graft: class means by hop, words, diffusion and two regressions, mixed into one score."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from nodegraft.base.memo import LatestMemo
from nodegraft.base.parameters.constraints import NonNegativeInt, PositiveInt
from nodegraft.graph.edges.matrix import (
    IntArray,
    Matrix,
    is_sparse,
    normalise_rows,
    weigh_columns,
)
from nodegraft.graph.keyed_labels import KeyedLabels
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.propagation.spread import SpreadFeatures
from nodegraft.graph.propagation.typed_blocks import block_types, typed_blocks
from nodegraft.graph.statistics.homophily import homophily_of_kinds, relation_weights
from nodegraft.graph.statistics.rarity import summarise_columns
from nodegraft.graph.view import GraphView
from nodegraft.methods.graft.classes import Floats, Known, Taught, label_scarcity
from nodegraft.methods.graft.confidence import (
    ALWAYS_KNOWN,
    UNCALIBRATED,
    calibrated_probabilities,
    known_class_probability,
    share_of_known_classes,
)
from nodegraft.methods.graft.explanation import similar_labels, warm_labels
from nodegraft.methods.graft.mixture import class_shares
from nodegraft.methods.graft.practice import Mixture, PracticeRound, fit_confidence, fit_mixture
from nodegraft.methods.graft.rounds import rounds_played, with_spread, without_useless
from nodegraft.methods.graft.score_cache import kept_scores
from nodegraft.methods.graft.scoring import Scoring
from nodegraft.methods.graft.signals import NEAR_TIMES, STEEP, TIMES, Evidence
from nodegraft.methods.templates.derived import Derived
from nodegraft.model.confidence import DEFAULT_WORLD, World
from nodegraft.model.inputs import GraphInputs
from nodegraft.model.learned import learned
from nodegraft.streams.curriculum import Curriculum
from nodegraft.streams.episodes.mixed import mixed_episodes

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
    columns: NDArray[np.int64]
    """Where each class of the model stands in ``taught``."""
    scoring: Scoring
    """Of the classes in the model's order."""
    shares: Floats
    """How large each of them seems to be among unlabelled nodes, by a fair sample."""
    share_of_known: float
    """How many of the unlabelled nodes are taken to be of them, by the same sample."""

    def signals(self, rows: IntArray) -> NDArray[np.floating[Any]]:
        return self.evidence.signals(self.evidence.features.rows(rows), rows, self.scoring.known)


@dataclass(kw_only=True)
class Graft(Derived[_Scorer]):
    r"""Nothing is trained but a handful of weights:

    .. math:: s_{ic} = \sum_h w_h \cos(z_i^h - \mu^h, q_c^h - \mu^h)
        + \sum_{h \in \{0, H\}} u_h\, z_i^h \cdot \log \frac{q_c^h + b^h}{2 b^h}
        + \sum_t v_t \log\Bigl(\frac{m^t_{ic}}{\bar m^t_c} + 0.1\Bigr)
        + g \log(\max(0, z_i^\top w_c) + 0.1) + g' \log(\max(0, y_i^\top w'_c) + 0.1)
        + k \log\Bigl(1 + \frac{100}{n_c}\Bigr)

    :math:`z^h` are rows of :math:`S^h X` for :math:`h \le H`, words weighted by how rare they are,
    of length 1, and two more where edges have a direction: the features that edges lead to, and
    those that they come from. :math:`q_c^h` is the mean of a class's :math:`n_c` labels and, where
    these are few, of the unlabelled nodes that the score before takes to be of the class;
    :math:`\mu^h` the mean of the first classes' means; :math:`b^h` the mean of all nodes.
    :math:`m^t_c = D^{-1/2} e^{-t (I - S)} s_c` is the heat that spreads from the class's labels in
    time :math:`t`, divided by the root of each node's degree, :math:`\bar m` its mean over all
    nodes. Edges of different kinds count by how often they join nodes of one class.
    :math:`z_i^\top w_c` is a ridge regression among the first classes' labels, which a later class
    joins by its mean (:class:`~nodegraft.methods.linear.frozen_ridge.FrozenRidge`);
    :math:`y_i^\top w'_c` is a second one, on a node's own features and those of its neighbours, a
    block for each edge type and direction. It learns from neighbours of other classes, and is left
    out where edges have neither types nor directions, or practice finds no gain. The last term
    makes up for few labels: the mean of five nodes lies further from everybody than that of five
    hundred.

    The weights :math:`w, u, v, g, g' \ge 0` and :math:`k` are those under which known classes, some
    of them played with few labels, are most likely (:mod:`nodegraft.streams.episodes.mixed`). They
    say how much text, neighbours and position are worth on this graph, and scale the score to
    log-odds. What the model is, is its labels: all else follows from them and from the graph as it
    is.
    """

    hops: NonNegativeInt = 2
    """How far features are spread along edges (:math:`H`); 0 looks at a node's own features only.
    Each hop costs a pass over all edges once per graph."""

    diffusion: bool = True
    """Whether heat that spreads from the labels along edges counts. It costs a pass over all edges
    for each new class, unless practice finds that it does not help."""

    far_diffusion: bool = True
    """Whether long diffusion times count beside those that stay near the labels."""

    kept_labels: PositiveInt = 1000
    """Means and diffusion use at most so many labels of a class, by the hash of their keys."""

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

    typed_blocks: bool = True
    """Whether a second regression counts, which sees a node's own features and those of its
    neighbours apart by edge type and direction: it learns from neighbours of other classes. It is
    used only where edges have several types or a direction, and practice finds that it helps.
    The 16 edge types with most edges take part."""

    refine: bool = True
    """Whether unlabelled nodes refine the means of classes with few labels."""

    few_labels: bool = True
    """Whether classes with few labels are made up for looking further away."""

    practise: bool = True
    """Whether the weights are fitted on known classes; else fixed ones are taken."""

    wrong_labels: bool = False
    """Whether some labels may be wrong: confidence then weighs labels by their chance to be right.
    A node that looks like another class is taken for a wrong label, too, so that confidence is too
    high where labels are right and features mislead."""

    world: World = DEFAULT_WORLD
    """Whether nodes may belong to classes that are not known (``open``) or every node belongs to a
    known one (``closed``): see :mod:`nodegraft.model.confidence`. Nothing learned depends on it, so
    ``set_params(world=…)`` needs no new fit."""

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

    block_types_: dict[str, bool] = learned()
    """Edge types of the second regression, and whether each has directions; none where practice
    found that it does not help."""

    times_: NDArray[np.float64] = learned()
    """Diffusion times that practice found to help."""

    weights_: NDArray[np.float64] = learned()
    """Of the signals, for each stage."""

    confidence_: NDArray[np.float64] = learned()
    """How scores become calibrated probabilities."""

    open_set_: NDArray[np.float64] = learned()
    """How scores of each stage become the chance of being of a known class at all."""

    name: ClassVar[str] = "graft"
    summary: ClassVar[str] = (
        "class means by hop, words, diffusion from labels; closed form, calibrated"
    )
    reversible: ClassVar[bool] = True
    block_rows: ClassVar[int] = 8192

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Look at the graph, then practise how much each part of the score is worth."""
        columns = summarise_columns(view)
        self.rarity_ = columns.rarity if self.rare_words else np.ones_like(columns.rarity)
        self.kinds_, self.unseen_kind_ = dict.fromkeys(view.relations, 1.0), 1.0
        if self.edge_kinds:
            found = homophily_of_kinds(view, curriculum.train)
            self.kinds_, self.unseen_kind_ = relation_weights(found)
        self.directed_ = self.directions and view.has_directions
        self.listener.step("propagate features", 0, 1)
        self.background_ = np.zeros((0, view.num_features))
        # Only of counts are ratios odds.
        if self.words and columns.are_counts:
            self.background_ = self._background(view)
        self.listener.step("propagate features", 1, 1)
        self.times_, self.block_types_ = np.array(self._all_times), {}
        self.weights_ = np.zeros((STAGES, 0))
        if self.typed_blocks and (view.has_directions or len(view.relations) > 1):
            self.block_types_ = block_types(view)
        stages, told = self._practise(view, curriculum)
        self.weights_ = np.stack([one.weights for one in stages])
        unused = np.flatnonzero(~self.weights_[:, : self.times_.size].any(axis=0))
        self.times_ = np.delete(self.times_, unused)
        # In the same order in memory as after loading: rounding depends on it.
        self.weights_ = np.ascontiguousarray(np.delete(self.weights_, unused, axis=1))
        self.open_set_ = np.stack([one.open_set for one in stages])
        self.confidence_ = UNCALIBRATED
        if told:
            self.confidence_ = fit_confidence(told, stages[-1].weights, self.wrong_labels)

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
        # All labels, those beyond the kept ones too: none of them is unlabelled.
        labelled = view.rows_among(np.concatenate(list(self.labels_.values())))
        sample, known = evidence.sample(labelled), evidence.known(taught, first, self._is_trial)
        if self.refine and taught.few.size:
            pool = evidence.pool(taught, sample, labelled)
            taught, scores = self._refined(evidence, taught, known, first.centre, pool)
            fair = np.isin(pool, sample)
            begun, told = scores[0][fair], scores[-1][fair]
            known = evidence.known(taught, first, self._is_trial)
        else:
            begun = told = Scoring(evidence, known, self.weights_[0]).scores(sample)
            # Without refinement or practice all stages weigh alike.
            if not np.array_equal(self.weights_[0], self.weights_[-1]):
                told = Scoring(evidence, known, self.weights_[-1]).scores(sample)
        columns = np.argsort(order)
        scoring = Scoring(evidence, known.of(columns), self.weights_[-1])
        shares = class_shares(super().probabilities(view, told))[columns]
        # From the first stage: strangers have moved no mean yet. Without a slope it cannot tell.
        chances = known_class_probability(begun, self.open_set_[0])
        share = share_of_known_classes(chances) if self.open_set_[0, 0] > 0 else 0.5
        return _Scorer(evidence, taught, first.centre, columns, scoring, shares, share)

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """The weighted sum of all signals."""
        return kept_scores(self.derived(view).scoring, rows, self.block_rows)

    def probabilities(self, view: GraphView, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Calibrated on known classes, some of them played with few labels."""
        counts = np.array([keys.size for keys in self.labels_.values()])
        return calibrated_probabilities(
            super().probabilities(view, scores),
            label_scarcity(counts),
            self.derived(view).shares,
            self.confidence_,
        )

    def known_class_probability(
        self, view: GraphView, scores: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """By the best score, against nodes of classes left out of practice, and by how many of the
        unlabelled nodes look like those. NaN where practice found no open-set score."""
        if not self._has_open_set_score:
            return np.full(len(scores), np.nan)
        return known_class_probability(
            scores, self.open_set_[-1], self.derived(view).share_of_known
        )

    def share_of_known_classes(self, view: GraphView) -> float | None:
        """Return the estimate from a fair sample; None where practice found no open-set score."""
        return self.derived(view).share_of_known if self._has_open_set_score else None

    @property
    def _has_open_set_score(self) -> bool:
        """Whether practice found out how nodes of unknown classes score: their share comes from the
        first stage, the score of each node from the last."""
        return bool((self.open_set_[[0, -1], 0] > 0).all())

    def check_learned(self) -> None:
        """Require possible diffusion times, a weight for each signal, a background for each hop."""
        times = self.times_
        if times.ndim != 1 or not ((times > 0) & np.isfinite(times)).all():
            raise ValueError("diffusion times must be a list of numbers above 0")
        width = self.rarity_.size
        words = len({0, self.hops}) if len(self.background_) else 0
        layers = self.hops + 1 + 2 * self.directed_
        regressions = self.ridge + bool(self.block_types_)
        signals = layers + len(self.times_) + regressions + words + 1
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
        diffusion gave beyond a cold node's score among its labels. The five labels that gave most
        are named. ``relations`` says how many neighbours the node has by kind of edge, and what
        the kind is worth.
        """
        scorer = self.derived(view)
        node, weights = np.array([row]), self.weights_[-1]
        parts = weights * scorer.signals(node)[:, 0].T
        scores = parts.sum(axis=1)
        shares = self.probabilities(view, scores[None])[0]
        first, *rest = np.argsort(-scores, kind="stable").tolist()
        second = rest[0] if rest else first
        column = int(scorer.columns[first])
        similar, unlabelled = similar_labels(
            scorer.evidence, scorer.taught, scorer.centre, weights, row, column
        )
        warm = warm_labels(scorer.evidence, scorer.taught, weights, row, column)
        most = np.argsort(-(similar + warm), kind="stable")[:5]
        names = view.keys_of(scorer.taught.labels[column][most])
        signals = zip(scorer.evidence.names(), parts[first], parts[second], strict=True)
        labels = zip(names, similar[most], warm[most], strict=True)
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
                {"node": key, "similarity": float(near), "diffusion": float(far)}
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
    def _all_times(self) -> tuple[float, ...]:
        return TIMES[: (len(TIMES) if self.far_diffusion else NEAR_TIMES) if self.diffusion else 0]

    @property
    def _even_times(self) -> tuple[int, ...]:
        """Those of :attr:`times_` at which heat is almost even; none are known in practice."""
        steep = (self.weights_[:, : self.times_.size] > STEEP).any(axis=0)
        return tuple(np.flatnonzero(steep).tolist())

    def _weighing(self, view: GraphView) -> GraphView:
        worth = {name: self.kinds_.get(name, self.unseen_kind_) for name in view.relations}
        return view.weighing(worth)

    def _evidence(self, view: GraphView) -> Evidence:
        def made() -> Evidence:
            latest = self._seen.latest
            times, blocks = tuple(self.times_.tolist()), typed_blocks(self.block_types_)
            same = times, self._even_times, tuple(blocks)
            if latest and (latest.times, latest.even_times, latest.features.blocks) == same:
                grown = latest.grown(self._weighing(view))
                if grown is not None:
                    return grown
            features = SpreadFeatures(
                self._weighing(view), self.hops, self.rarity_, self.directed_, blocks
            )
            flags = self.ridge, self.few_labels
            return Evidence(features, self.background_, times, self._even_times, *flags)

        return self._seen.get((view, self.rarity_, self.times_), made)

    def _background(self, view: GraphView) -> NDArray[np.float64]:
        rows = view.sampled(SAMPLE, view.rows[:0])
        near = SpreadFeatures(self._weighing(view), self.hops, self.rarity_).rows(rows)
        even = np.full((rows.size, 1), 1.0 / rows.size)
        return np.concatenate([near.sums(hop, even) for hop in range(self.hops + 1)]) + 1e-7

    def _refined(
        self,
        evidence: Evidence,
        taught: Taught,
        known: Known,
        centre: tuple[Floats, ...],
        pool: IntArray,
    ) -> tuple[Taught, list[Floats]]:
        """Classes with means refined by unlabelled nodes, and the scores of these by stage."""
        near = evidence.features.rows(pool)
        signals = evidence.signals(near, pool, known)
        scores = [np.tensordot(self.weights_[0], signals, 1)]
        for weights, open_set in zip(self.weights_[1:], self.open_set_[:-1], strict=True):
            taught = evidence.refined(taught, near, scores[-1], open_set)
            evidence.refresh(signals, near, taught, centre)
            scores.append(np.tensordot(weights, signals, 1))
        return taught, scores

    def _practise(
        self, view: GraphView, curriculum: Curriculum
    ) -> tuple[list[Mixture], list[PracticeRound]]:
        """What practice found for each stage, and what signals said in the last."""
        train, held_out = curriculum.without_pseudo_novel.for_early_stopping(self.seeds)
        shots = 1, curriculum.shots
        episodes = list(mixed_episodes(train, held_out, shots, self.seeds)) if self.practise else []
        if not episodes:
            self.block_types_ = {}
            usual = self._evidence(view).usual_weights()
            return [Mixture(usual, ALWAYS_KNOWN)] * STAGES, []
        evidence = self._evidence(view)
        rounds = list(
            rounds_played(
                evidence, episodes, train | held_out, self.refine, self.kept_labels, self.listener
            )
        )
        self.times_, rounds = with_spread(self.times_, rounds)
        told = [one.told() for one in rounds]
        stages = [fit_mixture(told, listener=self.listener)]
        if self.block_types_:
            signals = [self.times_.size + self.ridge]
            rounds, mixture = without_useless(rounds, stages[0], signals, self.listener)
            if mixture is not stages[0]:
                self.block_types_, stages = {}, [mixture]
        if self.times_.size:
            signals = list(range(self.times_.size))
            rounds, mixture = without_useless(rounds, stages[0], signals, self.listener)
            if mixture is not stages[0]:
                self.times_, stages = self.times_[:0], [mixture]
        told = [one.told() for one in rounds]
        while self.refine and len(stages) < STAGES:
            rounds = [one.refined(stages[-1]) for one in rounds]
            told = [one.told() for one in rounds]
            stages.append(fit_mixture(told, stages[-1].weights, self.listener))
        return stages + stages[-1:] * (STAGES - len(stages)), told
