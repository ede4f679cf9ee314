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

    with :math:`Z` the rows of the labels, :math:`Y` their classes and :math:`D` the number of
    labels of each one's class (:func:`nodegraft.methods.linear.dual.dual_ridge`). The analytic head
    on a frozen backbone without parameters is the recipe of newer work (Zhuang et al. 2022, ACIL).

    Two options give it the inputs of ``graft``; a third adds a round of self-training. With
    ``typed_blocks`` a row is :math:`z = [X, A_r^\mathrm{out} X, A_r^\mathrm{in} X, …] / \sqrt{b}`
    over all edge types :math:`r`, each of the :math:`b` blocks of length 1.
    """

    penalty: PositiveFloat = 0.1
    r"""Strength of L2 regularisation (:math:`\lambda`); feature rows have length 1."""

    idf: bool = False
    """Whether columns of sparse features are weighted by inverse document frequency, counted over
    the nodes visible at ``fit``."""

    typed_blocks: bool = False
    """Whether rows consist of a node's own features and the summed features of its neighbours,
    apart by edge type and direction (one block for an edge type without directions; at most 16
    edge types, those with most edges). ``hops`` has no effect then. Edge types that appear after
    ``fit`` are ignored."""

    self_training: NonNegativeInt = 0
    """How many unlabelled visible nodes of each class join its labels in a second solution: those
    with the highest scores among the nodes that the first one assigns to the class."""

    rarity_: NDArray[np.float32] = learned()
    """Inverse document frequency of each column; empty without ``idf``."""

    edge_types_: dict[str, bool] = learned()
    """Edge types that have blocks, and whether each has directions; none without
    ``typed_blocks``."""

    name: ClassVar[str] = "sgc-ridge"
    summary: ClassVar[str] = "propagated features, class-balanced ridge regression in closed form"
    citation: ClassVar[str] = "Wu et al. 2019 (SGC); Zhuang et al. 2022 (ACIL)"
    reversible: ClassVar[bool] = True

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Learn column weights and the list of blocks, then solve for the known classes."""
        self.rarity_ = column_rarity(view) if self.idf else np.zeros(0, dtype=np.float32)
        self.edge_types_ = {}
        if self.typed_blocks:
            self.edge_types_ = block_types(view)
        super().learn_base(view, curriculum)

    def embedding(self, view: GraphView, rows: NDArray[np.int64]) -> Matrix:
        """Return the hop blocks, or the typed ones, side by side; sparse ones stay sparse."""
        typed = self.typed_blocks
        blocks = self._blocks_by_type(view, rows) if typed else view.propagated(rows, self.hops)
        if self.idf:
            blocks = [weigh_columns(block, self.rarity_) for block in blocks]
        joined = side_by_side(blocks)
        return joined / np.float32(np.sqrt(len(blocks))) if typed else normalise_rows(joined)

    def derive(self, view: GraphView) -> Solved:
        """Solve for the labels, then for labels and nodes of highest score if it trains itself."""
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
        # Scores are rounded, so that nodes with equal ones are chosen by the hash of their keys.
        ranks = np.argsort(hash_order(view.key_array_of(unlabelled)))
        chosen = highest_scores(np.concatenate(scores).round(9), ranks, self.self_training)
        more = {name: unlabelled[new] for name, new in zip(labels, chosen, strict=True)}
        both = {name: np.concatenate((own, more[name])) for name, own in labels.items()}
        return self.solved(view, NodeLabels(both))

    def solve(self, gram: NDArray[np.float64], counts: NDArray[np.int64], width: int) -> Dual:
        """Solve a ridge regression on one-hot targets."""
        return dual_ridge(gram, counts, self.penalty)

    def check_learned(self) -> None:
        """Require a weight for each column if there are weights."""
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
    """Return for each class the positions of its best nodes, best first.

    A node counts for the class of its highest score only.

    >>> scores = np.array([[0.9, 0.1], [0.5, 0.4], [0.7, 0.8], [0.9, 0.3]])
    >>> [places.tolist() for places in highest_scores(scores, np.array([1, 2, 3, 0]), count=2)]
    [[3, 0], [2]]

    Args:
        ranks: Decide between equal scores: the lowest rank first.
        count: Number of nodes of each class; a class that has fewer gets fewer.
    """
    best = scores.argmax(axis=1)
    order = np.lexsort((ranks, -scores.max(axis=1)))
    return [order[best[order] == column][:count] for column in range(scores.shape[1])]
