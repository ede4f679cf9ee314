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
    r"""Ridge regression on a fixed random ReLU layer, which makes it non-linear:

    .. math:: \phi = [\mathrm{relu}(z R), 1], \quad R_{ij} \sim N(0, 1), \quad
        W = (G + \lambda s J)^{-1} Q

    with G and Q as in :class:`~nodegraft.methods.ridge.Ridge`. R is drawn once from the seed,
    stored with the model and never trained. McDonnell et al. 2023,
    https://arxiv.org/abs/2307.02251.

    Differences from the source: as in ``ridge``, all classes have equal weight and the bias is not
    penalised; in the paper all nodes have equal weight and there is no bias. There are 2,000
    features instead of 10,000, because embeddings here have 16 numbers, not 768. The paper selects
    :math:`\lambda` in every task on a part of the task's data. Five supports cannot be split for
    this, so here it is a parameter, relative to the scale of the features and constant over
    sessions. Its default was chosen on validation classes (amazon-clothing, debian, gentoo; two
    seeds). Pre-training replaces the paper's fine-tuning in the first session.
    """

    penalty: PositiveFloat = 0.01
    r"""Strength of L2 regularisation (:math:`\lambda`), relative to the scale of the features."""

    features: PositiveInt = 2000
    """Number of random features. More features fit more complex boundaries; memory grows with their
    square."""

    name: ClassVar[str] = "ranpac"
    summary: ClassVar[str] = "pre-trained GCN, random ReLU features, class-balanced ridge"
    citation: ClassVar[str] = "McDonnell et al. 2023 (RanPAC)"

    def learn_lift(self, classes: Sequence[Tensor]) -> None:
        """Draw the weights of the random layer."""
        shape = classes[0].shape[1], self.features
        draws = self.seeds.generator("random features").standard_normal(shape)
        self.lift_ = torch.from_numpy(draws)

    def lift(self, vectors: Tensor) -> Tensor:
        """Return the random features."""
        return (vectors @ self.lift_).relu()
