"""Streaming LDA: a mean for every class, one covariance for all of them."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nodegraft.base.parameters.constraints import FractionBelowOne
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.methods.linear.ridge import shrink_covariance, within_class_scatter
from nodegraft.methods.neural.prototypes import class_means
from nodegraft.methods.templates.pretrained import Frozen
from nodegraft.model.learned import learned
from nodegraft.streams.curriculum import Curriculum


@dataclass(kw_only=True)
class LDA(Frozen):
    r"""Classes are Gaussians of one shape on the frozen embeddings:

    .. math:: s_k = w_k^\top z - \tfrac{1}{2} w_k^\top \mu_k, \quad
        w_k = [(1 - \epsilon) \Sigma + \epsilon s I]^{-1} \mu_k, \quad
        \Sigma = \frac{1}{n} \sum_i (z_i - \mu_{y_i})(z_i - \mu_{y_i})^\top

    What is kept is the class means, the scatter and the number of nodes in it: sums, so the order
    in which classes arrive changes nothing but rounding. Hayes & Kanan 2020,
    https://arxiv.org/abs/1909.01520.

    Adapted: the paper's shrinkage :math:`\epsilon = 10^{-4}` is of the identity, for embeddings of
    one scale; here it is relative to :math:`s`, the mean variance (1 where nothing varies), and ten
    times that. A class arrives whole, so its mean is final and every node is taken off its own mean
    rather than off a running one. All classes are equally likely beforehand: the share of a class
    in the labels says how it was collected. Nodes count alike in :math:`\Sigma`, so that it is the
    many labels of session 0 that shape it.
    """

    shrinkage: FractionBelowOne = 1e-3
    r"""How far the covariance is drawn to a round one (:math:`\epsilon`); 0 fails where embeddings
    do not vary in every direction."""

    means_: Tensor = learned()
    """One mean for each class."""

    scatter_: Tensor = learned()
    """The sum of squares around the class means."""

    nodes_: int = learned()
    """How many nodes are in the scatter."""

    weights_: Tensor = learned()
    """One discriminant for each class."""

    biases_: Tensor = learned()
    """And its offset."""

    name: ClassVar[str] = "lda"
    summary: ClassVar[str] = "pre-trained GCN, linear discriminants with one running covariance"
    citation: ClassVar[str] = "Hayes & Kanan 2020 (SLDA)"

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Pre-train the encoder; then known classes are learned like any others."""
        self.learn_encoder(view, curriculum)
        size = self.encoder().size
        self.means_ = torch.zeros(0, size, dtype=torch.float64)
        self.scatter_ = torch.zeros(size, size, dtype=torch.float64)
        self.nodes_ = 0
        self.learn_classes(view, curriculum.train)

    def learn_classes(self, view: GraphView, support: NodeLabels) -> None:
        """Add means and scatter, then recompute all discriminants."""
        embedded, targets = self.embedded(view, support)
        vectors = embedded.double()
        means = class_means(vectors, targets, len(support))
        self.means_ = torch.cat((self.means_, means))
        self.scatter_ = self.scatter_ + within_class_scatter(vectors, targets, means)
        self.nodes_ = self.nodes_ + len(vectors)
        covariance = shrink_covariance(self.scatter_ / self.nodes_, self.shrinkage)
        self.weights_ = torch.linalg.solve(covariance, self.means_.T).T.contiguous()
        self.biases_ = -0.5 * (self.weights_ * self.means_).sum(dim=1)

    def keep_classes(self, columns: NDArray[np.int64]) -> None:
        """Keep the means of the given classes only; the scatter stays, so no other score changes.

        The scatter still contains the nodes of the removed classes.
        """
        kept = torch.from_numpy(columns)
        self.means_, self.weights_ = self.means_[kept], self.weights_[kept]
        self.biases_ = self.biases_[kept]

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor:
        """Return the log-likelihood of each class, but for what they have in common."""
        vectors = self.embedding(view, rows).double()
        return torch.addmm(self.biases_, vectors, self.weights_.T)
