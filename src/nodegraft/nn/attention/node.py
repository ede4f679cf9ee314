"""Node-level attention: how much each support node counts in its class's prototype."""

from typing import Literal

import torch
from torch import Tensor, nn

from nodegraft.graph.neighbourhood import Neighbourhood
from nodegraft.nn.encoders.gcn import GCN

Centrality = Literal["log1p", "paper"]


class NodeAttention(nn.Module):
    r"""The paper's weighter :math:`g_\psi`: two GCN layers on the features, then one number a node.

    .. math:: \lambda_j = \mathrm{MLP}(h_j^L), \quad h^0 = X

    The layers are GCNConv's (neighbours :math:`h_{j'}`, symmetric normalisation with self loops;
    see algorithm.md for where the paper's equation slips), each followed by ReLU.
    """

    def __init__(self, features: int, sizes: tuple[int, int], generator: torch.Generator) -> None:
        super().__init__()
        self.layers = GCN([features, *sizes], generator, last_relu=True)
        self.weight = nn.Parameter(torch.empty(1, sizes[-1]))
        self.bias = nn.Parameter(torch.zeros(1))
        nn.init.xavier_uniform_(self.weight, generator=generator)

    def forward(self, neighbourhood: Neighbourhood) -> Tensor:
        """One raw score per node at the centre."""
        hidden: Tensor = self.layers(neighbourhood)
        return (hidden @ self.weight.T + self.bias).squeeze(1)


def adjust_for_centrality(
    scores: Tensor, degrees: Tensor, centrality: Centrality = "log1p", epsilon: float = 1e-6
) -> Tensor:
    r""":math:`\tilde\lambda_j = \sigma(\log(1 + d_j) \cdot \lambda_j)`.

    ``centrality="paper"`` takes :math:`\log(d_j + \epsilon)`, which is 0 at degree 1 and strongly
    negative for an isolated node.

    >>> adjust_for_centrality(torch.tensor([2.0]), torch.tensor([0.0])).tolist()
    [0.5]
    """
    if centrality == "paper":
        return torch.sigmoid(torch.log(degrees + epsilon) * scores)
    return torch.sigmoid(torch.log1p(degrees) * scores)


def softmax_within(scores: Tensor, groups: Tensor, count: int) -> Tensor:
    r""":math:`\lambda_j = \exp(\tilde\lambda_j) / \sum_{j' \in G(j)} \exp(\tilde\lambda_{j'})`.

    >>> softmax_within(torch.zeros(3), torch.tensor([0, 0, 1]), 2).tolist()
    [0.5, 0.5, 1.0]
    """
    # Adjusted scores lie between 0 and 1: no maximum needs to be taken off first.
    powers = scores.exp()
    totals = torch.zeros(count).index_add(0, groups, powers)
    return powers / totals[groups]


def weighted_means(embeddings: Tensor, weights: Tensor, targets: Tensor, classes: int) -> Tensor:
    r""":math:`p_k = \sum_{j \in S_k} \lambda_j z_j`.

    >>> weighted_means(
    ...     torch.tensor([[1.0], [3.0]]), torch.tensor([0.25, 0.75]), torch.tensor([0, 0]), 1
    ... ).tolist()
    [[2.5]]
    """
    sums = torch.zeros(classes, embeddings.shape[1])
    return sums.index_add(0, targets, weights[:, None] * embeddings)
