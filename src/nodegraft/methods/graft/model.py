"""Graft: class means by hop, words, diffusion and two regressions, mixed into one score."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.memo import LatestMemo
from nodegraft.base.parameters.constraints import NonNegativeInt, PositiveInt
from nodegraft.graph.edges.matrix import Matrix, weigh_columns
from nodegraft.graph.growth.rows_view import RowsView
from nodegraft.graph.keyed_labels import KeyedLabels
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.propagation.spread import SpreadFeatures
from nodegraft.graph.propagation.typed_blocks import block_types, typed_blocks
from nodegraft.graph.statistics import homophily_of_kinds, relation_weights, summarise_columns
from nodegraft.graph.view import GraphView
from nodegraft.methods.graft.classes import label_scarcity
from nodegraft.methods.graft.confidence import (
    ALWAYS_KNOWN,
    UNCALIBRATED,
    calibrated_probabilities,
    known_class_probability,
)
from nodegraft.methods.graft.evidence import Evidence
from nodegraft.methods.graft.explanation import explain_prediction
from nodegraft.methods.graft.practice import STAGES, Mixture, Round, fit_confidence, practise
from nodegraft.methods.graft.scoring import Derivation, derive
from nodegraft.methods.graft.signals import NEAR_TIMES, TIMES, list_signals
from nodegraft.methods.templates.derived import Derived
from nodegraft.methods.templates.propagated import side_by_side
from nodegraft.model.confidence import DEFAULT_WORLD, World
from nodegraft.model.learned import GraphInputs, learned
from nodegraft.streams.curriculum import Curriculum
from nodegraft.streams.episodes.mixed import mixed_episodes

SAMPLE = 16_384
"""Number of nodes in the background of words."""

STEEP = 5.0
"""A diffusion time with a larger weight has almost even heat: on real graphs weights are up to 1.5,
on large random graphs 40. A label without edges would lower the scores of its class everywhere
else by its share of the heat, times this weight."""


@dataclass(kw_only=True)
class Graft(Derived[Derivation]):
    r"""Score by a weighted sum of signals; nothing is trained but the weights:

    .. math:: s_{ic} = \sum_h w_h \cos(z_i^h - \mu^h, q_c^h - \mu^h)
        + \sum_{h \in \{0, H\}} u_h\, z_i^h \cdot \log \frac{q_c^h + b^h}{2 b^h}
        + \sum_t v_t \log\Bigl(\frac{m^t_{ic}}{\bar m^t_c} + 0.1\Bigr)
        + g \log(\max(0, z_i^\top w_c) + 0.1) + g' \log(\max(0, y_i^\top w'_c) + 0.1)
        + k \log\Bigl(1 + \frac{100}{n_c}\Bigr)

    - :math:`z^h` are rows of :math:`S^h X` for :math:`h \le H`, columns weighted by how rare they
      are, of length 1. If edges have a direction there are two more: the features that edges lead
      to, and those that they come from.
    - :math:`q_c^h` is the mean of a class's :math:`n_c` labels and, if these are few, of the
      unlabelled nodes that the score before assigns to the class; :math:`\mu^h` the mean of the
      first classes' means; :math:`b^h` the mean of all nodes.
    - :math:`m^t_c = D^{-1/2} e^{-t (I - S)} s_c` is the heat that diffuses from the class's labels
      in time :math:`t`, divided by the root of each node's degree; :math:`\bar m` is its mean over
      all nodes. Edge types are weighted by how often they join nodes of one class.
    - :math:`z_i^\top w_c` is a ridge regression among the first classes' labels, which a later
      class joins by its mean (:class:`~nodegraft.methods.linear.dual.FrozenRidge`);
      :math:`y_i^\top w'_c` is a second one, on a node's own features and those of its neighbours, a
      block for each edge type and direction. It learns from neighbours of other classes.
    - The last term compensates for few labels: the mean of five nodes lies further from all nodes
      than that of five hundred.

    The weights :math:`w, u, v, g, g' \ge 0` and :math:`k` are those under which known classes, some
    of them with few labels, are most likely (:mod:`nodegraft.streams.episodes.mixed`). They scale
    the score to log-odds. The model consists of its labels and these weights: everything else is
    derived from them and the current graph.
    """

    hops: NonNegativeInt = 2
    """Number of hops that features are propagated (:math:`H`); 0 uses a node's own features only.
    Each hop costs a pass over all edges once per graph."""

    diffusion: bool = True
    """Whether heat that diffuses from the labels along edges counts. It costs a pass over all edges
    for each new class, unless practice finds that it does not help."""

    far_diffusion: bool = True
    """Whether long diffusion times count beside those that stay near the labels."""

    kept_labels: PositiveInt = 1000
    """Maximum number of labels of a class in means and diffusion, by the hash of their keys."""

    rare_words: bool = True
    """Whether sparse columns have a larger weight the fewer nodes have them."""

    words: bool = True
    """Whether words count by how much more often a class has them; without effect on features that
    are dense or negative."""

    edge_kinds: bool = True
    """Whether edge types are weighted by how often they join nodes of one class."""

    directions: bool = True
    """Whether the two directions of edges count apart, if edges have a direction."""

    ridge: bool = True
    """Whether a regression among the first classes counts; later classes join by their means."""

    typed_blocks: bool = True
    """Whether a second regression counts, on a node's own features and those of its neighbours by
    edge type and direction: it learns from neighbours of other classes. It is used only if edges
    have several types or a direction, and practice finds that it helps; with the 16 edge types that
    have most edges."""

    refine: bool = True
    """Whether unlabelled nodes refine the means of classes with few labels."""

    few_labels: bool = True
    """Whether a term compensates for few labels, which make a class look further away."""

    practise: bool = True
    """Whether the weights are fitted on known classes; otherwise default weights are used."""

    wrong_labels: bool = False
    """Whether some labels may be wrong: confidence then weights labels by their chance to be right.
    A node that looks like another class counts as a wrong label, too, so confidence is too high
    where labels are right and features mislead."""

    world: World = DEFAULT_WORLD
    """Whether nodes may belong to classes that are not known (``open``) or every node belongs to a
    known one (``closed``): see :mod:`nodegraft.model.confidence`. Nothing learned depends on it, so
    ``set_params(world=…)`` needs no new fit."""

    rarity_: NDArray[np.float32] = learned()
    """Weight of every feature column."""

    background_: NDArray[np.float64] = learned()
    """Mean row of each hop over a sample of all nodes; empty if words are not compared."""

    kinds_: dict[str, float] = learned()
    """Weight of each edge type."""

    unseen_kind_: float = learned()
    """Weight of an edge type that appears after ``fit``."""

    directed_: bool = learned()
    """Whether directions of edges count: edges had some at ``fit``."""

    block_types_: dict[str, bool] = learned()
    """Edge types of the second regression, and whether each has directions; none if practice found
    that it does not help."""

    times_: NDArray[np.float64] = learned()
    """Diffusion times that were selected by practice episodes."""

    weights_: NDArray[np.float64] = learned()
    """Weights of the signals for each stage."""

    confidence_: NDArray[np.float64] = learned()
    """Coefficients of calibrated probabilities."""

    open_set_: NDArray[np.float64] = learned()
    """For each stage the coefficients of the open-set score."""

    name: ClassVar[str] = "graft"
    summary: ClassVar[str] = (
        "class means by hop, words, diffusion from labels; closed form, calibrated"
    )
    reversible: ClassVar[bool] = True
    block_rows: ClassVar[int] = 8192

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Summarise the graph, then fit the weights of the signals."""
        columns = summarise_columns(view)
        self.rarity_ = columns.rarity if self.rare_words else np.ones_like(columns.rarity)
        self.kinds_, self.unseen_kind_ = dict.fromkeys(view.relations, 1.0), 1.0
        if self.edge_kinds:
            homophily = homophily_of_kinds(view, curriculum.train)
            self.kinds_, self.unseen_kind_ = relation_weights(homophily)
        self.directed_ = self.directions and view.has_directions
        self.listener.step("propagate features", 0, 1)
        self.background_ = np.zeros((0, view.num_features))
        # Ratios are odds only if features are counts.
        if self.words and columns.are_counts:
            self.background_ = self._background(view)
        self.listener.step("propagate features", 1, 1)
        times = (TIMES if self.far_diffusion else TIMES[:NEAR_TIMES]) if self.diffusion else ()
        self.times_, self.block_types_ = np.array(times), {}
        self.weights_ = np.zeros((STAGES, 0))
        if self.typed_blocks and (view.has_directions or len(view.relations) > 1):
            self.block_types_ = block_types(view)
        stages, rounds = self._practise(view, curriculum)
        weights = np.stack([stage.weights for stage in stages])
        # Signals of diffusion come first.
        unused = np.flatnonzero(~weights[:, : self.times_.size].any(axis=0))
        self.times_ = np.delete(self.times_, unused)
        # In the same order in memory as after loading: rounding depends on it.
        self.weights_ = np.ascontiguousarray(np.delete(weights, unused, axis=1))
        self.open_set_ = np.stack([stage.open_set for stage in stages])
        self.confidence_ = UNCALIBRATED
        if rounds:
            self.confidence_ = fit_confidence(rounds, stages[-1].weights, self.wrong_labels)

    def _practise(
        self, view: GraphView, curriculum: Curriculum
    ) -> tuple[list[Mixture], list[Round]]:
        """Return what practice found for each stage, and its rounds; drop signals without gain."""
        train, held_out = curriculum.without_pseudo_novel.for_early_stopping(self.seeds)
        shots = 1, curriculum.shots
        episodes = list(mixed_episodes(train, held_out, shots, self.seeds)) if self.practise else []
        if not episodes:
            self.block_types_ = {}
            defaults = [signal.default_weight for signal in self._evidence(view).signals]
            return [Mixture(np.array(defaults), ALWAYS_KNOWN)] * STAGES, []
        evidence = self._evidence(view)
        stages, rounds = practise(
            evidence,
            episodes,
            train | held_out,
            refine=self.refine,
            kept_labels=self.kept_labels,
            listener=self.listener,
        )
        left = rounds[0].signals
        diffusion = [signal for signal in evidence.signals if signal.kind == "diffusion"]
        self.times_ = self.times_[[signal in left for signal in diffusion]]
        if not any(signal.kind == "edge types" for signal in left):
            self.block_types_ = {}
        return stages, rounds

    def learn_classes(self, view: GraphView, support: NodeLabels) -> None:
        """Drop what was derived from other labels; the next prediction derives it again."""
        self._forget_derived()

    def learn_labels(
        self, view: GraphView, support: NodeLabels, columns: NDArray[np.int64]
    ) -> None:
        """Drop what was derived from other labels; the next prediction derives it again."""
        self._forget_derived()

    def derive(self, view: GraphView) -> Derivation:
        """Compute class means, refine them stage by stage, and prepare scoring."""
        return derive(
            self._evidence(view),
            self.labels_.on(view, self.kept_labels),
            np.array([keys.size for keys in self.labels_.values()], dtype=np.int64),
            np.array([known.session == 0 for known in self._table.classes]),
            # All labels, also those that are not used: none of them is unlabelled.
            view.rows_among(np.concatenate(list(self.labels_.values()))),
            list(map(Mixture, self.weights_, self.open_set_)),
            refine=self.refine,
            lasting=not self._is_trial,
        )

    def for_rows(self, value: Derivation, view: RowsView) -> Derivation:
        """Keep the classes; rows have their own features and the mean heat of their neighbours."""
        return value.for_rows(view.weighing(self._worth(view)))

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the weighted sum of all signals."""
        return self.derived(view).scoring.cached_scores(rows, self.block_rows)

    def probabilities(self, view: GraphView, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return probabilities calibrated on known classes, some of them with few labels."""
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
        """Return the open-set score by the best score of a node, compared with nodes of classes
        left out in practice, and by the share of such nodes. NaN without practice of that."""
        if not self._has_open_set_score:
            return np.full(len(scores), np.nan)
        return known_class_probability(
            scores, self.open_set_[-1], self.derived(view).share_of_known
        )

    def share_of_known_classes(self, view: GraphView) -> float | None:
        """Return the estimate from a fair sample; None without an open-set score."""
        return self.derived(view).share_of_known if self._has_open_set_score else None

    @property
    def _has_open_set_score(self) -> bool:
        """Whether practice had nodes of unknown classes, in the first stage, from which their share
        is estimated, and in the last, which scores each node."""
        return bool((self.open_set_[[0, -1], 0] > 0).all())

    def check_learned(self) -> None:
        """Require possible diffusion times, a weight for each signal, a background for each hop."""
        times = self.times_
        if times.ndim != 1 or not ((times > 0) & np.isfinite(times)).all():
            raise ValueError("diffusion times must be a list of numbers above 0")
        width = self.rarity_.size
        signals = list_signals(
            times=times.tolist(),
            hops=self.hops,
            directed=self.directed_,
            word_layers=sorted({0, self.hops}) if len(self.background_) else (),
            ridge=self.ridge,
            edge_types=bool(self.block_types_),
            has_features=width > 0,
        )
        shapes = self.weights_.shape, self.open_set_.shape
        if shapes != ((STAGES, len(signals)), (STAGES, 2)):
            raise ValueError(
                f"there must be {STAGES} times {len(signals)} weights, and open-set scores"
            )
        if self.confidence_.shape != UNCALIBRATED.shape:
            raise ValueError(f"confidence needs {UNCALIBRATED.size} coefficients")
        if self.background_.shape not in ((self.hops + 1, width), (0, width)):
            raise ValueError("there must be a background for each hop, or none")

    def embedding(self, view: GraphView, rows: NDArray[np.int64]) -> Matrix:
        """Return the rows of all hops side by side, each of length 1."""
        layers = self._weighing(view).propagated(rows, self.hops)
        return side_by_side([weigh_columns(layer, self.rarity_) for layer in layers])

    def explain_node(self, view: GraphView, row: int) -> dict[str, Any]:
        """Explain a prediction by signals and labels.

        ``for`` and ``for_runner_up`` add up to the scores of the two best classes. What cosines
        gave to the best one is divided among its labels and, together, the unlabelled nodes that
        refined its means; what diffusion gave, above a node without heat, among its labels. The
        five labels that gave most are named. ``relations`` has the number of neighbours of the
        node by edge type, and the weight of the type.
        """
        derivation, node = self.derived(view), np.array([row])
        parts = self.weights_[-1] * derivation.values(node)[:, 0].T
        shares = self.probabilities(view, parts.sum(axis=1)[None])[0]
        return {
            **explain_prediction(derivation, row, parts, shares, self.classes_),
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
        # Survives changes: the evidence of a view does not depend on labels.
        self._evidence_memo = LatestMemo[Evidence]()

    def _weighing(self, view: GraphView) -> GraphView:
        return view.weighing(self._worth(view))

    def _worth(self, view: GraphView) -> dict[str, float]:
        return {name: self.kinds_.get(name, self.unseen_kind_) for name in view.relations}

    def _evidence(self, view: GraphView) -> Evidence:
        def new_evidence() -> Evidence:
            latest, weighted = self._evidence_memo.latest, self._weighing(view)
            # No time is known to have almost even heat in practice, before there are weights.
            steep = (self.weights_[:, : self.times_.size] > STEEP).any(axis=0)
            times, even = tuple(self.times_.tolist()), tuple(np.flatnonzero(steep).tolist())
            blocks = tuple(typed_blocks(self.block_types_))
            same = times, even, blocks
            if latest and (latest.times, latest.even_times, latest.features.blocks) == same:
                grown = latest.grown(weighted)
                if grown is not None:
                    return grown
            features = SpreadFeatures(weighted, self.hops, self.rarity_, self.directed_, blocks)
            return Evidence(features, self.background_, times, even, self.ridge, self.few_labels)

        return self._evidence_memo.get((view, self.rarity_, self.times_), new_evidence)

    def _background(self, view: GraphView) -> NDArray[np.float64]:
        rows = view.sampled(SAMPLE, view.rows[:0])
        near = SpreadFeatures(self._weighing(view), self.hops, self.rarity_).rows(rows)
        even = np.full((rows.size, 1), 1.0 / rows.size)
        return np.concatenate([near.sums(hop, even) for hop in range(self.hops + 1)]) + 1e-7
