"""Untrained GCN with LDA: a random graph encoder, then linear discriminants."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from nodegraft.base.memo import Memo
from nodegraft.base.parameters.constraints import PositiveInt
from nodegraft.graph.edges.matrix import Matrix
from nodegraft.graph.edges.operator import Neighbourhood
from nodegraft.graph.keyed_labels import KeyedLabels
from nodegraft.graph.view import GraphView
from nodegraft.methods.sgc_lda import SGCLDA
from nodegraft.model.learned import GraphInputs


@dataclass(kw_only=True)
class UGCNLDA(SGCLDA):
    r"""Linear discriminant analysis on a random graph encoder that is never trained:

    .. math:: H_0 = X, \quad H_l = \tanh(S H_{l-1} T_l), \quad z = [H_1, \dots, H_L]

    with Glorot-uniform :math:`T_l`; then linear discriminants with one shrunken covariance
    (:func:`~nodegraft.methods.linear.dual.dual_lda`). The method shows whether training an encoder
    helps at all. Untrained GCN with streaming LDA, 2025, https://arxiv.org/abs/2510.06819, of which
    only a review was available, without tables or code.

    Differences from the source: means and covariance use at most ``kept_labels`` labels of each
    class and are solved in dual form, instead of running sums over all labels. Widths and shrinkage
    are our choice.
    """

    hops: PositiveInt = 2
    """Number of layers of the encoder (:math:`L`); each layer adds one hop."""

    width: PositiveInt = 1024
    """Width of each layer's output."""

    name: ClassVar[str] = "ugcn-lda"
    summary: ClassVar[str] = "random untrained GCN, linear discriminants with one covariance"
    citation: ClassVar[str] = "untrained GCN with streaming LDA 2025 (arXiv 2510.06819)"

    def _start(self, inputs: GraphInputs, labels: KeyedLabels) -> None:
        super()._start(inputs, labels)
        self._random_weights = Memo[list[Tensor]]()

    def embedding(self, view: GraphView, rows: NDArray[np.int64]) -> Matrix:
        """Return the outputs of all layers side by side."""
        neighbourhood, places = view.around(rows, self.hops)
        key = self.seed, view.num_features, self.hops, self.width
        weights = self._random_weights.get(key, lambda: self._draw(view.num_features))
        return untrained_layers(neighbourhood, weights).numpy()[places]

    def _draw(self, features: int) -> list[Tensor]:
        draws = self.seeds.torch_generator("untrained encoder")
        sizes = [features, *[self.width] * (self.hops - 1)]
        shapes = [torch.empty(size, self.width, device="cpu") for size in sizes]
        return [nn.init.xavier_uniform_(shape, generator=draws) for shape in shapes]


@torch.no_grad()
def untrained_layers(neighbourhood: Neighbourhood, weights: list[Tensor]) -> Tensor:
    r"""Return :math:`[H_1, \dots, H_L]` of the centre nodes of a neighbourhood.

    Args:
        neighbourhood: Visible neighbourhood of the nodes, with one hop for each layer.
    """
    hidden = neighbourhood.features @ weights[0]
    centre, outputs = neighbourhood.rings[-1], list[Tensor]()
    for number, hop in enumerate(neighbourhood.hops):
        # Use double precision, so that the output of a node does not depend on its batch.
        inner = hidden if not number else (hidden.double() @ weights[number].double()).float()
        hidden = torch.tanh(hop @ inner)
        places = np.searchsorted(neighbourhood.rings[number + 1], centre)
        outputs.append(hidden[torch.from_numpy(places)])
    return torch.cat(outputs, dim=1)
