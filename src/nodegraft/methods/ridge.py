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
    r"""One-hot targets by least squares, each class with the same weight in all:

    .. math:: W = (G + \lambda s J)^{-1} Q, \quad
        G = \sum_c \frac{1}{n_c} \sum_{i \in c} \phi_i \phi_i^\top, \quad
        Q_c = \frac{1}{n_c} \sum_{i \in c} \phi_i, \quad
        \phi = \left[\frac{z - \mu}{\lVert z - \mu \rVert}, 1\right]

    :math:`G` and :math:`Q` are sums over classes: adding classes one session at a time gives the
    weights of learning all of them at once. Zhuang et al. 2022 (ACIL),
    https://arxiv.org/abs/2205.14922, and its few-shot kin GKEAL, Zhuang et al. 2023.

    Adapted: ACIL weighs nodes alike, which leaves a class of five hardly a vote against one
    of hundreds; hence :math:`1 / n_c`. The papers widen the embeddings by a random or kernel layer,
    which is ``ranpac`` here; instead, rows are taken off :math:`\mu`, the mean of the class means
    of session 0, and made of length 1, without which many classes in few dimensions mask each
    other. They update :math:`(G + \lambda I)^{-1}` recursively; with embeddings this small, keeping
    :math:`G` and solving again is as exact and simpler. The bias is not penalised (:math:`J`), and
    the penalty is relative to :math:`s`, the mean of G's diagonal. Length and penalty were chosen
    on validation classes (amazon-clothing, debian, gentoo; two seeds). All in double precision.
    """

    penalty: PositiveFloat = 1e-4
    r"""How strongly weights are drawn to zero (:math:`\lambda`), relative to the features."""

    gram_: Tensor = learned()
    """The left side of the equation, summed over classes."""

    means_: Tensor = learned()
    """Its right side: one mean for each class."""

    weights_: Tensor = learned()
    """One row of weights for each class."""

    lift_: Tensor = learned()
    """What :meth:`lift` needs: the mean of the class means of session 0."""

    name: ClassVar[str] = "ridge"
    summary: ClassVar[str] = "pre-trained GCN, class-balanced ridge regression in closed form"
    citation: ClassVar[str] = "Zhuang et al. 2022 (ACIL); Zhuang et al. 2023 (GKEAL)"
    block_rows: ClassVar[int] = 8192

    def learn_lift(self, classes: Sequence[Tensor]) -> None:
        """Learn what :meth:`lift` needs of session 0: the mean of the class means."""
        self.lift_ = torch.stack([rows.mean(dim=0) for rows in classes]).mean(dim=0)

    def lift(self, vectors: Tensor) -> Tensor:
        """Return the regressors: embeddings minus the mean of session 0, of length 1."""
        return F.normalize(vectors - self.lift_)

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Pre-train the encoder, then solve for the known classes."""
        self.learn_encoder(view, curriculum)
        classes = self._classes(view, curriculum.train)
        self.learn_lift(classes)
        self.gram_, self.means_ = balanced_moments(map(self._regressors, classes))
        self.weights_ = ridge_weights(self.gram_, self.means_, self.penalty)

    def learn_classes(self, view: GraphView, support: NodeLabels) -> None:
        """Add to both sides of the equation and solve it again."""
        gram, means = balanced_moments(map(self._regressors, self._classes(view, support)))
        self.gram_, self.means_ = self.gram_ + gram, torch.cat((self.means_, means))
        self.weights_ = ridge_weights(self.gram_, self.means_, self.penalty)

    def keep_classes(self, columns: NDArray[np.int64]) -> None:
        """Drop the other columns; their nodes stay in G, so no other score changes."""
        kept = torch.from_numpy(columns)
        self.means_, self.weights_ = self.means_[kept], self.weights_[kept]

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor:
        """Return the regression's estimate of each class's indicator."""
        return self._regressors(self.embedding(view, rows).double()) @ self.weights_.T

    def _classes(self, view: GraphView, labelled: NodeLabels) -> Sequence[Tensor]:
        vectors, _ = self.embedded(view, labelled)
        return torch.split(vectors.double(), [rows.size for rows in labelled.values()])

    def _regressors(self, vectors: Tensor) -> Tensor:
        return with_bias(self.lift(vectors))
