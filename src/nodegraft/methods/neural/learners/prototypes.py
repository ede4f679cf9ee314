"""Networks that store one prototype per class: a mean, a weighted mean, or adapted by attention."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.methods.neural import attention
from nodegraft.methods.neural.batches import embed_in_batches
from nodegraft.methods.neural.device import CPU, device_of, to_tensor
from nodegraft.methods.neural.encoders import GCN, Encoder, embed_rows
from nodegraft.methods.neural.learners.learner import EpisodeLoss, Learner
from nodegraft.methods.neural.prototypes import class_means, cosines, squared_distances
from nodegraft.streams.episodes.episode import Episode


class PrototypeLearner(Learner[Tensor]):
    """Network that predicts the class of the nearest prototype.

    A prototype is the mean of a class's supports. It is computed when the class is added.
    """

    def prototypes(self, view: GraphView, support: NodeLabels, few_shot: bool) -> Tensor:
        """Return the prototype of each class, one row per class: the mean of its supports.

        Args:
            few_shot: Whether the classes have few labels; has no effect on plain means.
        """
        vectors = self.embed(view, support.rows())
        targets = to_tensor(support.targets(support.classes), vectors.device)
        return class_means(vectors, targets, len(support))

    def learn(self, view: GraphView, support: NodeLabels, memory: Tensor | None) -> Tensor:
        """Return the prototypes of earlier classes, followed by those of the new classes."""
        new = self.prototypes(view, support, few_shot=memory is not None)
        return new if memory is None else torch.cat((memory, new))

    def score(self, view: GraphView, rows: NDArray[np.int64], memory: Tensor) -> Tensor:
        """Return minus the squared distance to each prototype."""
        return -squared_distances(self.embed(view, rows), memory)


@dataclass(frozen=True, kw_only=True)
class ValuatorOptions:
    """Options of a node valuator, which weights the supports of a class."""

    nla: bool = True
    """Whether node-level attention weights supports; otherwise prototypes are plain means."""

    nla_normalise: Literal["class", "session"] = "class"
    """Normalisation of support weights: their sum is 1 within each class or over a session."""

    nla_for: Literal["few-shot", "all"] = "few-shot"
    """Classes whose supports are weighted by attention: few-shot classes only, or all."""

    centrality: attention.Centrality = "log1p"
    r"""Centrality of a node with degree :math:`d`: :math:`\log(1 + d)`, or the paper's
    :math:`\log(d + \epsilon)`, which gives isolated nodes the largest weight."""

    nla_start: attention.Start = "xavier"
    """Scale of the valuator's initial weights: Xavier, or the wider range of the authors' code."""

    dropout: float = 0.0
    """Dropout rate of the encoder's hidden values in an episode."""


@dataclass(frozen=True)
class NodeAttentionLoss(EpisodeLoss):
    """Loss of an episode, and the weights of node-level attention."""

    node_weights: tuple[Tensor, ...]
    """Weights of the supports, for each task that uses node-level attention."""

    @torch.no_grad()
    def metrics(self) -> dict[str, float]:
        """Return the relative spread of the support weights; 0 means equal weights."""
        nodes = torch.cat(self.node_weights) if self.node_weights else self.loss.new_zeros(0)
        return {"node_spread": relative_spread(nodes)}


