"""Base classes of methods on propagated features, and of linear heads in dual form."""

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
    r"""Base class of methods on propagated features :math:`z = [X, SX, S^2X]`.

    Each part is scaled to length 1, then the whole row.
    """

    hops: NonNegativeInt = 2
    """Number of hops that features are propagated along edges."""

    block_rows: ClassVar[int] = 4096

    def embedding(self, view: GraphView, rows: NDArray[np.int64]) -> Matrix:
        """Return propagated features of all hops side by side, scaled to length 1.

        Sparse features stay sparse.
        """
        return normalise_rows(side_by_side(view.propagated(rows, self.hops)))


def side_by_side(blocks: Sequence[Matrix]) -> Matrix:
    """Return blocks of columns as one matrix; each row of a block is scaled to length 1.

    Args:
        blocks: Matrices with the same rows, all dense or all sparse; at least one.
    """
    parts = [normalise_rows(block) for block in blocks]
    return csr_array(hstack(parts)) if is_sparse(parts[0]) else np.hstack(parts)


class Solved(NamedTuple):
    """Weights and offsets that scores are computed from."""

    weights: NDArray[np.float64]
    """Weights: features x classes."""

    offsets: NDArray[np.float64]
    """Offset of each class."""


@dataclass(kw_only=True)
class KernelHead(Derived[Solved], Propagated):
    r"""Base class of methods with a linear head in dual form.

    Scores are :math:`s_k = w_k^\top \phi + \beta_k` with :math:`w_k = \sum_j \alpha_{jk} \phi_j`
    over all labels. There are far more features than labels, so the dual form is solved for
    :math:`\alpha`, with as many unknowns as labels: the solution is equal, and the system is much
    smaller.
    """

    kept_labels: PositiveInt = 60
    """Maximum number of labels used for each class, selected by the hash of their keys."""

    @abstractmethod
    def solve(self, gram: NDArray[np.float64], counts: NDArray[np.int64], width: int) -> Dual:
        r"""Return the coefficients :math:`\alpha` and offsets :math:`\beta` of every class.

        Args:
            gram: Inner products of all labels, ordered by class.
            counts: Number of labels of each class.
            width: Number of feature columns.
        """

    def lift(self, vectors: Matrix) -> Matrix:
        r"""Return the inputs of the linear head (:math:`\phi`): here the propagated features."""
        return vectors

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the score of each class."""
        return self.scores_of(view, rows, self.derived(view))

    def scores_of(
        self, view: GraphView, rows: NDArray[np.int64], solved: Solved
    ) -> NDArray[np.float64]:
        """Return scores of nodes for given weights and offsets."""
        scores: NDArray[np.float64] = self._lifted(view, rows) @ solved.weights + solved.offsets
        return scores

    def derive(self, view: GraphView) -> Solved:
        """Solve the head for all classes, with at most ``kept_labels`` labels each."""
        return self.solved(view, self.labels_.on(view, self.kept_labels))

    def solved(self, view: GraphView, labels: NodeLabels) -> Solved:
        """Return the weights and offsets learned from the given labels."""
        examples = self._lifted(view, labels.rows())
        counts = np.array([rows.size for rows in labels.values()])
        dual = self.solve(gram(examples), counts, examples.shape[1])
        return Solved(examples.T @ dual.coefficients, dual.offsets)

    def _lifted(self, view: GraphView, rows: NDArray[np.int64]) -> Matrix:
        # Use double precision, because solving amplifies rounding errors.
        return self.lift(self.embedding(view, rows)).astype(np.float64)
