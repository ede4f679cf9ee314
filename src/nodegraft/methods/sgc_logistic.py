"""SGC logistic: scikit-learn's logistic regression on features that are propagated twice."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.parameters.constraints import NonNegativeInt, PositiveFloat, PositiveInt
from nodegraft.graph.edges.matrix import Matrix, normalise_rows
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.model.learned import learned
from nodegraft.model.method import Method
from nodegraft.streams.curriculum import Curriculum


@dataclass(kw_only=True)
class SGCLogistic(Method):
    r"""Logistic regression on propagated features: :math:`\log p_k = w_k^\top z + b_k`.

    The inputs are rows of :math:`S^2X`, scaled to length 1. Every session refits it from scratch on
    all labels. This is a simple baseline that needs only scikit-learn. Wu et al. 2019 (SGC), https://arxiv.org/abs/1902.07153.
    """

    hops: NonNegativeInt = 2
    """Number of hops that features are propagated along edges."""

    strength: PositiveFloat = 10.0
    """Inverse strength of L2 regularisation: scikit-learn's ``C``."""

    balanced: bool = True
    """Whether all classes have equal weight, however many labels they have."""

    max_steps: PositiveInt = 100
    """Maximum number of steps of the optimiser."""

    weights_: NDArray[np.float32] = learned()
    """Weights, one row per class."""

    offsets_: NDArray[np.float32] = learned()
    """Offset of each class."""

    name: ClassVar[str] = "sgc-logistic"
    summary: ClassVar[str] = "logistic regression on propagated features, refitted each session"
    citation: ClassVar[str] = "Wu et al. 2019 (SGC)"
    block_rows: ClassVar[int] = 8192

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Fit the logistic regression to the labels of the known classes."""
        self._fit(view)

    def learn_classes(self, view: GraphView, support: NodeLabels) -> None:
        """Refit the logistic regression from scratch on the labels of all classes."""
        self._fit(view)

    def learn_labels(
        self, view: GraphView, support: NodeLabels, columns: NDArray[np.int64]
    ) -> None:
        """Refit the logistic regression from scratch on the labels of all classes."""
        self._fit(view)

    def keep_classes(self, columns: NDArray[np.int64]) -> None:
        """Drop the weights of the removed classes; weights of other classes are not refitted."""
        self.weights_, self.offsets_ = self.weights_[columns], self.offsets_[columns]

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the score of each class, in log-odds."""
        products = self.embedding(view, rows) @ self.weights_.T + self.offsets_
        return np.asarray(products, dtype=np.float64)

    def embedding(self, view: GraphView, rows: NDArray[np.int64]) -> Matrix:
        """Return the features propagated over all hops, scaled to length 1."""
        return normalise_rows(view.propagated(rows, self.hops)[-1])

    def _fit(self, view: GraphView) -> None:
        # This import is slow, and most methods do not need it.
        from sklearn.linear_model import LogisticRegression

        labels = self.labels_.on(view)
        targets = labels.targets(labels.classes)
        if len(labels) == 1:
            width = view.num_features
            self.weights_ = np.zeros((1, width), dtype=np.float32)
            self.offsets_ = np.zeros(1, dtype=np.float32)
            return
        weighing = "balanced" if self.balanced else None
        engine = LogisticRegression(
            C=self.strength, class_weight=weighing, max_iter=self.max_steps, tol=1e-3
        )
        engine.fit(self.embedding(view, labels.rows()), targets)
        weights, offsets = engine.coef_, engine.intercept_
        if len(labels) == 2:
            # For two classes, scikit-learn returns a single row of weights.
            weights, offsets = np.vstack((-weights, weights)), np.append(-offsets, offsets)
        self.weights_, self.offsets_ = weights.astype(np.float32), offsets.astype(np.float32)
