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
        return embed_rows(self.encoder, view, rows, self.encoder.hops)

    def prototypes(self, view: GraphView, support: Labelled, few_shot: bool) -> Tensor:
        """One row per class: attention-weighted where labels are few, else the plain mean."""
        weights = self.support_weights(view, support) if self.attends(few_shot) else None
        return _prototypes(support, self.embed(view, support.rows()), weights)

    def attends(self, few_shot: bool) -> bool:
        """Whether node-level attention weighs the supports of such a task."""
        return self.reading.nla and (few_shot or self.reading.nla_for == "all")

    def support_weights(self, view: GraphView, support: Labelled) -> Tensor:
        """The weight of every support node, in the order of ``support.rows()``."""
        return self._all_support_weights(view, [support])[0]

    def _all_support_weights(self, view: GraphView, tasks: Sequence[Labelled]) -> list[Tensor]:
        # One pass for all tasks: their neighbourhoods overlap.
        rows = np.concatenate([task.rows() for task in tasks])
        raw = embed_rows(self.node_attention, view, rows, self.node_attention.layers.hops)
        degrees = torch.from_numpy(view.degrees(rows).astype(np.float32))
        adjusted = adjust_for_centrality(raw, degrees, self.reading.centrality)
        parts = torch.split(adjusted, [task.num_nodes for task in tasks])
        return [self._normalised(task, part) for task, part in zip(tasks, parts, strict=True)]

    def _normalised(self, support: Labelled, adjusted: Tensor) -> Tensor:
        targets = torch.from_numpy(support.targets(support.classes))
        if self.reading.nla_normalise == "session":
            return softmax_within(adjusted, torch.zeros_like(targets), 1)
        return softmax_within(adjusted, targets, len(support))

    def weigh_tasks(self, tasks: Sequence[Tensor]) -> Tensor:
        """The weight of every task for the current (last) one."""
        return task_weights(self.task_attention(list(tasks)))

    def loss(self, view: GraphView, episode: Episode) -> Tensor:
        """The loss of one episode; the first task has many labels, the others few."""
        tasks, asked = self._episode_vectors(view, episode)
        targets = torch.from_numpy(episode.query.targets(episode.classes))
        scores = -squared_distances(asked, torch.cat(tasks))
        weights = torch.zeros(len(episode.classes))
        if self.reading.tla != "off":
            sizes = [len(task) for task in episode.tasks]
            weights = class_weights(self.weigh_tasks(tasks), sizes, self.reading.tla_scale)
        return task_weighted_cross_entropy(scores, targets, weights)

    def _episode_vectors(self, view: GraphView, episode: Episode) -> tuple[list[Tensor], Tensor]:
        """Prototypes task by task and the embeddings of the queries: one pass for all nodes."""
        parts = (*episode.tasks, episode.query)
        rows = np.concatenate([part.rows() for part in parts])
        *supports, asked = torch.split(self.embed(view, rows), [part.num_nodes for part in parts])
        weights: list[Tensor | None] = [None] * len(episode.tasks)
        attended = [place for place in range(len(weights)) if self.attends(few_shot=place > 0)]
        if attended:
            chosen = [episode.tasks[place] for place in attended]
            found = self._all_support_weights(view, chosen)
            for place, weight in zip(attended, found, strict=True):
                weights[place] = weight
        return list(map(_prototypes, episode.tasks, supports, weights)), asked


def _prototypes(support: Labelled, embeddings: Tensor, weights: Tensor | None) -> Tensor:
    targets = torch.from_numpy(support.targets(support.classes))
    if weights is None:
        return class_means(embeddings, targets, len(support))
    return weighted_means(embeddings, weights, targets, len(support))
