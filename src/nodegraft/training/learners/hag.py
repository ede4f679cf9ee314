"""One incremental session of HAG-Meta: prototypes, weights, scores, loss (the paper's appendix)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from nodegraft.episodes.episode import Episode
from nodegraft.graph.view import GraphView
from nodegraft.nn.attention.task import (
    ClassAxisTaskAttention,
    Scale,
    SetTaskAttention,
    class_weights,
    task_weights,
)
from nodegraft.nn.encoders.gcn import GCN
from nodegraft.nn.losses import task_weighted_cross_entropy
from nodegraft.training.learners.learner import EpisodeLoss
from nodegraft.training.learners.prototypes import (
    NodeAttentionLoss,
    Valuation,
    ValuedPrototypes,
    spread,
)


@dataclass(frozen=True, kw_only=True)
class PaperOptions(Valuation):
    """How the paper's open or contradictory places are read; see ``algorithm.md``."""

    tla: Literal["off", "set", "class-axis"] = "set"
    tla_scale: Scale = "literal"


@dataclass(frozen=True)
class BothAttentionsLoss(NodeAttentionLoss):
    """The loss of an episode, and how far both attentions are from weighing all alike."""

    task_weights: Tensor

    @torch.no_grad()
    def numbers(self) -> dict[str, float]:
        """The spread of the tasks' weights beside that of the nodes'."""
        return super().numbers() | {"task_spread": spread(self.task_weights)}


class HAGNetwork(ValuedPrototypes):
    """The three learned parts: encoder, node-level attention, task-level attention."""

    def __init__(
        self,
        encoder: GCN,
        options: PaperOptions,
        *,
        base: int,
        ways: int,
        generator: torch.Generator,
    ) -> None:
        super().__init__(encoder, options, generator)
        hidden, out = [len(bias) for bias in encoder.biases]
        self.options = options
        self.task_attention: nn.Module
        if options.tla == "class-axis":
            self.task_attention = ClassAxisTaskAttention(base, ways, hidden, generator)
        else:
            self.task_attention = SetTaskAttention(out, hidden, generator)

    def weigh_tasks(self, tasks: Sequence[Tensor]) -> Tensor:
        """The weight of every task for the current (last) one."""
        return task_weights(self.task_attention(list(tasks)))

    def loss(self, view: GraphView, episode: Episode) -> EpisodeLoss:
        """Cross-entropy of the queries, weighed by what their task means to the last one."""
        seen = self.see(view, episode)
        shares = torch.zeros(len(episode.tasks))
        if self.options.tla != "off":
            shares = self.weigh_tasks(seen.prototypes)
        sizes = [len(task) for task in episode.tasks]
        weights = class_weights(shares, sizes, self.options.tla_scale)
        targets = torch.from_numpy(episode.targets)
        loss = task_weighted_cross_entropy(seen.scores, targets, weights)
        return BothAttentionsLoss(loss, seen.node_weights, shares)
