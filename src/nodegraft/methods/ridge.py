"""Analytic ridge: class-balanced least squares on the frozen embeddings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from nodegraft.base.parameters.constraints import PositiveFloat
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.methods.linear.ridge import balanced_moments, ridge_weights, with_bias
from nodegraft.methods.templates.pretrained import Frozen
from nodegraft.model.learned import learned
from nodegraft.streams.curriculum import Curriculum


@dataclass(kw_only=True)
class Ridge(Frozen):
    r"""Ridge regression on one-hot targets, with equal total weight for each class:

    .. math:: W = (G + \lambda s J)^{-1} Q, \quad
        G = \sum_c \frac{1}{n_c} \sum_{i \in c} \phi_i \phi_i^\top, \quad
        Q_c = \frac{1}{n_c} \sum_{i \in c} \phi_i, \quad
        \phi = \left[\frac{z - \mu}{\lVert z - \mu \rVert}, 1\right]

    :math:`G` and :math:`Q` are sums over classes: adding classes one session at a time gives the
    same weights as learning all of them at once. Zhuang et al. 2022 (ACIL),
    https://arxiv.org/abs/2205.14922, and its few-shot variant GKEAL, Zhuang et al. 2023.

    Differences from the sources: in ACIL all nodes have equal weight, so a class with five labels
    has little influence compared to one with hundreds; hence the factor :math:`1 / n_c`. The papers
    map embeddings to more dimensions by a random or kernel layer; here the method ``ranpac`` does
    this. Instead, this method subtracts :math:`\mu`, the mean of the class means of session 0, and
    scales rows to length 1. Without this, classes mask each other if there are many of them in few
    dimensions. The papers update :math:`(G + \lambda I)^{-1}` recursively; for embeddings this
    small, storing :math:`G` and solving again is as exact and simpler. The bias is not penalised
    (:math:`J`), and the penalty is relative to :math:`s`, the mean of the diagonal of :math:`G`.
    Scaling and penalty were chosen on validation classes (amazon-clothing, debian, gentoo; two
    seeds). All computations use double precision.
    """

    penalty: PositiveFloat = 1e-4
    r"""Strength of L2 regularisation (:math:`\lambda`), relative to the scale of the features."""

    gram_: Tensor = learned()
    """Left side of the ridge equation (:math:`G`), summed over classes."""

    means_: Tensor = learned()
    """Right side of the ridge equation (:math:`Q`): the mean of each class."""

    weights_: Tensor = learned()
    """Weights, one row per class."""

    lift_: Tensor = learned()
    """Mean of the class means of session 0, which :meth:`lift` subtracts."""

    name: ClassVar[str] = "ridge"
    summary: ClassVar[str] = "pre-trained GCN, class-balanced ridge regression in closed form"
    citation: ClassVar[str] = "Zhuang et al. 2022 (ACIL); Zhuang et al. 2023 (GKEAL)"
    block_rows: ClassVar[int] = 8192

    def learn_lift(self, classes: Sequence[Tensor]) -> None:
        """Compute the mean of the class means of session 0, which :meth:`lift` subtracts."""
        self.lift_ = torch.stack([rows.mean(dim=0) for rows in classes]).mean(dim=0)

    def lift(self, vectors: Tensor) -> Tensor:
        """Subtract the mean of session 0 from embeddings, and scale them to length 1."""
        return F.normalize(vectors - self.lift_)

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Pre-train the encoder, then solve the regression for the known classes."""
        self.learn_encoder(view, curriculum)
        classes = self._classes(view, curriculum.train)
        self.learn_lift(classes)
        self.gram_, self.means_ = balanced_moments(map(self._regressors, classes))
        self.weights_ = ridge_weights(self.gram_, self.means_, self.penalty)

    def learn_classes(self, view: GraphView, support: NodeLabels) -> None:
        """Add the new classes to both sides of the ridge equation, and solve it again."""
        gram, means = balanced_moments(map(self._regressors, self._classes(view, support)))
        self.gram_, self.means_ = self.gram_ + gram, torch.cat((self.means_, means))
        self.weights_ = ridge_weights(self.gram_, self.means_, self.penalty)

    def keep_classes(self, columns: NDArray[np.int64]) -> None:
        """Drop the removed classes.

        Their nodes stay in G, so scores of other classes do not change.
        """
        indices = torch.from_numpy(columns)
        self.means_, self.weights_ = self.means_[indices], self.weights_[indices]

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor:
        """Return the regression output for each class: an estimate of its one-hot target."""
        return self._regressors(self.embedding(view, rows).double()) @ self.weights_.T

    def _classes(self, view: GraphView, labelled: NodeLabels) -> Sequence[Tensor]:
        vectors, _ = self.embedded(view, labelled)
        return torch.split(vectors.double(), [rows.size for rows in labelled.values()])

    def _regressors(self, vectors: Tensor) -> Tensor:
        return with_bias(self.lift(vectors))
