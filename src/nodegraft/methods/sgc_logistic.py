"""SGC logistic: scikit-learn's logistic regression on twice propagated features, fitted anew."""

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
    r"""What a user would do without a library: :math:`\log p_k = w_k^\top z + b_k`, with rows of
    :math:`S^2X` of length 1 and all labels there are, fitted from scratch in every session.

    Wu et al. 2019 (SGC), https://arxiv.org/abs/1902.07153.
    """

    hops: NonNegativeInt = 2
    """How far features are spread along edges."""

    strength: PositiveFloat = 10.0
    """How little weights are drawn to zero: scikit-learn's ``C``."""

    balanced: bool = True
    """Whether classes count alike, however many labels they have."""

    max_steps: PositiveInt = 100
    """The optimiser stops after so many steps at the latest."""

    weights_: NDArray[np.float32] = learned()
    """One row for each class."""

    offsets_: NDArray[np.float32] = learned()
    """One number for each class."""

    name: ClassVar[str] = "sgc-logistic"
    summary: ClassVar[str] = "logistic regression on propagated features, refitted each session"
    citation: ClassVar[str] = "Wu et al. 2019 (SGC)"
    block_rows: ClassVar[int] = 8192

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Fit the known classes."""
        self._fit(view)

    def learn_classes(self, view: GraphView, support: NodeLabels) -> None:
        """Fit all classes from scratch."""
        self._fit(view)

    def learn_labels(
        self, view: GraphView, support: NodeLabels, columns: NDArray[np.int64]
    ) -> None:
        """Fit all classes from scratch."""
        self._fit(view)

    def keep_classes(self, columns: NDArray[np.int64]) -> None:
        """Drop the other rows; the weights that are left were found beside them."""
        self.weights_, self.offsets_ = self.weights_[columns], self.offsets_[columns]

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return log-odds."""
        products = self.embedding(view, rows) @ self.weights_.T + self.offsets_
        return np.asarray(products, dtype=np.float64)

    def embedding(self, view: GraphView, rows: NDArray[np.int64]) -> Matrix:
        """Return the rows of the last hop, of length 1."""
        return normalise_rows(view.propagated(rows, self.hops)[-1])

    def _fit(self, view: GraphView) -> None:
        # Imported late, because it is slow to import and most methods do not need it.
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
            # scikit-learn keeps one row for two classes.
            weights, offsets = np.vstack((-weights, weights)), np.append(-offsets, offsets)
        self.weights_, self.offsets_ = weights.astype(np.float32), offsets.astype(np.float32)
