"""Attention modules of HAG-Meta: over the nodes of a class, and over the tasks of an episode."""

from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor, nn

from nodegraft.graph.edges.operator import Neighbourhood
from nodegraft.methods.neural.device import CPU
from nodegraft.methods.neural.encoders import GCN

Centrality = Literal["log1p", "paper"]
r"""Centrality of a node with degree :math:`d`: :math:`\log(1 + d)` (``"log1p"``), or
:math:`\log(d + \epsilon)` as printed in the paper (``"paper"``)."""

Start = Literal["xavier", "wide"]
"""Scale of the initial weights: Xavier, or the wider range of the authors' code."""

Scale = Literal["literal", "classes"]
"""Scale of class weights: as printed in the paper, or multiplied by the number of classes."""


class NodeAttention(nn.Module):
    r"""The paper's node weights :math:`g_\psi`: a two-layer GCN, then one linear score per node.

    .. math:: \lambda_j = \mathrm{MLP}(h_j^L), \quad h^0 = X

    The layers are those of GCNConv, each followed by ReLU: they average neighbours :math:`h_{j'}`
    with symmetric normalisation and self loops. The equation in the paper uses the node itself
    instead of its neighbours.

    Args:
        features: Number of feature columns.
        sizes: Widths of the two GCN layers.
        generator: Random generator for the initial weights; biases start at 0.
        start: Scale of the initial weights: ``"xavier"``, or ``"wide"``, which is
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
        self.weight = nn.Parameter(torch.empty(1, sizes[-1], device=CPU))
        self.bias = nn.Parameter(torch.zeros(1, device=CPU))
        nn.init.xavier_uniform_(self.weight, generator=generator)
        if start == "wide":
            for weight in self.layers.weights:
                bound = weight.shape[1] ** -0.5
                nn.init.uniform_(weight, -bound, bound, generator=generator)

    def forward(self, neighbourhood: Neighbourhood) -> Tensor:
        """Return one raw score for each centre node of a neighbourhood."""
        hidden: Tensor = self.layers(neighbourhood)
        return (hidden @ self.weight.T + self.bias).squeeze(1)


def adjust_for_centrality(
    scores: Tensor, degrees: Tensor, centrality: Centrality = "log1p", epsilon: float = 1e-6
) -> Tensor:
    r"""Return :math:`\tilde\lambda_j = \sigma(\log(1 + d_j) \cdot \lambda_j)`.

    >>> adjust_for_centrality(torch.tensor([2.0]), torch.tensor([0.0])).tolist()
    [0.5]

    Args:
        scores: Raw score of each node.
        degrees: Number of visible neighbours of each node, as floating-point numbers.
        centrality: ``"paper"`` uses :math:`\log(d_j + \epsilon)` instead, which is about 0 at
            degree 1 and strongly negative for an isolated node.
        epsilon: Number that keeps this logarithm finite at degree 0; has no effect for
            ``"log1p"``.
    """
    if centrality == "paper":
        return torch.sigmoid(torch.log(degrees + epsilon) * scores)
    return torch.sigmoid(torch.log1p(degrees) * scores)


def softmax_within(scores: Tensor, groups: Tensor, num_groups: int) -> Tensor:
    r"""Return :math:`\exp(\tilde\lambda_j) / \sum_{j' \in G(j)} \exp(\tilde\lambda_{j'})`.

    >>> softmax_within(torch.zeros(3), torch.tensor([0, 0, 1]), 2).tolist()
    [0.5, 0.5, 1.0]

    Args:
        scores: One score per node, between 0 and 1; much larger scores would overflow.
        groups: Group index of each node; the result sums to 1 within a group.
    """
    # No maximum is subtracted: scores lie between 0 and 1, so the exponential cannot overflow.
    powers = scores.exp()
    totals = powers.new_zeros(num_groups).index_add(0, groups, powers)
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
        embeddings: Embedding of each node (:math:`z`).
        weights: Weight of each node; the result is a mean if the weights of each class sum to 1.
        targets: Class index of each node.
        num_classes: Number of classes; a class without nodes gets a row of zeros.
    """
    sums = embeddings.new_zeros(num_classes, embeddings.shape[1])
    return sums.index_add(0, targets, weights[:, None] * embeddings)


