"""GPN: prototypes that are means of supports, weighted by a node valuator network."""

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
    r"""Graph Prototypical Networks: prototypes are weighted means of supports.

    .. math::
        \tilde s_j = \sigma(\log(d_j + \epsilon) \, s_j), \quad
        p_k = \sum_{j \in S_k} \mathrm{softmax}_{S_k}(\tilde s)_j \, z_j, \quad
        p(y = k \mid q) \propto \exp(-\lVert z_q - p_k \rVert^2)

    Encoder and valuator are trained together on independent N-way K-shot tasks drawn from all known
    classes. The valuator weights the supports of every class, however many labels it has. Ding et
    al. 2020, https://arxiv.org/abs/2006.12739.

    Differences from the source: the encoder is the pre-trained encoder of the other methods here
    and stays trainable, as in the HAG-Meta paper. The valuator is that paper's, two graph
    convolutions on the features; the source propagates scores by attention. The prototype of a
    known class uses all its training nodes. Learning a new class only adds its prototype.
    """

    centrality: Literal["log1p", "paper"] = "paper"
    r"""Centrality of a node with degree :math:`d`: :math:`\log(d + \epsilon)` as in the source, or
    :math:`\log(1 + d)` as in ``hag-meta`` here, which does not give isolated nodes the largest
    weight."""

    name: ClassVar[str] = "gpn"
    summary: ClassVar[str] = "GCN and node valuator meta-trained on N-way tasks, nearest prototype"
    citation: ClassVar[str] = "Ding et al. 2020"
    reversible: ClassVar[bool] = True

    def new_network(self, encoder: GCN) -> WeightedPrototypeLearner:
        """Return a network of the encoder and a new node valuator."""
        options = ValuatorOptions(nla_for="all", centrality=self.centrality)
        return WeightedPrototypeLearner(encoder, options, self.seeds.torch_generator("valuator"))

    def practice(self, curriculum: Curriculum) -> Iterator[Episode]:
        """Return N-way K-shot tasks."""
        return self.tasks(curriculum)

    def keep_classes(self, columns: NDArray[np.int64]) -> None:
        """Drop the prototypes of the removed classes."""
        self.prototypes_ = self.prototypes_[torch.from_numpy(columns)]
