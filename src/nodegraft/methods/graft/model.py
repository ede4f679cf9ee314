"""Graft: class means by hop, words, diffusion and two regressions, combined into one score."""

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
"""Number of sampled nodes from which the background word frequencies are computed."""

STEEP = 5.0
"""Weight above which the heat at a diffusion time counts as almost even.

On real graphs weights are up to 1.5, on large random graphs up to 40. Without a correction, a label
without edges would lower the scores of its class at all other nodes by its share of the heat times
this weight."""


@dataclass(kw_only=True)
class Graft(Derived[Derivation]):
    r"""Classifier whose score is a weighted sum of signals; only the weights are fitted:

    .. math:: s_{ic} = \sum_h w_h \cos(z_i^h - \mu^h, q_c^h - \mu^h)
        + \sum_{h \in \{0, H\}} u_h\, z_i^h \cdot \log \frac{q_c^h + b^h}{2 b^h}
        + \sum_t v_t \log\Bigl(\frac{m^t_{ic}}{\bar m^t_c} + 0.1\Bigr)
        + g \log(\max(0, z_i^\top w_c) + 0.1) + g' \log(\max(0, y_i^\top w'_c) + 0.1)
        + k \log\Bigl(1 + \frac{100}{n_c}\Bigr)

    - :math:`z^h` are rows of :math:`S^h X` for :math:`h \le H`, with columns weighted by their
      rarity, scaled to length 1. If edges have a direction, there are two more kinds of rows: the
      features of the nodes that edges lead to, and of those that edges come from.
    - :math:`q_c^h` is the mean of a class's :math:`n_c` labels. If these are few, it includes the
      unlabelled nodes that the previous stage assigns to the class. :math:`\mu^h` is the mean of
      the first classes' means, and :math:`b^h` the mean of all nodes.
    - :math:`m^t_c = D^{-1/2} e^{-t (I - S)} s_c` is the heat that diffuses from the class's labels
      in time :math:`t`, divided by the root of each node's degree; :math:`\bar m` is its mean over
      all nodes. Edge types are weighted by how often they join nodes of one class.
    - :math:`z_i^\top w_c` is a ridge regression among the first classes' labels; a later class is
      added by its mean (:class:`~nodegraft.methods.linear.dual.FrozenRidge`).
      :math:`y_i^\top w'_c` is a second regression, on a node's own features and those of its
      neighbours, with a block for each edge type and direction. It can use neighbours of other
      classes.
    - The last term compensates for few labels: the mean of five nodes lies further from all nodes
      than that of five hundred.

    The weights :math:`w, u, v, g, g' \ge 0` and :math:`k` maximise the likelihood of known classes
    in practice episodes, where some classes have few labels
    (:mod:`nodegraft.streams.episodes.mixed`). They scale the score to log-odds. The model consists
    of its labels and these weights; everything else is derived from them and the current graph.
    """

    hops: NonNegativeInt = 2
    """Number of hops that features are propagated (:math:`H`); 0 uses a node's own features only.
    Each hop costs a pass over all edges once per graph."""

    diffusion: bool = True
    """Whether scores use heat that diffuses from the labels along edges. It costs a pass over all
    edges for each new class, unless practice finds that it does not help."""

    far_diffusion: bool = True
    """Whether long diffusion times are used in addition to short ones."""

    kept_labels: PositiveInt = 1000
    """Maximum number of labels of each class in means and diffusion, chosen by key hashes."""

    rare_words: bool = True
    """Whether sparse feature columns that few nodes have get a larger weight."""

    words: bool = True
    """Whether scores use how much more frequent each word is in a class than in all nodes. Has no
    effect if features are dense or negative."""

    edge_kinds: bool = True
    """Whether edge types are weighted by how often they join nodes of one class."""

    directions: bool = True
    """Whether the two directions of edges are separate signals, if edges have a direction."""

    ridge: bool = True
    """Whether scores use a regression on the first classes; later ones are added by means."""

    typed_blocks: bool = True
    """Whether scores use a second regression, on a node's own features and those of its neighbours
    by edge type and direction. It can use neighbours of other classes. It is used only if edges
    have several types or a direction, and if practice finds that it helps. It is limited to the 16
    edge types with the most edges."""

    refine: bool = True
    """Whether unlabelled nodes refine the means of classes with few labels."""

    few_labels: bool = True
    """Whether a term compensates for the lower scores of classes with few labels."""

    practise: bool = True
    """Whether the weights are fitted on known classes; otherwise default weights are used."""

    wrong_labels: bool = False
    """Whether some labels may be wrong. If so, the calibration of confidence weights each label by
    its chance to be right. A correctly labelled node that resembles another class is also treated
    as a wrong label, so confidence is too high where features are misleading."""

    world: World = DEFAULT_WORLD
    """Whether nodes may belong to unknown classes (``open``) or every node belongs to a known class
    (``closed``): see :mod:`nodegraft.model.confidence`. Nothing learned depends on it, so
    ``set_params(world=…)`` needs no refit."""

    rarity_: NDArray[np.float32] = learned()
    """Weight of every feature column."""

    background_: NDArray[np.float64] = learned()
    """Mean feature row of each hop over a sample of all nodes; empty if word signals are off."""

    kinds_: dict[str, float] = learned()
    """Weight of each edge type."""

    unseen_kind_: float = learned()
    """Weight of an edge type that appears after ``fit``."""

    directed_: bool = learned()
    """Whether directions of edges are used, that is, edges had a direction at ``fit``."""

    block_types_: dict[str, bool] = learned()
    """Edge types of the second regression, and whether each is directed; may be empty."""

    times_: NDArray[np.float64] = learned()
    """Diffusion times that were selected in practice episodes on known classes."""

    weights_: NDArray[np.float64] = learned()
    """Weight of each signal in each scoring stage."""

    confidence_: NDArray[np.float64] = learned()
    """Coefficients of the probability calibration."""

    open_set_: NDArray[np.float64] = learned()
    """Coefficients of the open-set score for each scoring stage."""

    name: ClassVar[str] = "graft"
    summary: ClassVar[str] = (
        "class means by hop, words, diffusion from labels; closed form, calibrated"
    )
    reversible: ClassVar[bool] = True
    block_rows: ClassVar[int] = 8192

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Compute statistics of the graph, then fit the weights of the signals."""
        columns = summarise_columns(view)
        self.rarity_ = columns.rarity if self.rare_words else np.ones_like(columns.rarity)
        self.kinds_, self.unseen_kind_ = dict.fromkeys(view.relations, 1.0), 1.0
        if self.edge_kinds:
            homophily = homophily_of_kinds(view, curriculum.train)
            self.kinds_, self.unseen_kind_ = relation_weights(homophily)
        self.directed_ = self.directions and view.has_directions
        self.listener.step("propagate features", 0, 1)
        self.background_ = np.zeros((0, view.num_features))
        # Word signals are only possible if features are counts.
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
        # Diffusion signals are the first signals in the list.
        unused = np.flatnonzero(~weights[:, : self.times_.size].any(axis=0))
        self.times_ = np.delete(self.times_, unused)
        # Use the memory layout that arrays have after loading, because rounding depends on it.
        self.weights_ = np.ascontiguousarray(np.delete(weights, unused, axis=1))
        self.open_set_ = np.stack([stage.open_set for stage in stages])
        self.confidence_ = UNCALIBRATED
        if rounds:
            self.confidence_ = fit_confidence(rounds, stages[-1].weights, self.wrong_labels)

    def _practise(
        self, view: GraphView, curriculum: Curriculum
    ) -> tuple[list[Mixture], list[Round]]:
        """Fit the signal weights of each scoring stage on practice episodes.

        Useless signals are dropped.
        """
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
        remaining = rounds[0].signals
        diffusion = [signal for signal in evidence.signals if signal.kind == "diffusion"]
        self.times_ = self.times_[[signal in remaining for signal in diffusion]]
        if not any(signal.kind == "edge types" for signal in remaining):
            self.block_types_ = {}
        return stages, rounds

    def learn_classes(self, view: GraphView, support: NodeLabels) -> None:
        """Drop data derived from the previous labels; the next prediction recomputes it."""
        self._forget_derived()

    def learn_labels(
        self, view: GraphView, support: NodeLabels, columns: NDArray[np.int64]
    ) -> None:
        """Drop data derived from the previous labels; the next prediction recomputes it."""
        self._forget_derived()

    def derive(self, view: GraphView) -> Derivation:
        """Compute class means, refine them in each stage, and prepare scoring."""
        return derive(
            self._evidence(view),
            self.labels_.on(view, self.kept_labels),
            np.array([keys.size for keys in self.labels_.values()], dtype=np.int64),
            np.array([known.session == 0 for known in self._table.classes]),
            # Pass all labels, including those that are not used, so that none of them counts as
            # unlabelled.
            view.rows_among(np.concatenate(list(self.labels_.values()))),
            list(map(Mixture, self.weights_, self.open_set_)),
            refine=self.refine,
            lasting=not self._is_trial,
        )

    def for_rows(self, value: Derivation, view: RowsView) -> Derivation:
        """Return the derivation for new rows.

        The heat of a new row is the mean heat of its neighbours.
        """
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
        """Return the chance that each node belongs to a known class.

        It depends on the node's best score and on the estimated share of nodes of known classes.
        The score is calibrated in practice episodes, on nodes of left-out classes; without such
        nodes the result is NaN.
        """
        if not self._has_open_set_score:
            return np.full(len(scores), np.nan)
        return known_class_probability(
            scores, self.open_set_[-1], self.derived(view).share_of_known
        )

    def share_of_known_classes(self, view: GraphView) -> float | None:
        """Estimate the share of nodes of known classes; return None without an open-set score."""
        return self.derived(view).share_of_known if self._has_open_set_score else None

    @property
    def _has_open_set_score(self) -> bool:
        """Whether the open-set score was fitted in the first and in the last stage.

        The first stage estimates the share of nodes of known classes; the last scores each node.
        """
        return bool((self.open_set_[[0, -1], 0] > 0).all())

    def check_learned(self) -> None:
        """Check diffusion times, and the shapes of weights, coefficients and background."""
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
        """Return the propagated features of all hops side by side, each scaled to length 1."""
        layers = self._weighing(view).propagated(rows, self.hops)
        return side_by_side([weigh_columns(layer, self.rarity_) for layer in layers])

    def explain_node(self, view: GraphView, row: int) -> dict[str, Any]:
        """Explain the prediction of a node by contributions of signals and labels.

        ``for`` and ``for_runner_up`` are signal contributions that add up to the scores of the two
        best classes. The contribution of cosines to the best class is split into its labels and,
        as one number, the unlabelled nodes that refined its means. The contribution of diffusion,
        relative to a node without heat, is split into the labels. The five labels with the largest
        contributions are listed; if nodes have several types, ``through`` names nodes of other
        types that are neighbours of both. ``relations`` contains the weight of each edge type, and
        how many neighbours the node has by it.
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
        # Label changes do not invalidate this cache, because the evidence of a view does not depend
        # on labels.
        self._evidence_memo = LatestMemo[Evidence]()

    def _weighing(self, view: GraphView) -> GraphView:
        return view.weighing(self._worth(view))

    def _worth(self, view: GraphView) -> dict[str, float]:
        return {name: self.kinds_.get(name, self.unseen_kind_) for name in view.relations}

    def _evidence(self, view: GraphView) -> Evidence:
        def new_evidence() -> Evidence:
            latest, weighted = self._evidence_memo.latest, self._weighing(view)
            # Weights are not fitted yet, so no diffusion time is treated as almost even.
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
