"""Streaming LDA: one mean for each class, and one covariance for all classes."""

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
from nodegraft.methods.neural.device import CPU
from nodegraft.methods.neural.prototypes import class_means
from nodegraft.methods.templates.pretrained import Frozen
from nodegraft.model.learned import learned
from nodegraft.streams.curriculum import Curriculum


@dataclass(kw_only=True)
class LDA(Frozen):
    r"""Linear discriminant analysis on frozen embeddings, with one covariance for all classes:

    .. math:: s_k = w_k^\top z - \tfrac{1}{2} w_k^\top \mu_k, \quad
        w_k = [(1 - \epsilon) \Sigma + \epsilon s I]^{-1} \mu_k, \quad
        \Sigma = \frac{1}{n} \sum_i (z_i - \mu_{y_i})(z_i - \mu_{y_i})^\top

    The method stores the class means, the scatter matrix and its number of nodes. These are sums,
    so the order in which classes are added affects rounding only. Hayes & Kanan 2020,
    https://arxiv.org/abs/1909.01520.

    Differences from the source: the paper shrinks with :math:`\epsilon = 10^{-4}` towards the
    identity matrix, for embeddings of a fixed scale. Here shrinkage is relative to :math:`s`, the
    mean variance (1 if nothing varies), and ten times larger. All labels of a class are added
    together, so the class mean is final, and the scatter uses it instead of a running mean. Prior
    probabilities of classes are equal, because the share of a class in the labels only depends on
    how labels were collected. All nodes have equal weight in :math:`\Sigma`, so the many labels of
    session 0 dominate it.
    """

    shrinkage: FractionBelowOne = 1e-3
    r"""Shrinkage of the covariance towards a multiple of the identity matrix (:math:`\epsilon`). 0
    fails if embeddings do not vary in every direction."""

    means_: Tensor = learned()
    """Mean embedding of each class, one row per class."""

    scatter_: Tensor = learned()
    """Within-class scatter matrix: sum of products of differences from the class means."""

    nodes_: int = learned()
    """Number of nodes in the scatter matrix."""

    weights_: Tensor = learned()
    """Weights of each class's discriminant, one row per class."""

    biases_: Tensor = learned()
    """Offset of each class's discriminant."""

    name: ClassVar[str] = "lda"
    summary: ClassVar[str] = "pre-trained GCN, linear discriminants with one running covariance"
    citation: ClassVar[str] = "Hayes & Kanan 2020 (SLDA)"

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Pre-train the encoder, then add the known classes in the same way as new classes."""
        self.learn_encoder(view, curriculum)
        size = self.encoder().size
        self.means_ = torch.zeros(0, size, dtype=torch.float64, device=CPU)
        self.scatter_ = torch.zeros(size, size, dtype=torch.float64, device=CPU)
        self.nodes_ = 0
        self.learn_classes(view, curriculum.train)

    def learn_classes(self, view: GraphView, support: NodeLabels) -> None:
        """Add the new classes to means and scatter, then recompute all discriminants."""
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
        """Drop the means of the removed classes; scores of other classes do not change.

        The scatter matrix still contains the nodes of the removed classes.
        """
        indices = torch.from_numpy(columns)
        self.means_, self.weights_ = self.means_[indices], self.weights_[indices]
        self.biases_ = self.biases_[indices]

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor:
        """Return the log-likelihood of each class, up to a constant for each node."""
        vectors = self.embedding(view, rows).double()
        return torch.addmm(self.biases_, vectors, self.weights_.T)
