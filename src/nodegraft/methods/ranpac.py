"""RanPAC: ridge regression on random ReLU features of the frozen embeddings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from nodegraft.base.parameters.constraints import PositiveFloat, PositiveInt
from nodegraft.methods.ridge import Ridge


@dataclass(kw_only=True)
class RanPAC(Ridge):
    r"""A fixed random layer lets the linear regression bend:

    .. math:: \phi = [\mathrm{relu}(z R), 1], \quad R_{ij} \sim N(0, 1), \quad
        W = (G + \lambda s J)^{-1} Q

    with G and Q as in :class:`~nodegraft.methods.ridge.Ridge`. R is drawn once from the seed, kept
    with the model and never trained. McDonnell et al. 2023, https://arxiv.org/abs/2307.02251.

    Adapted: classes weigh alike and the bias is free, as in ``ridge``, where the paper weighs
    nodes alike and has no bias. 2,000 features rather than 10,000: embeddings here have 16
    numbers, not 768. The paper chooses :math:`\lambda` anew with every task on a part of the
    task's data; five supports cannot be split for that, so it is a field, relative to the scale of
    the features and the same in all sessions; its default was chosen on validation classes
    (amazon-clothing, debian, gentoo; two seeds). The paper's fine-tuning in the first session is
    the pre-training here.
    """

    penalty: PositiveFloat = 0.01
    r"""How strongly weights are drawn to zero (:math:`\lambda`), relative to the features."""

    features: PositiveInt = 2000
    """How many random features; more bend further, and cost their square in memory."""

    name: ClassVar[str] = "ranpac"
    summary: ClassVar[str] = "pre-trained GCN, random ReLU features, class-balanced ridge"
    citation: ClassVar[str] = "McDonnell et al. 2023 (RanPAC)"

    def learn_lift(self, classes: Sequence[Tensor]) -> None:
        """Draw the random layer."""
        shape = classes[0].shape[1], self.features
        draws = self.seeds.generator("random features").standard_normal(shape)
        self.lift_ = torch.from_numpy(draws)

    def lift(self, vectors: Tensor) -> Tensor:
        """Return the random features."""
        return (vectors @ self.lift_).relu()
