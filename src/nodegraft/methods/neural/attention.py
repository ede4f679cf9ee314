"""Attention of HAG-Meta: to the nodes of a class, and to the tasks of an episode."""

from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor, nn

from nodegraft.graph.edges.operator import Neighbourhood
from nodegraft.methods.neural.encoders import GCN

Centrality = Literal["log1p", "paper"]
r"""How a node's degree counts: :math:`\log(1 + d)`, or :math:`\log(d + \epsilon)` as printed."""

Start = Literal["xavier", "wide"]
"""How large the first weights are."""

Scale = Literal["literal", "classes"]
"""How class weights are scaled: as the paper prints them, or times the number of classes."""


class NodeAttention(nn.Module):
    r"""The paper's node weights :math:`g_\psi`: a two-layer GCN, then one linear score per node.

    .. math:: \lambda_j = \mathrm{MLP}(h_j^L), \quad h^0 = X

    The layers are GCNConv's (neighbours :math:`h_{j'}`, symmetric normalisation with self loops;
    the paper's equation has the node itself there), each followed by ReLU.

    Args:
        features: How many numbers a feature row has.
        sizes: The widths of the two GCN layers.
        generator: Draws the first weights; biases start at 0.
        start: Scale of the first weights: ``"xavier"``, or ``"wide"``, which is
            :math:`\pm 1 / \sqrt{outputs}` as in the authors' code. With thousands of feature
            columns, ``"xavier"`` makes all scores nearly equal.
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
        """Return one raw score for each node at the centre."""
        hidden: Tensor = self.layers(neighbourhood)
        return (hidden @ self.weight.T + self.bias).squeeze(1)


def adjust_for_centrality(
    scores: Tensor, degrees: Tensor, centrality: Centrality = "log1p", epsilon: float = 1e-6
) -> Tensor:
    r"""Return :math:`\tilde\lambda_j = \sigma(\log(1 + d_j) \cdot \lambda_j)`.

    >>> adjust_for_centrality(torch.tensor([2.0]), torch.tensor([0.0])).tolist()
    [0.5]

    Args:
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
        weights: One weight a node; those of a class sum to 1 if the result is to be a mean.
        targets: The number of each node's class, from 0.
        num_classes: How many rows the result has; a class without nodes gets zeros.
    """
    sums = torch.zeros(num_classes, embeddings.shape[1])
    return sums.index_add(0, targets, weights[:, None] * embeddings)


class MLP(nn.Module):
    """Three linear layers with ReLU between them.

    Args:
        in_features: How many numbers an input row has.
        hidden: The width of both hidden layers.
        out_features: How many numbers an output row has.
        generator: Draws the first weights (Xavier, uniform); biases start at 0.
    """

    def __init__(
        self, in_features: int, hidden: int, out_features: int, generator: torch.Generator
    ) -> None:
        super().__init__()
        self.weights, self.biases = nn.ParameterList(), nn.ParameterList()
        for before, after in pairwise((in_features, hidden, hidden, out_features)):
            weight = nn.init.xavier_uniform_(torch.empty(after, before), generator=generator)
            self.weights.append(nn.Parameter(weight))
            self.biases.append(nn.Parameter(torch.zeros(after)))

    def forward(self, rows: Tensor) -> Tensor:
        """Return one output row for each input row."""
        hidden: Tensor = rows @ self.weights[0].T + self.biases[0]
        for weight, bias in zip(list(self.weights)[1:], list(self.biases)[1:], strict=True):
            hidden = hidden.relu() @ weight.T + bias
        return hidden


class SetTaskAttention(nn.Module):
    r"""Task embedding for any number of classes, which does not depend on their order.

    .. math:: u^j = \frac{1}{|C^j|} \sum_{k \in C^j} MLP(p_k)

    Args:
        size: How many numbers a prototype has.
        hidden: The width of the hidden layers.
        generator: Draws the first weights.
    """

    def __init__(self, size: int, hidden: int, generator: torch.Generator) -> None:
        super().__init__()
        self.mlp = MLP(size, hidden, size, generator)

    def forward(self, tasks: list[Tensor]) -> Tensor:
        """Return one vector per task from its prototypes."""
        projected = self.mlp(torch.cat(tasks)).split([len(task) for task in tasks])
        return torch.stack([rows.mean(dim=0) for rows in projected])


class ClassAxisTaskAttention(nn.Module):
    """The appendix, literally: an MLP along the class axis takes base prototypes to size N.

    It is bound to one number of base classes and one N, and to the order of the classes.

    Args:
        num_base_classes: How many classes the first task has.
        ways: How many classes every later task has (N).
        hidden: The width of the hidden layers.
        generator: Draws the first weights.
    """

    def __init__(
        self, num_base_classes: int, ways: int, hidden: int, generator: torch.Generator
    ) -> None:
        super().__init__()
        self.mlp = MLP(num_base_classes, hidden, ways, generator)

    def forward(self, tasks: list[Tensor]) -> Tensor:
        """Return one flat vector of N prototypes per task.

        Args:
            tasks: The prototypes of each task, one row a class; the first task is the base.
        """
        first = self.mlp(tasks[0].T).T
        return torch.stack([task.reshape(-1) for task in (first, *tasks[1:])])


def task_weights(vectors: Tensor) -> Tensor:
    r"""Return :math:`w^{i,j} = \mathrm{softmax}_j(u^i \cdot u^j)` for the last task ``i``.

    >>> task_weights(torch.tensor([[0.0], [0.0]])).tolist()
    [0.5, 0.5]
    """
    return torch.softmax(vectors @ vectors[-1], dim=0)


def class_weights(weights: Tensor, sizes: list[int], scale: Scale = "literal") -> Tensor:
    r"""Return :math:`W_C = \tilde W / |C^j|`: the weight of each class's task by the task's size.

    >>> class_weights(torch.tensor([0.6, 0.4]), [3, 1]).tolist()
    [0.20000000298023224, 0.20000000298023224, 0.20000000298023224, 0.4000000059604645]

    Args:
        weights: One weight a task; they sum to 1.
        scale: ``"literal"`` lets the result sum to 1 over all classes, so that 1 + w is barely
            above 1; ``"classes"`` multiplies it by the number of classes.
    """
    counts = torch.tensor(sizes)
    spread = (weights / counts).repeat_interleave(counts)
    return spread * counts.sum() if scale == "classes" else spread
