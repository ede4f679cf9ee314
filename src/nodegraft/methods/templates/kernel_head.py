"""What linear heads on propagated features share: they are solved among the labels themselves."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.parameters.constraints import PositiveInt
from nodegraft.graph.algebra.matrix import Matrix, is_sparse
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.methods.templates.propagated import Propagated
from nodegraft.nn.linear.dual import Dual
from nodegraft.streams.curriculum import Curriculum


class _Solved(NamedTuple):
    examples: Matrix
    dual: Dual


@dataclass(kw_only=True)
class KernelHead(Propagated):
    r"""Scores are :math:`s_k = \sum_j \alpha_{jk}\, \phi_j^\top \phi + \beta_k`, over all labels.

    There are far more features than labels, so the equations are solved in as many unknowns as
    there are labels (the dual form): the same solution, much smaller. What is learned is the
    labels; everything else is worked out from them and the graph, once for each of both.
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

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Solve for the known classes."""
        self._solved(view)

    def learn_classes(self, view: GraphView, support: NodeLabels) -> None:
        """Solve anew, with the labels of the new classes."""
        self._solved(view)

    def learn_labels(
        self, view: GraphView, support: NodeLabels, columns: NDArray[np.int64]
    ) -> None:
        """Solve anew, with more labels."""
        self._solved(view)

    def keep_classes(self, columns: NDArray[np.int64]) -> None:
        """The labels of the other classes are gone, and with them all they did."""

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """The products with all labels, weighed by class."""
        solved = self._solved(view)
        products = _products(self.lift(self.embedding(view, rows)), solved.examples)
        scores: NDArray[np.float64] = products @ solved.dual.coefficients + solved.dual.offsets
        return scores

    def _solved(self, view: GraphView) -> _Solved:
        kept: Any = self.__dict__.get("_cached_solution")
        if kept is None or kept[0]() is not view or kept[1] is not self.labels_:
            labels = self.labels_.on(view, self.kept_labels)
            examples = self.lift(self.embedding(view, labels.rows()))
            counts = np.array([rows.size for rows in labels.values()])
            gram = _products(examples, examples)
            solved = _Solved(examples, self.solve(gram, counts, examples.shape[1]))
            # Not of the view itself: what a graph has become too old for should be freed.
            kept = self.__dict__["_cached_solution"] = (ref(view), self.labels_, solved)
        solution: _Solved = kept[2]
        return solution


def _products(rows: Matrix, others: Matrix) -> NDArray[np.float64]:
    # In double: solving blows up what single precision loses.
    products = rows.astype(np.float64) @ others.T.astype(np.float64)
    dense: NDArray[np.float64] = products.toarray() if is_sparse(products) else products
    return dense
