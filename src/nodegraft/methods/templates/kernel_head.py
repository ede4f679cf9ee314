"""What linear heads on propagated features share: they are solved among the labels themselves."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.parameters.constraints import PositiveInt
from nodegraft.graph.algebra.matrix import Matrix, is_sparse
from nodegraft.graph.view import GraphView
from nodegraft.methods.templates.derived import Derived
from nodegraft.methods.templates.propagated import Propagated
from nodegraft.nn.linear.dual import Dual


class Solved(NamedTuple):
    """What scores are made of."""

    examples: Matrix
    """The rows of the labels."""

    dual: Dual
    """What each of them is worth for each class."""


@dataclass(kw_only=True)
class KernelHead(Derived[Solved], Propagated):
    r"""Scores are :math:`s_k = \sum_j \alpha_{jk}\, \phi_j^\top \phi + \beta_k`, over all labels.

    There are far more features than labels, so the equations are solved in as many unknowns as
    there are labels (the dual form): the same solution, much smaller.
    """

    kept_labels: PositiveInt = 60
    """At most so many labels of a class take part, drawn by the hash of their keys."""

    @abstractmethod
    def solve(self, gram: NDArray[np.float64], counts: NDArray[np.int64], width: int) -> Dual:
        r"""The coefficients :math:`\alpha` and offsets :math:`\beta` of every class.

        Args:
            gram: The inner products of all labels, one class after the other.
            counts: How many of them each class has.
            width: How many features a row has.
        """

    def lift(self, vectors: Matrix) -> Matrix:
        r"""What the head is linear in (:math:`\phi`); the propagated rows as they are.

        Args:
            vectors: Propagated rows.
        """
        return vectors

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """The products with all labels, weighed by class."""
        solved = self.derived(view)
        products = _products(self.lift(self.embedding(view, rows)), solved.examples)
        scores: NDArray[np.float64] = products @ solved.dual.coefficients + solved.dual.offsets
        return scores

    def derive(self, view: GraphView) -> Solved:
        """The equations of all labels, solved."""
        labels = self.labels_.on(view, self.kept_labels)
        examples = self.lift(self.embedding(view, labels.rows()))
        counts = np.array([rows.size for rows in labels.values()])
        gram = _products(examples, examples)
        return Solved(examples, self.solve(gram, counts, examples.shape[1]))


def _products(rows: Matrix, others: Matrix) -> NDArray[np.float64]:
    # In double: solving blows up what single precision loses.
    products = rows.astype(np.float64) @ others.T.astype(np.float64)
    dense: NDArray[np.float64] = products.toarray() if is_sparse(products) else products
    return dense