class WeightedPrototypeLearner(PrototypeLearner):
    r"""Network with attention-weighted prototypes :math:`p_k = \sum_{j \in S_k} \lambda_j z_j`.

    Args:
        encoder: Encoder of two GCN layers; the valuator has the same widths.
        options: Options of the valuator.
        generator: Random generator for the initial weights of the valuator.
    """

    encoder: GCN

    def __init__(self, encoder: GCN, options: ValuatorOptions, generator: torch.Generator) -> None:
        super().__init__(encoder)
        features, (hidden, out) = encoder.weights[0].shape[0], [len(b) for b in encoder.biases]
        self.options = options
        self.node_attention = attention.NodeAttention(
            features, (hidden, out), generator, options.nla_start
        )
        if encoder.column_weights is not None:
            self.node_attention.layers.column_weights = encoder.column_weights.clone()
        self.noise = np.random.default_rng(generator.initial_seed())

    def prototypes(self, view: GraphView, support: NodeLabels, few_shot: bool) -> Tensor:
        """Return the prototype of each class: an attention-weighted or plain mean."""
        return self._one_pass(view, [support], [few_shot]).prototypes[0]

    def uses_attention(self, few_shot: bool) -> bool:
        """Return whether node-level attention weights the supports of a task.

        Args:
            few_shot: Whether the task's classes have few labels.
        """
        return self.options.nla and (few_shot or self.options.nla_for == "all")

    def support_weights(self, view: GraphView, support: NodeLabels) -> Tensor:
        """Return the weight of every support, in the order of ``support.rows()``.

        Without attention, all supports of a class have equal weight.
        """
        if not self.uses_attention(few_shot=True):
            sizes = [rows.size for rows in support.values()]
            counts = torch.tensor(sizes, device=device_of(self))
            return (1 / counts).repeat_interleave(counts)
        hops = self.node_attention.layers.hops
        raw = embed_rows(self.node_attention, view, support.rows(), hops)
        return self._normalised(view, support, raw)

    def _normalised(self, view: GraphView, support: NodeLabels, raw: Tensor) -> Tensor:
        degrees = to_tensor(view.degrees(support.rows()).astype(np.float32), raw.device)
        adjusted = attention.adjust_for_centrality(raw, degrees, self.options.centrality)
        targets = to_tensor(support.targets(support.classes), raw.device)
        if self.options.nla_normalise == "session":
            return attention.softmax_within(adjusted, torch.zeros_like(targets), 1)
        return attention.softmax_within(adjusted, targets, len(support))

    def loss(self, view: GraphView, episode: Episode) -> EpisodeLoss:
        """Return the cross-entropy of the queries, from distances to all prototypes."""
        embedded = self.embed_episode(view, episode)
        targets = to_tensor(episode.targets, embedded.queries.device)
        loss = F.cross_entropy(embedded.scores, targets)
        return NodeAttentionLoss(loss, embedded.node_weights)

    def embed_episode(self, view: GraphView, episode: Episode) -> "EpisodeEmbeddings":
        """Return prototypes of an episode's tasks, and embeddings of its queries."""
        few_shot = [place > 0 for place in range(len(episode.tasks))]
        dropout = self.options.dropout
        return self._one_pass(view, episode.tasks, few_shot, episode.query.rows(), dropout)

    def _one_pass(
        self,
        view: GraphView,
        tasks: Sequence[NodeLabels],
        few_shot: Sequence[bool],
        queries: NDArray[np.int64] | None = None,
        dropout: float = 0.0,
    ) -> "EpisodeEmbeddings":
        # Encoder and node-level attention share a neighbourhood. Extracting a smaller neighbourhood
        # for the attention would cost more than it saves.
        parts = [task.rows() for task in tasks]
        parts.append(np.zeros(0, dtype=np.int64) if queries is None else queries)
        attended = [self.uses_attention(few) for few in few_shot]

        def embed(rows: NDArray[np.int64]) -> Tensor:
            neighbourhood, inside = view.around(rows, self.encoder.hops)
            embeddings = self.encoder(neighbourhood, dropout, self.noise)
            places = to_tensor(inside, embeddings.device)
            raw = self.node_attention(neighbourhood) if any(attended) else embeddings[:, 0]
            return torch.column_stack((raw[places], embeddings[places]))

        embedded = embed_in_batches(view, np.concatenate(parts), embed)
        sizes = [part.size for part in parts]
        *supported, queried = torch.split(embedded[:, 1:].contiguous(), sizes)
        scores = torch.split(embedded[:, 0], sizes)
        prototypes: list[Tensor] = []
        node_weights: list[Tensor] = []
        for task, vectors, score, uses in zip(
            tasks, supported, scores[: len(tasks)], attended, strict=True
        ):
            targets = to_tensor(task.targets(task.classes), vectors.device)
            if uses:
                weights = self._normalised(view, task, score)
                node_weights.append(weights)
                prototypes.append(attention.weighted_means(vectors, weights, targets, len(task)))
            else:
                prototypes.append(class_means(vectors, targets, len(task)))
        return EpisodeEmbeddings(tuple(prototypes), tuple(node_weights), queried)


