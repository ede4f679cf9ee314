"""TEEN: cosine with class means; means of new classes are moved towards similar base classes."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from nodegraft.base.parameters.constraints import Fraction, NonNegativeFloat
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.methods.neural.prototypes import class_means, cosines
from nodegraft.methods.templates.pretrained import Frozen
from nodegraft.model.learned import learned
from nodegraft.streams.curriculum import Curriculum


@dataclass(kw_only=True)
class TEEN(Frozen):
    r"""Cosine with class means, where means of new classes are calibrated by similar base classes:

    .. math:: p_n \leftarrow \alpha p_n + (1 - \alpha) \sum_b
        \frac{\exp(\tau \cos(p_b, p_n))}{\sum_{b'} \exp(\tau \cos(p_{b'}, p_n))} p_b

    over the classes :math:`b` of session 0; then :math:`s_k = \cos(z - \mu, p_k)`. Calibration
    helps because a mean of few nodes is noisy. :math:`\alpha = 0.5` and :math:`\tau = 16` are the
    paper's values. Wang et al. 2023, https://arxiv.org/abs/2312.05229.

    Differences from the source: all :math:`p` are class means minus :math:`\mu`, the mean of the
    class means of session 0, and are then scaled to length 1. Without subtracting :math:`\mu`,
    embeddings of a small GCN have almost equal directions and the softmax is flat. With the
    scaling, the effect of :math:`\alpha` does not depend on the length of a mean. The encoder is
    the GCN of the other methods here, not that of a cosine classifier.
    """

    alpha: Fraction = 0.5
    """Weight of a new class's own mean; 1 disables calibration."""

    tau: NonNegativeFloat = 16.0
    """Sharpness of base class weights: larger values prefer similar classes, 0 makes them equal."""

    centre_: Tensor = learned()
    """Mean of the class means of session 0."""

    prototypes_: Tensor = learned()
    """Prototype of each class, one row per class."""

    base_: int = learned()
    """Number of prototypes of session 0, which come first."""

    name: ClassVar[str] = "teen"
    summary: ClassVar[str] = "pre-trained GCN, centred cosine, new means drawn to similar base ones"
    citation: ClassVar[str] = "Wang et al. 2023 (TEEN)"
    reversible: ClassVar[bool] = True

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Pre-train the encoder, then compute the class means and their mean."""
        self.learn_encoder(view, curriculum)
        means = self._means(view, curriculum.train)
        self.centre_ = means.mean(dim=0)
        self.prototypes_ = F.normalize(means - self.centre_)
        self.base_ = len(means)

    def learn_classes(self, view: GraphView, support: NodeLabels) -> None:
        """Add a mean for each new class, calibrated by the means of session 0."""
        fresh = F.normalize(self._means(view, support) - self.centre_)
        base = self.prototypes_[: self.base_]
        calibrated = calibrate(fresh, base, self.alpha, self.tau)
        self.prototypes_ = torch.cat((self.prototypes_, calibrated))

    def keep_classes(self, columns: NDArray[np.int64]) -> None:
        """Drop the prototypes of the removed classes; scores of other classes do not change.

        A dropped class of session 0 is not used to calibrate later classes.
        """
        self.prototypes_ = self.prototypes_[torch.from_numpy(columns)]
        self.base_ = int((columns < self.base_).sum())

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor:
        """Return the centred cosine with each prototype."""
        return cosines(self.embedding(view, rows).double() - self.centre_, self.prototypes_)

    def _means(self, view: GraphView, labelled: NodeLabels) -> Tensor:
        vectors, targets = self.embedded(view, labelled)
        return class_means(vectors.double(), targets, len(labelled))


def calibrate(fresh: Tensor, base: Tensor, alpha: float, tau: float) -> Tensor:
    r"""Return :math:`\alpha p_n + (1 - \alpha) \sum_b \mathrm{softmax}_b(\tau \cos(p_b, p_n)) p_b`.

    >>> base = torch.tensor([[1.0, 0.0], [-1.0, 0.0]])
    >>> calibrate(torch.tensor([[0.0, 1.0]]), base, alpha=0.5, tau=16.0).tolist()
    [[0.0, 0.5]]

    Args:
        fresh: Prototypes of new classes (:math:`p_n`).
        base: Prototypes of the classes of session 0 (:math:`p_b`).
        alpha: Weight of a new class's own prototype.
        tau: Sharpness of the softmax over base classes.
    """
    similarity = torch.softmax(tau * cosines(fresh, base), dim=1)
    return alpha * fresh + (1.0 - alpha) * similarity @ base
