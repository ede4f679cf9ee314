"""Node-level attention: how much each support node counts in its class's prototype."""

from typing import Literal

import torch
from torch import Tensor, nn

from nodegraft.graph.propagation.neighbourhood import Neighbourhood
from nodegraft.methods.neural.encoders.gcn import GCN

Centrality = Literal["log1p", "paper"]
r"""How a node's degree counts: :math:`\log(1 + d)`, or :math:`\log(d + \epsilon)` as printed."""


Start = Literal["xavier", "wide"]
"""How large the first weights are."""


class NodeAttention(nn.Module):
    r"""The paper's weighter :math:`g_\psi`: two GCN layers on the features, then one number a node.

    .. math:: \lambda_j = \mathrm{MLP}(h_j^L), \quad h^0 = X

    The layers are GCNConv's (neighbours :math:`h_{j'}`, symmetric normalisation with self loops;
    the paper's equation has the node itself there), each followed by ReLU.

    Args:
        features: How many numbers a feature row has.
        sizes: The widths of the two GCN layers.
        generator: Draws the first weights; biases start at 0.
        start: How large those are: ``"xavier"``, or ``"wide"``, :math:`\pm 1 / \sqrt{outputs}`
            as in the authors' code. On thousands of columns the first makes all scores nearly
            equal.
    """

    def __init__(
        self,
        features: int,
        sizes: tuple[int, int],
        generator: torch.Generator,
        start: Start = "xavier",
    ) -> None:
        super().__init__()
        self.layers = GCN([features, *sizes], generator, last_relu=True)
        self.weight = nn.Parameter(torch.empty(1, sizes[-1]))
        self.bias = nn.Parameter(torch.zeros(1))
        nn.init.xavier_uniform_(self.weight, generator=generator)
        if start == "wide":
            for weight in self.layers.weights:
                bound = weight.shape[1] ** -0.5
                nn.init.uniform_(weight, -bound, bound, generator=generator)

    def forward(self, neighbourhood: Neighbourhood) -> Tensor:
        """Return one raw score for each node at the centre.

        Args:
            neighbourhood: Two hops around the nodes.
        """
        hidden: Tensor = self.layers(neighbourhood)
        return (hidden @ self.weight.T + self.bias).squeeze(1)


def adjust_for_centrality(
    scores: Tensor, degrees: Tensor, centrality: Centrality = "log1p", epsilon: float = 1e-6
) -> Tensor:
    r"""Return :math:`\tilde\lambda_j = \sigma(\log(1 + d_j) \cdot \lambda_j)`.

    >>> adjust_for_centrality(torch.tensor([2.0]), torch.tensor([0.0])).tolist()
    [0.5]

    Args:
        scores: One raw score a node.
        degrees: How many visible neighbours each node has, as floating-point numbers.
        centrality: ``"paper"`` takes :math:`\log(d_j + \epsilon)` instead, which is 0 at degree 1
            and strongly negative for an isolated node.
        epsilon: Keeps that logarithm finite at degree 0; without effect for ``"log1p"``.
    """
    if centrality == "paper":
        return torch.sigmoid(torch.log(degrees + epsilon) * scores)
    return torch.sigmoid(torch.log1p(degrees) * scores)


def softmax_within(scores: Tensor, groups: Tensor, num_groups: int) -> Tensor:
    r"""Return :math:`\exp(\tilde\lambda_j) / \sum_{j' \in G(j)} \exp(\tilde\lambda_{j'})`.

    >>> softmax_within(torch.zeros(3), torch.tensor([0, 0, 1]), 2).tolist()
    [0.5, 0.5, 1.0]

    Args:
        scores: One score a node, between 0 and 1; much larger ones would overflow.
        groups: The number of each node's group, from 0; the result sums to 1 within a group.
        num_groups: How many groups there are.
    """
    # Adjusted scores lie between 0 and 1: no maximum needs to be taken off first.
    powers = scores.exp()
    totals = torch.zeros(num_groups).index_add(0, groups, powers)
    return powers / totals[groups]


def weighted_means(
    embeddings: Tensor, weights: Tensor, targets: Tensor, num_classes: int
) -> Tensor:
    r"""Return :math:`p_k = \sum_{j \in S_k} \lambda_j z_j`.

    >>> weighted_means(
    ...     torch.tensor([[1.0], [3.0]]), torch.tensor([0.25, 0.75]), torch.tensor([0, 0]), 1
    ... ).tolist()
    [[2.5]]

    Args:
        embeddings: One row a node.
        weights: One weight a node; those of a class sum to 1 if the result is to be a mean.
        targets: The number of each node's class, from 0.
        num_classes: How many rows the result has; a class without nodes gets zeros.
    """
    sums = torch.zeros(num_classes, embeddings.shape[1])
    return sums.index_add(0, targets, weights[:, None] * embeddings)
