"""Methods on propagated features, and linear heads that are solved among the labels."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from nodegraft.base.parameters.constraints import NonNegativeInt, PositiveInt
from nodegraft.graph.edges.matrix import Matrix, gram, is_sparse, normalise_rows
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.methods.linear.dual import Dual
from nodegraft.methods.templates.derived import Derived
from nodegraft.model.method import Method


@dataclass(kw_only=True)
class Propagated(Method):
    r"""Stands on :math:`z = [X, SX, S^2X]`, each part and then the whole of length 1."""

    hops: NonNegativeInt = 2
    """How far features are spread along edges."""

    block_rows: ClassVar[int] = 4096

    def embedding(self, view: GraphView, rows: NDArray[np.int64]) -> Matrix:
        """Return propagated rows side by side, together of length 1; sparse ones stay sparse."""
        return normalise_rows(side_by_side(view.propagated(rows, self.hops)))


def side_by_side(blocks: Sequence[Matrix]) -> Matrix:
    """Return the blocks of columns as one matrix, every row of each block of length 1.

    Args:
        blocks: Matrices with the same rows, all dense or all sparse; at least one.
    """
    parts = [normalise_rows(block) for block in blocks]
    return csr_array(hstack(parts)) if is_sparse(parts[0]) else np.hstack(parts)


class Solved(NamedTuple):
    """Values that scores are computed from."""

    weights: NDArray[np.float64]
    """One row a feature, one column a class."""

    offsets: NDArray[np.float64]
    """One for each class."""


@dataclass(kw_only=True)
class KernelHead(Derived[Solved], Propagated):
    r"""Scores are :math:`s_k = w_k^\top \phi + \beta_k` with :math:`w_k = \sum_j \alpha_{jk}
    \phi_j` over all labels.

    There are far more features than labels, so the equations are solved for :math:`\alpha`, in as
    many unknowns as there are labels (the dual form): the same solution, much smaller.
    """

    kept_labels: PositiveInt = 60
    """At most so many labels of a class take part, drawn by the hash of their keys."""

    @abstractmethod
    def solve(self, gram: NDArray[np.float64], counts: NDArray[np.int64], width: int) -> Dual:
        r"""Return the coefficients :math:`\alpha` and offsets :math:`\beta` of every class.

        Args:
            gram: The inner products of all labels, one class after the other.
        """

    def lift(self, vectors: Matrix) -> Matrix:
        r"""Return what the head is linear in (:math:`\phi`): the propagated rows."""
        return vectors

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the products with the weights of every class."""
        return self.scores_of(view, rows, self.derived(view))

    def scores_of(
        self, view: GraphView, rows: NDArray[np.int64], solved: Solved
    ) -> NDArray[np.float64]:
        """Return the scores of nodes: propagated features times given weights, plus offsets."""
        scores: NDArray[np.float64] = self._lifted(view, rows) @ solved.weights + solved.offsets
        return scores

    def derive(self, view: GraphView) -> Solved:
        """Solve the equations of all labels."""
        return self.solved(view, self.labels_.on(view, self.kept_labels))

    def solved(self, view: GraphView, labels: NodeLabels) -> Solved:
        """Return weights and offsets that are learned from some labels."""
        examples = self._lifted(view, labels.rows())
        counts = np.array([rows.size for rows in labels.values()])
        dual = self.solve(gram(examples), counts, examples.shape[1])
        return Solved(examples.T @ dual.coefficients, dual.offsets)

    def _lifted(self, view: GraphView, rows: NDArray[np.int64]) -> Matrix:
        # In double: solving blows up what single precision loses.
        return self.lift(self.embedding(view, rows)).astype(np.float64)
