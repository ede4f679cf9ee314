"""Fine-tuning: go on training on whatever is new, and see what is forgotten."""

from dataclasses import dataclass
from typing import ClassVar

import torch.nn.functional as F

from nodegraft.graph.labels import Labelled
from nodegraft.graph.view import GraphView
from nodegraft.methods.tuned import Tuned


@dataclass(kw_only=True)
class Finetune(Tuned):
    r"""The floor: nothing is kept and nothing is protected.

    In session t encoder and head take gradient steps on the supports of the new classes alone,

    .. math:: \theta, W \leftarrow \arg\min \frac{1}{|S^t|} \sum_{i \in S^t}
        CE(g_\theta(A, X)_i W^\top, y_i)

    with the softmax over all classes seen. The effect was described by McCloskey & Cohen 1989
    (https://doi.org/10.1016/S0079-7421(08)60536-8).
    """

    name: ClassVar[str] = "finetune"
    summary: ClassVar[str] = "gradient steps on the new supports alone; the floor"
    citation: ClassVar[str] = "McCloskey & Cohen 1989"

    def learn_classes(self, view: GraphView, support: Labelled) -> None:
        """Some steps on the new supports."""
        targets = self.columns(support)
        self.tune(
            self.grown(support),
            view,
            support.rows(),
            lambda scores: F.cross_entropy(scores, targets),
        )
