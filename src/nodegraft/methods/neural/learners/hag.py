"""HAG-Meta network: prototypes, attention weights, scores and loss, as in the paper's appendix."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from nodegraft.graph.view import GraphView
from nodegraft.methods.neural.attention import (
    ClassAxisTaskAttention,
    Scale,
    SetTaskAttention,
    class_weights,
    task_weights,
)
from nodegraft.methods.neural.device import to_tensor
from nodegraft.methods.neural.encoders import GCN
from nodegraft.methods.neural.learners.learner import EpisodeLoss
from nodegraft.methods.neural.learners.prototypes import (
    NodeAttentionLoss,
    ValuatorOptions,
    WeightedPrototypeLearner,
    relative_spread,
)
from nodegraft.methods.neural.losses import task_weighted_cross_entropy
from nodegraft.streams.episodes.episode import Episode


@dataclass(frozen=True, kw_only=True)
class HAGOptions(ValuatorOptions):
    """Options of HAG-Meta where the paper says nothing or contradicts itself."""

    tla: Literal["off", "set", "class-axis"] = "set"
    """Form of task-level attention, which weights the loss: none (``off``), on sets of prototypes
    of any size (``set``), or along the class axis with a fixed N as in the paper's appendix
    (``class-axis``)."""

    tla_scale: Scale = "literal"
    """Scale of class weights: as in the paper, or multiplied by the number of classes."""

    tla_goal: Literal["small-loss", "large-loss"] = "small-loss"
    """Whether task-level attention is trained to decrease the loss, as in the paper, or to increase
    it. It then gives the most weight to easy or to hard tasks, respectively.
    """


@dataclass(frozen=True)
class HAGLoss(NodeAttentionLoss):
    """Loss of an episode, and the weights of both attentions."""

    task_weights: Tensor
    """Weight of each task; zeros if task-level attention is off."""

    @torch.no_grad()
    def metrics(self) -> dict[str, float]:
        """Return the relative spread of node weights and of task weights."""
        return super().metrics() | {"task_spread": relative_spread(self.task_weights)}


class HAGNetwork(WeightedPrototypeLearner):
    """Network of HAG-Meta: encoder, node-level attention and task-level attention.

    Args:
        encoder: Encoder of two GCN layers; both attentions have the same widths.
        options: Options of both attentions.
        num_base_classes: Number of classes of the first task; used by ``"class-axis"`` only.
        ways: Number of classes of each later task (N); used by ``"class-axis"`` only.
        generator: Random generator for the initial weights of both attentions.
    """

    options: HAGOptions

    def __init__(
        self,
        encoder: GCN,
        options: HAGOptions,
        *,
        num_base_classes: int,
        ways: int,
        generator: torch.Generator,
    ) -> None:
        super().__init__(encoder, options, generator)
        hidden, out = [len(bias) for bias in encoder.biases]
        self.task_attention: nn.Module
        if options.tla == "class-axis":
            self.task_attention = ClassAxisTaskAttention(num_base_classes, ways, hidden, generator)
        else:
            self.task_attention = SetTaskAttention(out, hidden, generator)

    def weigh_tasks(self, tasks: Sequence[Tensor]) -> Tensor:
        """Return the attention weight of every task for the current (last) task; they sum to 1.

        Args:
            tasks: Prototypes of each task, one row per class.
        """
        return task_weights(self.task_attention(list(tasks)))

    def loss(self, view: GraphView, episode: Episode) -> EpisodeLoss:
        """Return the cross-entropy of the queries, weighted by task-level attention."""
        embedded = self.embed_episode(view, episode)
        targets = to_tensor(episode.targets, embedded.queries.device)
        loss, shares = self.weighted_loss(embedded.prototypes, embedded.scores, targets)
        return HAGLoss(loss, embedded.node_weights, shares)

    def weighted_loss(
        self, tasks: Sequence[Tensor], scores: Tensor, targets: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the weighted loss of scores, and the weight of each task.

        Args:
            tasks: Prototypes of each task, one row per class.
            scores: Scores of the queries: nodes x classes.
            targets: Class index of each query.
        """
        shares = scores.new_zeros(len(tasks))
        if self.options.tla != "off":
            shares = self.weigh_tasks(tasks)
            if self.options.tla_goal == "large-loss":
                # This changes no values, only the sign of the gradient of the attention.
                shares = 2.0 * shares.detach() - shares
        weights = class_weights(shares, [len(task) for task in tasks], self.options.tla_scale)
        return task_weighted_cross_entropy(scores, targets, weights), shares
