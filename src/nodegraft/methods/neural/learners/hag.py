"""One incremental session of HAG-Meta: prototypes, weights, scores, loss (the paper's appendix)."""

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
    """Choices where the paper is silent or contradicts itself."""

    tla: Literal["off", "set", "class-axis"] = "set"
    """Whether and how task-level attention weighs the loss: on sets of prototypes of any size, or
    along the class axis with a fixed N, as the paper's appendix says."""

    tla_scale: Scale = "literal"
    """The paper's class weights, which are nearly inert, or those times the number of classes."""

    tla_goal: Literal["small-loss", "large-loss"] = "small-loss"
    """What task-level attention is trained for: the paper's loss, which is smallest where easy
    tasks weigh most, or the opposite, so that hard tasks weigh most."""


@dataclass(frozen=True)
class HAGLoss(NodeAttentionLoss):
    """The loss of an episode, and the weights that both attentions gave in it."""

    task_weights: Tensor
    """One weight a task; zeros where task-level attention is off."""

    @torch.no_grad()
    def metrics(self) -> dict[str, float]:
        """Return the relative spread of the tasks' weights beside that of the nodes'."""
        return super().metrics() | {"task_spread": relative_spread(self.task_weights)}


class HAGNetwork(WeightedPrototypeLearner):
    """The three learned parts: encoder, node-level attention, task-level attention.

    Args:
        encoder: Two GCN layers; both attentions take their widths.
        options: Which attentions there are, and how they are read.
        num_base_classes: How many classes the first task has; matters to ``"class-axis"`` only.
        ways: How many classes each later task has (N); matters to ``"class-axis"`` only.
        generator: Draws the first weights of both attentions.
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
        """Return the weight of every task for the current (last) one; they sum to 1."""
        return task_weights(self.task_attention(list(tasks)))

    def loss(self, view: GraphView, episode: Episode) -> EpisodeLoss:
        """Return cross-entropy of the queries, weighed by what their task means to the last one."""
        embedded = self.embed_episode(view, episode)
        targets = torch.from_numpy(episode.targets)
        loss, shares = self.weighted_loss(embedded.prototypes, embedded.scores, targets)
        return HAGLoss(loss, embedded.node_weights, shares)

    def weighted_loss(
        self, tasks: Sequence[Tensor], scores: Tensor, targets: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the loss of scores, and the weight that it gives to each task."""
        shares = torch.zeros(len(tasks))
        if self.options.tla != "off":
            shares = self.weigh_tasks(tasks)
            if self.options.tla_goal == "large-loss":
                # The same numbers; the gradient of the attention turns round.
                shares = 2.0 * shares.detach() - shares
        weights = class_weights(shares, [len(task) for task in tasks], self.options.tla_scale)
        return task_weighted_cross_entropy(scores, targets, weights), shares
