"""Networks that keep one prototype a class: plain means, or supports weighed by a node valuator."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from nodegraft.episodes.episode import Episode
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.nn.attention.node import (
    Centrality,
    NodeAttention,
    adjust_for_centrality,
    softmax_within,
    weighted_means,
)
from nodegraft.nn.encoders.encoder import embed_rows
from nodegraft.nn.encoders.gcn import GCN
from nodegraft.nn.prototypes import class_means, squared_distances
from nodegraft.training.learners.learner import EpisodeLoss, Learner


class PrototypeLearner(Learner[Tensor]):
    """Keeps prototypes as they were when their class arrived; the nearest one wins."""

    def prototypes(self, view: GraphView, support: NodeLabels, few_shot: bool) -> Tensor:
        """One row per class: the mean of its supports."""
        targets = torch.from_numpy(support.targets(support.classes))
        return class_means(self.embed(view, support.rows()), targets, len(support))

    def learn(self, view: GraphView, support: NodeLabels, before: Tensor | None) -> Tensor:
        """The prototypes of these classes, behind the ones before."""
        new = self.prototypes(view, support, few_shot=before is not None)
        return new if before is None else torch.cat((before, new))

    def score(self, view: GraphView, rows: NDArray[np.int64], kept: Tensor) -> Tensor:
        """Minus the squared distance to each prototype."""
        return -squared_distances(self.embed(view, rows), kept)


@dataclass(frozen=True, kw_only=True)
class Valuation:
    """Whether and how a node valuator weighs the supports of a class."""

    nla: bool = True
    nla_normalise: Literal["class", "session"] = "class"
    nla_for: Literal["few-shot", "all"] = "few-shot"
    centrality: Centrality = "log1p"


@dataclass(frozen=True)
class NodeAttentionLoss(EpisodeLoss):
    """The loss of an episode, and how far the valuator is from weighing all nodes alike."""

    node_weights: tuple[Tensor, ...]

    @torch.no_grad()
    def numbers(self) -> dict[str, float]:
        """Standard deviation of the weights over their mean: 0 is plain averaging."""
        nodes = torch.cat(self.node_weights) if self.node_weights else torch.zeros(0)
        return {"node_spread": spread(nodes)}


class ValuedPrototypes(PrototypeLearner):
    r"""An encoder and a node valuator: :math:`p_k = \sum_{j \in S_k} \lambda_j z_j`."""

    encoder: GCN

    def __init__(self, encoder: GCN, valuation: Valuation, generator: torch.Generator) -> None:
        super().__init__(encoder)
        features, (hidden, out) = encoder.weights[0].shape[0], [len(b) for b in encoder.biases]
        self.valuation = valuation
        self.node_attention = NodeAttention(features, (hidden, out), generator)

    def prototypes(self, view: GraphView, support: NodeLabels, few_shot: bool) -> Tensor:
        """One row per class: attention-weighted where the valuation says so, else the mean."""
        return self._one_pass(view, [support], [few_shot]).prototypes[0]

    def attends(self, few_shot: bool) -> bool:
        """Whether node-level attention weighs the supports of such a task."""
        return self.valuation.nla and (few_shot or self.valuation.nla_for == "all")

    def support_weights(self, view: GraphView, support: NodeLabels) -> Tensor:
        """The weight of every few-shot support, in the order of ``support.rows()``."""
        if not self.attends(few_shot=True):
            counts = torch.tensor([rows.size for rows in support.values()])
            return (1 / counts).repeat_interleave(counts)
        hops = self.node_attention.layers.hops
        raw = embed_rows(self.node_attention, view, support.rows(), hops)
        return self._normalised(view, support, raw)

    def _normalised(self, view: GraphView, support: NodeLabels, raw: Tensor) -> Tensor:
        degrees = torch.from_numpy(view.degrees(support.rows()).astype(np.float32))
        adjusted = adjust_for_centrality(raw, degrees, self.valuation.centrality)
        targets = torch.from_numpy(support.targets(support.classes))
        if self.valuation.nla_normalise == "session":
            return softmax_within(adjusted, torch.zeros_like(targets), 1)
        return softmax_within(adjusted, targets, len(support))

    def loss(self, view: GraphView, episode: Episode) -> EpisodeLoss:
        """Cross-entropy of the queries over the distances to all prototypes."""
        seen = self.see(view, episode)
        loss = F.cross_entropy(seen.scores, torch.from_numpy(episode.targets))
        return NodeAttentionLoss(loss, seen.node_weights)

    def see(self, view: GraphView, episode: Episode) -> "Seen":
        """Prototypes of an episode's tasks, and what is asked."""
        few_shot = [place > 0 for place in range(len(episode.tasks))]
        return self._one_pass(view, episode.tasks, few_shot, episode.query.rows())

    def _one_pass(
        self,
        view: GraphView,
        tasks: Sequence[NodeLabels],
        few_shot: Sequence[bool],
        asked: NDArray[np.int64] | None = None,
    ) -> "Seen":
        # Encoder and node-level attention look at one neighbourhood: cutting out a second one
        # would cost more than the attention saves by looking at fewer nodes.
        parts = [task.rows() for task in tasks]
        parts.append(np.zeros(0, dtype=np.int64) if asked is None else asked)
        neighbourhood, inside = view.around(np.concatenate(parts), self.encoder.hops)
        *supported, queried = torch.split(torch.from_numpy(inside), [part.size for part in parts])
        embeddings = self.encoder(neighbourhood)
        attended = [self.attends(few) for few in few_shot]
        raw = self.node_attention(neighbourhood) if any(attended) else embeddings.new_zeros(0)
        prototypes: list[Tensor] = []
        node_weights: list[Tensor] = []
        for task, places, attends in zip(tasks, supported, attended, strict=True):
            targets = torch.from_numpy(task.targets(task.classes))
            if attends:
                weights = self._normalised(view, task, raw[places])
                node_weights.append(weights)
                prototypes.append(weighted_means(embeddings[places], weights, targets, len(task)))
            else:
                prototypes.append(class_means(embeddings[places], targets, len(task)))
        return Seen(tuple(prototypes), tuple(node_weights), embeddings[queried])


@dataclass(frozen=True)
class Seen:
    """Prototypes task by task, weights of the attended supports, embeddings of what is asked."""

    prototypes: tuple[Tensor, ...]
    node_weights: tuple[Tensor, ...]
    asked: Tensor

    @property
    def scores(self) -> Tensor:
        """Minus the squared distance of what is asked to every prototype."""
        return -squared_distances(self.asked, torch.cat(self.prototypes))


def spread(weights: Tensor) -> float:
    """Standard deviation over mean; 0 where there is nothing to compare.

    >>> spread(torch.tensor([0.5, 0.5]))
    0.0
    """
    if weights.numel() < 2 or not weights.any():
        return 0.0
    return (weights.std() / weights.mean()).item()