@dataclass(frozen=True)
class EpisodeEmbeddings:
    """Prototypes, support weights and query embeddings of an episode."""

    prototypes: tuple[Tensor, ...]
    """Prototypes of each task, one row per class."""

    node_weights: tuple[Tensor, ...]
    """Weights of the supports, for each task that uses node-level attention."""

    queries: Tensor
    """Embeddings of the queries, one row per node."""

    @property
    def scores(self) -> Tensor:
        """Minus the squared distance of each query to every prototype."""
        return -squared_distances(self.queries, torch.cat(self.prototypes))


def relative_spread(weights: Tensor) -> float:
    """Return the standard deviation divided by the mean (the coefficient of variation).

    >>> relative_spread(torch.tensor([0.5, 0.5]))
    0.0

    Args:
        weights: Any number of weights; the result is 0 for fewer than two, and if all are 0.
    """
    if weights.numel() < 2 or not weights.any():
        return 0.0
    return (weights.std() / weights.mean()).item()


class PrototypeAttention(nn.Module):
    r"""Self-attention over prototypes, with one head and a residual connection.

    .. math::
        a_{jk} = \mathrm{softmax}_k\left(\frac{\langle Q w_j, K w_k \rangle}{\sqrt{h}}\right),
        \quad w_j' = w_j + \sum_k a_{jk} U w_k

    It works for any number of classes in any order. :math:`U` starts at zero, so training starts
    from the plain prototypes.

    Args:
        size: Width of a prototype (:math:`h`).
        generator: Random generator for the initial :math:`Q` and :math:`K` (Xavier, uniform).
    """

    def __init__(self, size: int, generator: torch.Generator) -> None:
        super().__init__()
        self.query = nn.Parameter(torch.empty(size, size, device=CPU))
        self.key = nn.Parameter(torch.empty(size, size, device=CPU))
        self.value = nn.Parameter(torch.zeros(size, size, device=CPU))
        for weight in (self.query, self.key):
            nn.init.xavier_uniform_(weight, generator=generator)

    def weights(self, prototypes: Tensor) -> Tensor:
        """Return attention weights; row ``j`` has the weight of each class for class ``j``.

        Args:
            prototypes: Prototypes, one row per class.
        """
        products = (prototypes @ self.query.T) @ (prototypes @ self.key.T).T
        return torch.softmax(products / math.sqrt(prototypes.shape[1]), dim=1)

    def forward(self, prototypes: Tensor) -> Tensor:
        """Return the adapted prototypes."""
        return prototypes + self.weights(prototypes) @ (prototypes @ self.value.T)


class EvolvedClassifier(PrototypeLearner):
    """Network that compares nodes by cosine with class means, which attention adapts to each other.

    Its memory is the plain means. The attention over all means is computed for every score, so
    each class is adapted to all classes learned so far.

    Args:
        encoder: Encoder of the nodes; it is frozen.
        temperature: Factor of the cosines, above 0; larger values make the softmax sharper.
        generator: Random generator for the initial weights of the attention.
    """

    def __init__(self, encoder: Encoder, temperature: float, generator: torch.Generator) -> None:
        super().__init__(encoder.requires_grad_(False))
        self.temperature = temperature
        self.attention = PrototypeAttention(encoder.size, generator)

    def loss(self, view: GraphView, episode: Episode) -> EpisodeLoss:
        """Return the cross-entropy of the queries over the classes of all tasks."""
        means = self.learn(view, episode.support, None)
        scores = self.score(view, episode.query.rows(), means)
        return EpisodeLoss(F.cross_entropy(scores, to_tensor(episode.targets, scores.device)))

    def score(self, view: GraphView, rows: NDArray[np.int64], memory: Tensor) -> Tensor:
        """Return the cosine with each adapted prototype, times the temperature."""
        return self.temperature * cosines(self.embed(view, rows), self.attention(memory))
