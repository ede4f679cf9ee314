"""Fine-tuning: train on new classes only, without protection against forgetting."""

from dataclasses import dataclass
from typing import ClassVar

import torch.nn.functional as F

from nodegraft.base.parameters.constraints import NonNegativeInt
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.methods.templates.classifying import Classifying


@dataclass(kw_only=True)
class Finetune(Classifying):
    r"""Baseline that trains on new classes only and does not prevent forgetting: a lower bound.

    In session t, encoder and head take gradient steps on the supports of the new classes only,

    .. math:: \theta, W \leftarrow \arg\min \frac{1}{|S^t|} \sum_{i \in S^t}
        CE(g_\theta(A, X)_i W^\top, y_i)

    with the softmax over all classes learned so far. Forgetting was described by McCloskey & Cohen
    1989 (https://doi.org/10.1016/S0079-7421(08)60536-8).
    """

    steps: NonNegativeInt = 100
    """Number of gradient steps on encoder and head in each session."""

    name: ClassVar[str] = "finetune"
    summary: ClassVar[str] = "gradient steps on the new supports alone; the floor"
    citation: ClassVar[str] = "McCloskey & Cohen 1989"

    def learn_classes(self, view: GraphView, support: NodeLabels) -> None:
        """Take gradient steps on the supports of the new classes."""
        targets = self.columns(support)
        self.train_on(
            self.grown(support),
            view,
            support.rows(),
            lambda scores: F.cross_entropy(scores, targets.to(scores.device)),
            self.steps,
        )