class MLP(nn.Module):
    """Multi-layer perceptron: three linear layers with ReLU between them.

    Args:
        in_features: Width of an input row.
        hidden: Width of both hidden layers.
        out_features: Width of an output row.
        generator: Random generator for the initial weights (Xavier, uniform); biases start at 0.
    """

    def __init__(
        self, in_features: int, hidden: int, out_features: int, generator: torch.Generator
    ) -> None:
        super().__init__()
        self.weights, self.biases = nn.ParameterList(), nn.ParameterList()
        for before, after in pairwise((in_features, hidden, hidden, out_features)):
            weight = torch.empty(after, before, device=CPU)
            nn.init.xavier_uniform_(weight, generator=generator)
            self.weights.append(nn.Parameter(weight))
            self.biases.append(nn.Parameter(torch.zeros(after, device=CPU)))

    def forward(self, rows: Tensor) -> Tensor:
        """Return one output row for each input row."""
        hidden: Tensor = rows @ self.weights[0].T + self.biases[0]
        for weight, bias in zip(list(self.weights)[1:], list(self.biases)[1:], strict=True):
            hidden = hidden.relu() @ weight.T + bias
        return hidden


class SetTaskAttention(nn.Module):
    r"""Task embedding for any number of classes that does not depend on their order.

    .. math:: u^j = \frac{1}{|C^j|} \sum_{k \in C^j} MLP(p_k)

    Args:
        size: Width of a prototype.
        hidden: Width of the hidden layers.
        generator: Random generator for the initial weights.
    """

    def __init__(self, size: int, hidden: int, generator: torch.Generator) -> None:
        super().__init__()
        self.mlp = MLP(size, hidden, size, generator)

    def forward(self, tasks: list[Tensor]) -> Tensor:
        """Return one vector per task.

        Args:
            tasks: Prototypes of each task, one row per class.
        """
        projected = self.mlp(torch.cat(tasks)).split([len(task) for task in tasks])
        return torch.stack([rows.mean(dim=0) for rows in projected])


class ClassAxisTaskAttention(nn.Module):
    """Task embedding as printed in the paper's appendix, for fixed numbers of classes.

    An MLP along the class axis maps the base prototypes to N rows. The result depends on the order
    of the classes.

    Args:
        num_base_classes: Number of classes of the first task.
        ways: Number of classes of every later task (N).
        hidden: Width of the hidden layers.
        generator: Random generator for the initial weights.
    """

    def __init__(
        self, num_base_classes: int, ways: int, hidden: int, generator: torch.Generator
    ) -> None:
        super().__init__()
        self.mlp = MLP(num_base_classes, hidden, ways, generator)

    def forward(self, tasks: list[Tensor]) -> Tensor:
        """Return one flat vector of N prototypes per task.

        Args:
            tasks: Prototypes of each task, one row per class; the base task comes first.
        """
        first = self.mlp(tasks[0].T).T
        return torch.stack([task.reshape(-1) for task in (first, *tasks[1:])])


def task_weights(vectors: Tensor) -> Tensor:
    r"""Return :math:`w^{i,j} = \mathrm{softmax}_j(u^i \cdot u^j)` for the last task ``i``.

    >>> task_weights(torch.tensor([[0.0], [0.0]])).tolist()
    [0.5, 0.5]

    Args:
        vectors: Embedding of each task (:math:`u`), one row per task.
    """
    return torch.softmax(vectors @ vectors[-1], dim=0)


def class_weights(weights: Tensor, sizes: list[int], scale: Scale = "literal") -> Tensor:
    r"""Return :math:`W_C = \tilde W / |C^j|`, each class's share of its task's weight.

    >>> class_weights(torch.tensor([0.6, 0.4]), [3, 1]).tolist()
    [0.20000000298023224, 0.20000000298023224, 0.20000000298023224, 0.4000000059604645]

    Args:
        weights: Weight of each task; they sum to 1.
        sizes: Number of classes of each task.
        scale: With ``"literal"``, the result sums to 1 over all classes, so 1 + w is barely above
            1. ``"classes"`` multiplies the result by the number of classes.
    """
    counts = torch.tensor(sizes, device=weights.device)
    spread = (weights / counts).repeat_interleave(counts)
    return spread * counts.sum() if scale == "classes" else spread
