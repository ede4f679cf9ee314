"""SGC ridge: class-balanced ridge regression on propagated features, in closed form."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.parameters.constraints import NonNegativeInt, PositiveFloat
from nodegraft.graph.edges.matrix import Matrix, normalise_rows, weigh_columns
from nodegraft.graph.keys import hash_order
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.propagation.typed_blocks import block_neighbours, block_types, typed_blocks
from nodegraft.graph.statistics import column_rarity
from nodegraft.graph.view import GraphView
from nodegraft.methods.linear.dual import Dual, dual_ridge
from nodegraft.methods.templates.propagated import KernelHead, Solved, side_by_side
from nodegraft.model.learned import learned
from nodegraft.streams.curriculum import Curriculum


@dataclass(kw_only=True)
class SGCRidge(KernelHead):
    r"""``ridge`` on :math:`z = [X, SX, S^2X]` instead of an encoder:

    .. math:: s(z) = z^\top Z^\top (Z Z^\top + \lambda D)^{-1} Y

    where :math:`Z` has the feature rows of the labels, :math:`Y` their one-hot classes and
    :math:`D` the number of labels of each label's class
    (:func:`nodegraft.methods.linear.dual.dual_ridge`). Newer work also combines a closed-form head
    with a frozen encoder (Zhuang et al. 2022, ACIL).

    The options ``idf`` and ``typed_blocks`` provide inputs that ``graft`` uses;
    ``self_training`` adds a round of self-training. With
    ``typed_blocks`` a row is :math:`z = [X, A_r^\mathrm{out} X, A_r^\mathrm{in} X, …] / \sqrt{b}`
    over all edge types :math:`r`, each of the :math:`b` blocks scaled to length 1.
    """

    penalty: PositiveFloat = 0.1
    r"""Strength of L2 regularisation (:math:`\lambda`); feature rows have length 1."""

    idf: bool = False
    """Whether sparse feature columns are weighted by inverse document frequency, counted over the
    nodes visible at ``fit``."""

    typed_blocks: bool = False
    """Whether rows consist of a node's own features and the summed features of its neighbours, with
    a separate block for each edge type and direction. An edge type without directions has one
    block. Only the 16 edge types with the most edges are used. ``hops`` then has no effect. Edge
    types that appear after ``fit`` are ignored."""

    self_training: NonNegativeInt = 0
    """Number of unlabelled visible nodes added to the labels of each class in a second solution:
    those with the highest scores among the nodes that the first solution assigns to the class."""

    rarity_: NDArray[np.float32] = learned()
    """Inverse document frequency of each column; empty without ``idf``."""

    edge_types_: dict[str, bool] = learned()
    """Edge types that have blocks, and whether each is directed; may be empty."""

    name: ClassVar[str] = "sgc-ridge"
    summary: ClassVar[str] = "propagated features, class-balanced ridge regression in closed form"
    citation: ClassVar[str] = "Wu et al. 2019 (SGC); Zhuang et al. 2022 (ACIL)"
    reversible: ClassVar[bool] = True

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Compute column weights and blocks, then solve the regression for known classes."""
        self.rarity_ = column_rarity(view) if self.idf else np.zeros(0, dtype=np.float32)
        self.edge_types_ = {}
        if self.typed_blocks:
            self.edge_types_ = block_types(view)
        super().learn_base(view, curriculum)

    def embedding(self, view: GraphView, rows: NDArray[np.int64]) -> Matrix:
        """Return the blocks by hop or by edge type side by side; sparse blocks stay sparse."""
        typed = self.typed_blocks
        blocks = self._blocks_by_type(view, rows) if typed else view.propagated(rows, self.hops)
        if self.idf:
            blocks = [weigh_columns(block, self.rarity_) for block in blocks]
        matrix = side_by_side(blocks)
        return matrix / np.float32(np.sqrt(len(blocks))) if typed else normalise_rows(matrix)

    def derive(self, view: GraphView) -> Solved:
        """Solve the regression on all labels.

        With ``self_training``, nodes are added to the labels and the regression is solved again.
        """
        first = super().derive(view)
        if not self.self_training:
            return first
        labels = self.labels_.on(view, self.kept_labels)
        unlabelled = np.setdiff1d(view.rows, self.labels_.on(view).rows())
        scores = [
            self.scores_of(view, unlabelled[start : start + self.block_rows], first)
            for start in range(0, unlabelled.size, self.block_rows)
        ]
        if not scores:
            return first
        # Round the scores, so that the hash of keys decides between nodes with equal scores.
        ranks = np.argsort(hash_order(view.key_array_of(unlabelled)))
        pseudo_labels = highest_scores(np.concatenate(scores).round(9), ranks, self.self_training)
        more = {name: unlabelled[new] for name, new in zip(labels, pseudo_labels, strict=True)}
        both = {name: np.concatenate((own, more[name])) for name, own in labels.items()}
        return self.solved(view, NodeLabels(both))

    def solve(self, gram: NDArray[np.float64], counts: NDArray[np.int64], width: int) -> Dual:
        """Solve a ridge regression on one-hot targets."""
        return dual_ridge(gram, counts, self.penalty)

    def check_learned(self) -> None:
        """Check that there is a weight for each column with ``idf``, and none without it."""
        columns = self._inputs.num_features if self.idf else 0
        if self.rarity_.shape != (columns,):
            raise ValueError(f"there must be {columns} weights of columns")

    def _blocks_by_type(self, view: GraphView, rows: NDArray[np.int64]) -> list[Matrix]:
        near = [block_neighbours(view, rows, block) for block in typed_blocks(self.edge_types_)]
        sums = [layer.hops[0].matrix @ layer.features.matrix for layer in near]
        return [view.features(rows), *sums]


def highest_scores(
    scores: NDArray[np.float64], ranks: NDArray[np.int64], count: int
) -> list[NDArray[np.int64]]:
    """Return, for each class, the positions of its nodes with the highest scores, best first.

    A node is assigned only to the class of its highest score.

    >>> scores = np.array([[0.9, 0.1], [0.5, 0.4], [0.7, 0.8], [0.9, 0.3]])
    >>> [places.tolist() for places in highest_scores(scores, np.array([1, 2, 3, 0]), count=2)]
    [[3, 0], [2]]

    Args:
        scores: Scores: nodes x classes.
        ranks: Rank of each node; for equal scores, the lowest rank comes first.
        count: Maximum number of nodes of each class.
    """
    best = scores.argmax(axis=1)
    order = np.lexsort((ranks, -scores.max(axis=1)))
    return [order[best[order] == column][:count] for column in range(scores.shape[1])]
