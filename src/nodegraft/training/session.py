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
from nodegraft.nn.encoders import GCN
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
        features, (hidden, out) = encoder.weights[0].shape[1], [len(b) for b in encoder.biases]
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
        unique, place = np.unique(rows, return_inverse=True)
        embeddings: Tensor = self.encoder(view.neighbourhood(unique, self.encoder.hops))
        return embeddings[torch.from_numpy(place)]

    def prototypes(self, view: GraphView, support: Labelled, few_shot: bool) -> Tensor:
        """One row per class: attention-weighted where labels are few, else the plain mean."""
        targets = torch.from_numpy(support.targets(support.classes))
        embeddings = self.embed(view, support.rows())
        if not self.attends(few_shot):
            return class_means(embeddings, targets, len(support))
        weights = self.support_weights(view, support)
        return weighted_means(embeddings, weights, targets, len(support))

    def attends(self, few_shot: bool) -> bool:
        """Whether node-level attention weighs the supports of such a task."""
        return self.reading.nla and (few_shot or self.reading.nla_for == "all")

    def support_weights(self, view: GraphView, support: Labelled) -> Tensor:
        """The weight of every support node, in the order of ``support.rows()``."""
        rows, place = np.unique(support.rows(), return_inverse=True)
        raw: Tensor = self.node_attention(view.neighbourhood(rows, 2))[torch.from_numpy(place)]
        degrees = torch.from_numpy(view.degrees(support.rows()).astype(np.float32))
        adjusted = adjust_for_centrality(raw, degrees, self.reading.centrality)
        targets = torch.from_numpy(support.targets(support.classes))
        if self.reading.nla_normalise == "session":
            return softmax_within(adjusted, torch.zeros_like(targets), 1)
        return softmax_within(adjusted, targets, len(support))

    def weigh_tasks(self, tasks: Sequence[Tensor]) -> Tensor:
        """The weight of every task for the current (last) one."""
        return task_weights(self.task_attention(list(tasks)))

    def loss(self, view: GraphView, episode: Episode) -> Tensor:
        """The loss of one episode; the first task has many labels, the others few."""
        tasks = [
            self.prototypes(view, task, few_shot=place > 0)
            for place, task in enumerate(episode.tasks)
        ]
        asked = self.embed(view, episode.query.rows())
        targets = torch.from_numpy(episode.query.targets(episode.classes))
        scores = -squared_distances(asked, torch.cat(tasks))
        weights = torch.zeros(len(episode.classes))
        if self.reading.tla != "off":
            sizes = [len(task) for task in episode.tasks]
            weights = class_weights(self.weigh_tasks(tasks), sizes, self.reading.tla_scale)
        return task_weighted_cross_entropy(scores, targets, weights)
