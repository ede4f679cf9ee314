"""One incremental session of HAG-Meta: prototypes, weights, scores, loss (the paper's appendix)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from nodegraft.episodes.episode import Episode
from nodegraft.graph.labels import Labelled
from nodegraft.graph.view import GraphView
from nodegraft.nn.encoders import GCN, embed_rows
from nodegraft.nn.losses import task_weighted_cross_entropy
from nodegraft.nn.node_attention import (
    Centrality,
    NodeAttention,
    adjust_for_centrality,
    softmax_within,
    weighted_means,
)
from nodegraft.nn.prototypes import class_means, squared_distances
from nodegraft.nn.task_attention import (
    ClassAxisTaskAttention,
    Scale,
    SetTaskAttention,
    class_weights,
    task_weights,
)


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How the paper's open or contradictory places are read; see ``algorithm.md``."""

    nla: bool = True
    tla: Literal["off", "set", "class-axis"] = "set"
    tla_scale: Scale = "literal"
    nla_normalise: Literal["class", "session"] = "class"
    nla_for: Literal["few-shot", "all"] = "few-shot"
    centrality: Centrality = "log1p"


@dataclass(frozen=True)
class Outcome:
    """The loss of an episode, and how far both attentions are from weighing all alike."""

    loss: Tensor
    node_weights: tuple[Tensor, ...]
    task_weights: Tensor

    @torch.no_grad()
    def spreads(self) -> dict[str, float]:
        """Standard deviation of the weights over their mean: 0 is plain averaging."""
        nodes = torch.cat(self.node_weights) if self.node_weights else torch.zeros(0)
        return {"node_spread": _spread(nodes), "task_spread": _spread(self.task_weights)}


class HAGNetwork(nn.Module):
    """The three learned parts: encoder, node-level attention, task-level attention."""

    def __init__(
        self,
        encoder: GCN,
        reading: Reading,
        *,
        base: int,
        ways: int,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        features, (hidden, out) = encoder.weights[0].shape[0], [len(b) for b in encoder.biases]
        self.reading = reading
        self.encoder = encoder
        self.node_attention = NodeAttention(features, (hidden, out), generator)
        self.task_attention: nn.Module
        if reading.tla == "class-axis":
            self.task_attention = ClassAxisTaskAttention(base, ways, hidden, generator)
        else:
            self.task_attention = SetTaskAttention(out, hidden, generator)

    def embed(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor:
        """Embeddings of rows, in their order, from their neighbourhood alone."""
        return embed_rows(self.encoder, view, rows, self.encoder.hops)

    def prototypes(self, view: GraphView, support: Labelled, few_shot: bool) -> Tensor:
        """One row per class: attention-weighted where labels are few, else the plain mean."""
        return self._one_pass(view, [support], [few_shot]).prototypes[0]

    def attends(self, few_shot: bool) -> bool:
        """Whether node-level attention weighs the supports of such a task."""
        return self.reading.nla and (few_shot or self.reading.nla_for == "all")

    def support_weights(self, view: GraphView, support: Labelled) -> Tensor:
        """The weight of every support node, in the order of ``support.rows()``."""
        hops = self.node_attention.layers.hops
        raw = embed_rows(self.node_attention, view, support.rows(), hops)
        return self._normalised(view, support, raw)

    def _normalised(self, view: GraphView, support: Labelled, raw: Tensor) -> Tensor:
        degrees = torch.from_numpy(view.degrees(support.rows()).astype(np.float32))
        adjusted = adjust_for_centrality(raw, degrees, self.reading.centrality)
        targets = torch.from_numpy(support.targets(support.classes))
        if self.reading.nla_normalise == "session":
            return softmax_within(adjusted, torch.zeros_like(targets), 1)
        return softmax_within(adjusted, targets, len(support))

    def weigh_tasks(self, tasks: Sequence[Tensor]) -> Tensor:
        """The weight of every task for the current (last) one."""
        return task_weights(self.task_attention(list(tasks)))

    def loss(self, view: GraphView, episode: Episode) -> Outcome:
        """The loss of one episode; the first task has many labels, the others few."""
        few_shot = [place > 0 for place in range(len(episode.tasks))]
        seen = self._one_pass(view, episode.tasks, few_shot, episode.query.rows())
        targets = torch.from_numpy(episode.query.targets(episode.classes))
        scores = -squared_distances(seen.asked, torch.cat(seen.prototypes))
        shares = torch.zeros(len(episode.tasks))
        if self.reading.tla != "off":
            shares = self.weigh_tasks(seen.prototypes)
        sizes = [len(task) for task in episode.tasks]
        weights = class_weights(shares, sizes, self.reading.tla_scale)
        loss = task_weighted_cross_entropy(scores, targets, weights)
        return Outcome(loss, tuple(seen.node_weights), shares)

    def _one_pass(
        self,
        view: GraphView,
        tasks: Sequence[Labelled],
        few_shot: Sequence[bool],
        asked: NDArray[np.int64] | None = None,
    ) -> "_Seen":
        # Encoder and node-level attention look at one neighbourhood: cutting out a second one
        # would cost more than the attention saves by looking at fewer nodes.
        parts = [task.rows() for task in tasks]
        parts.append(np.zeros(0, dtype=np.int64) if asked is None else asked)
        unique, inverse = np.unique(np.concatenate(parts), return_inverse=True)
        *supported, queried = torch.split(torch.from_numpy(inverse), [part.size for part in parts])
        neighbourhood = view.neighbourhood(unique, self.encoder.hops)
        embeddings = self.encoder(neighbourhood)
        attended = [self.attends(few) for few in few_shot]
        raw = self.node_attention(neighbourhood) if any(attended) else embeddings.new_zeros(0)
        seen = _Seen([], [], embeddings[queried])
        for task, places, attends in zip(tasks, supported, attended, strict=True):
            targets = torch.from_numpy(task.targets(task.classes))
            if attends:
                weights = self._normalised(view, task, raw[places])
                found = weighted_means(embeddings[places], weights, targets, len(task))
                seen.node_weights.append(weights)
            else:
                found = class_means(embeddings[places], targets, len(task))
            seen.prototypes.append(found)
        return seen


@dataclass(frozen=True)
class _Seen:
    """Prototypes task by task, weights of the attended supports, embeddings of what is asked."""

    prototypes: list[Tensor]
    node_weights: list[Tensor]
    asked: Tensor


def _spread(weights: Tensor) -> float:
    if weights.numel() < 2 or not weights.any():
        return 0.0
    return (weights.std() / weights.mean()).item()
