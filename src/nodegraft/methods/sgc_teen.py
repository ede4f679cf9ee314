"""SGC TEEN: means of propagated features; new means are moved towards similar base means."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from nodegraft.base.parameters.constraints import Fraction, NonNegativeFloat
from nodegraft.graph.edges.matrix import normalise_rows
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.methods.sgc_mean import SGCMean
from nodegraft.methods.teen import calibrate
from nodegraft.model.learned import learned
from nodegraft.streams.curriculum import Curriculum


@dataclass(kw_only=True)
class SGCTEEN(SGCMean):
    """``teen`` on propagated features instead of an encoder.

    It is :class:`~nodegraft.methods.sgc_mean.SGCMean` whose new means, relative to the centre, are
    moved towards similar means of session 0. Wang et al. 2023, https://arxiv.org/abs/2312.05229.
    """

    alpha: Fraction = 0.5
    """Weight of a new class's own mean; 1 disables calibration."""

    tau: NonNegativeFloat = 16.0
    """Sharpness of base class weights: larger values prefer similar classes, 0 makes them equal."""

    base_: int = learned()
    """Number of classes of session 0; their means come first."""

    name: ClassVar[str] = "sgc-teen"
    summary: ClassVar[str] = "propagated features, new means drawn to similar base ones"
    citation: ClassVar[str] = "Wu et al. 2019 (SGC); Wang et al. 2023 (TEEN)"

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Compute the means of the known classes, and their mean as the centre."""
        super().learn_base(view, curriculum)
        self.base_ = len(self.prototypes_)

    def learn_classes(self, view: GraphView, support: NodeLabels) -> None:
        """Add a mean for each new class, calibrated by the means of session 0."""
        fresh = self._directions(self._means(view, support))
        base = self._directions(self.prototypes_[: self.base_])
        calibrated = calibrate(fresh, base, self.alpha, self.tau).numpy() + self.centre_
        self.prototypes_ = np.concatenate((self.prototypes_, calibrated.astype(np.float32)))

    def keep_classes(self, columns: NDArray[np.int64]) -> None:
        """Drop the means of the removed classes, also for calibrating later classes."""
        super().keep_classes(columns)
        self.base_ = int((columns < self.base_).sum())

    def _directions(self, means: NDArray[np.float32]) -> torch.Tensor:
        return torch.from_numpy(np.asarray(normalise_rows(means - self.centre_)))
