"""GPN: prototypes in which a node valuator says how much each support counts."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from nodegraft.methods.neural.encoders import GCN
from nodegraft.methods.neural.learners.prototypes import ValuatorOptions, WeightedPrototypeLearner
from nodegraft.methods.templates.episodic import Prototypical
from nodegraft.streams.curriculum import Curriculum
from nodegraft.streams.episodes.episode import Episode


@dataclass(kw_only=True)
class GPN(Prototypical[WeightedPrototypeLearner]):
    r"""Graph Prototypical Networks.

    .. math::
        \tilde s_j = \sigma(\log(d_j + \epsilon) \, s_j), \quad
        p_k = \sum_{j \in S_k} \mathrm{softmax}_{S_k}(\tilde s)_j \, z_j, \quad
        p(y = k \mid q) \propto \exp(-\lVert z_q - p_k \rVert^2)

    Encoder and valuator are trained together on independent N-way K-shot tasks drawn from all known
    classes; every class is weighed, whether its labels are many or few. Ding et al. 2020,
    https://arxiv.org/abs/2006.12739.

    Adapted: the encoder is the shared pre-trained one and stays trainable, as in the HAG-Meta
    paper; the valuator is that paper's, two graph convolutions on the features, where the source
    spreads scores by an attention of its own. A known class's prototype takes all its training
    nodes. When classes arrive only their prototypes are added.
    """

    centrality: Literal["log1p", "paper"] = "paper"
    r"""How a node's degree counts: :math:`\log(d + \epsilon)` as the source has it, or HAG-Meta's
    reading here, :math:`\log(1 + d)`, which does not weigh isolated nodes most of all."""

    name: ClassVar[str] = "gpn"
    summary: ClassVar[str] = "GCN and node valuator meta-trained on N-way tasks, nearest prototype"
    citation: ClassVar[str] = "Ding et al. 2020"
    reversible: ClassVar[bool] = True

    def new_network(self, encoder: GCN) -> WeightedPrototypeLearner:
        """Put the node valuator beside the encoder."""
        options = ValuatorOptions(nla_for="all", centrality=self.centrality)
        return WeightedPrototypeLearner(encoder, options, self.seeds.torch_generator("valuator"))

    def practice(self, curriculum: Curriculum) -> Iterator[Episode]:
        """Return N-way K-shot tasks."""
        return self.tasks(curriculum)

    def keep_classes(self, columns: NDArray[np.int64]) -> None:
        """Drop the other prototypes."""
        self.prototypes_ = self.prototypes_[torch.from_numpy(columns)]
