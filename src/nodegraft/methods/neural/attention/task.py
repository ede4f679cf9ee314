"""Task-level attention: how much each task counts in the loss of the current one."""

from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor, nn

Scale = Literal["literal", "classes"]
"""How class weights are scaled: as the paper prints them, or times the number of classes."""


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
        """Return one output row for each input row.

        Args:
            rows: Input rows of ``in_features`` numbers.
        """
        hidden: Tensor = rows @ self.weights[0].T + self.biases[0]
        for weight, bias in zip(list(self.weights)[1:], list(self.biases)[1:], strict=True):
            hidden = hidden.relu() @ weight.T + bias
        return hidden


class SetTaskAttention(nn.Module):
    r"""Tasks of any size, in any order: :math:`u^j = \frac{1}{|C^j|} \sum_{k \in C^j} MLP(p_k)`.

    Args:
        size: How many numbers a prototype has.
        hidden: The width of the hidden layers.
        generator: Draws the first weights.
    """

    def __init__(self, size: int, hidden: int, generator: torch.Generator) -> None:
        super().__init__()
        self.mlp = MLP(size, hidden, size, generator)

    def forward(self, tasks: list[Tensor]) -> Tensor:
        """Return one vector per task from its prototypes.

        Args:
            tasks: The prototypes of each task, one row a class.
        """
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

    Args:
        vectors: One row a task, the current one last.
    """
    return torch.softmax(vectors @ vectors[-1], dim=0)


def class_weights(weights: Tensor, sizes: list[int], scale: Scale = "literal") -> Tensor:
    r"""Return :math:`W_C = \tilde W / |C^j|`: the weight of each class's task by the task's size.

    >>> class_weights(torch.tensor([0.6, 0.4]), [3, 1]).tolist()
    [0.20000000298023224, 0.20000000298023224, 0.20000000298023224, 0.4000000059604645]

    Args:
        weights: One weight a task; they sum to 1.
        sizes: How many classes each task has.
        scale: ``"literal"`` lets the result sum to 1 over all classes, so that 1 + w is barely
            above 1; ``"classes"`` multiplies it by the number of classes.
    """
    counts = torch.tensor(sizes)
    spread = (weights / counts).repeat_interleave(counts)
    return spread * counts.sum() if scale == "classes" else spread
