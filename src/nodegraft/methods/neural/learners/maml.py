"""Model-agnostic meta-learning of a graph encoder: weights from which few steps are enough."""

from copy import deepcopy
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor
from torch.func import functional_call

from nodegraft.base.seeds import Seeds
from nodegraft.graph.edges.operator import Neighbourhood
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.methods.neural.encoders import Encoder, embed_rows
from nodegraft.methods.neural.learners.learner import EpisodeLoss, Learner
from nodegraft.methods.neural.losses import balanced_cross_entropy
from nodegraft.streams.episodes.episode import Episode, sample_per_class

HEAD = "head"
"""The name of the classifier's weights among those of the encoder."""

Weights = dict[str, Tensor]
"""Encoder and head by the names of their tensors."""


@dataclass(frozen=True, kw_only=True)
class InnerLoop:
    """Adaptation of the weights to the supports of a task, by plain gradient descent."""

    learning_rate: float = 0.5
    r"""The length of a gradient step (:math:`\alpha`)."""

    steps: int = 10
    """How many gradient steps in an episode of meta-training."""

    test_steps: int = 100
    """How many gradient steps in a session, where there are more classes."""

    first_order: bool = False
    """Whether the meta-gradient takes the steps as constant: quicker, and less exact."""

    base_shots: int = 20
    """How many supports of each class of the first session are kept; of later classes all are."""


@dataclass(frozen=True)
class LabelledBatch:
    """Nodes with their neighbourhood, and the column of each one's class."""

    neighbourhood: Neighbourhood
    """Nodes and edges that the encoder reads to embed the batch."""

    positions: Tensor
    """The position of each node at the neighbourhood's centre."""

    targets: Tensor
    """The column of each node's class."""

    @classmethod
    def of(
        cls, view: GraphView, labelled: NodeLabels, columns: tuple[str, ...], hops: int
    ) -> "LabelledBatch":
        """Extract the neighbourhood once, for any number of steps on it."""
        neighbourhood, positions = view.around(labelled.rows(), hops)
        targets = torch.from_numpy(labelled.targets(columns))
        return cls(neighbourhood, torch.from_numpy(positions), targets)


@dataclass(frozen=True)
class AdaptedModel:
    """Weights and classes that are stored from session to session."""

    supports: NodeLabels
    """The nodes kept of every class, on which the next session trains again."""

    weights: Weights
    """Encoder and head after the gradient steps on these supports."""


class MAML(Learner[AdaptedModel]):
    r"""Encoder and linear head after some gradient steps on a task's supports.

    .. math::
        \theta' = \theta - \alpha \nabla_\theta L_S(\theta) \text{ (repeated)}, \quad
        \min_\theta L_Q(\theta')

    Tasks have any number of classes, so the head cannot be learned column by column: all its rows
    start alike, which makes the start the same for every order of the classes. Which row they
    start from is without effect, since a softmax ignores what is added to all scores alike: it is
    zero. The first step therefore moves the head only, towards the classes' means.

    Args:
        encoder: Its weights are meta-learned.
        inner_loop: How they are adapted to a task.
        seeds: Decide which supports of the first classes are kept.
    """

    def __init__(self, encoder: Encoder, inner_loop: InnerLoop, seeds: Seeds) -> None:
        super().__init__(encoder)
        self.inner_loop, self.seeds = inner_loop, seeds

    def loss(self, view: GraphView, episode: Episode) -> EpisodeLoss:
        """Return the loss of the queries after the steps on the supports."""
        support, query = (
            LabelledBatch.of(view, part, episode.classes, self.encoder.hops)
            for part in (episode.support, episode.query)
        )
        return EpisodeLoss(self.query_loss(support, query, len(episode.classes)))

    def query_loss(self, support: LabelledBatch, query: LabelledBatch, num_classes: int) -> Tensor:
        """Return cross-entropy of the queries after the steps on the supports.

        It is differentiable through the steps, unless ``first_order`` takes them as constant.

        Args:
            query: Other nodes of the same classes.
        """
        second_order = not self.inner_loop.first_order
        weights = self.adapt(support, num_classes, self.inner_loop.steps, second_order)
        return F.cross_entropy(self._scores(weights, query), query.targets)

    def learn(
        self, view: GraphView, support: NodeLabels, memory: AdaptedModel | None
    ) -> AdaptedModel:
        """Take steps from the meta-learned weights on the stored supports of all classes."""
        if memory is None:
            draws = self.seeds.generator("kept")
            supports = sample_per_class(support, self.inner_loop.base_shots, draws)
        else:
            supports = memory.supports | support
        batch = LabelledBatch.of(view, supports, supports.classes, self.encoder.hops)
        weights = self.adapt(batch, len(supports), self.inner_loop.test_steps)
        return AdaptedModel(supports, {name: value.detach() for name, value in weights.items()})

    def score(self, view: GraphView, rows: NDArray[np.int64], memory: AdaptedModel) -> Tensor:
        """Apply the adapted head to the adapted embeddings."""
        hidden = self.embed_adapted(view, rows, memory.weights)
        # In double precision a row rounds alike alone and among many.
        return hidden.double() @ memory.weights[HEAD].double().T

    def embed_adapted(self, view: GraphView, rows: NDArray[np.int64], weights: Weights) -> Tensor:
        """Return embeddings of nodes by the adapted encoder.

        Args:
            rows: Row numbers of the nodes, in any order; the result has the same.
        """
        return embed_rows(self.adapted_encoder(weights), view, rows, self.encoder.hops)

    def adapted_encoder(self, weights: Weights) -> Encoder:
        """Return a copy of the encoder with other weights, which are not to be trained further."""
        encoder = deepcopy(self.encoder).requires_grad_(False)
        adapted = {name: weight for name, weight in weights.items() if name != HEAD}
        encoder.load_state_dict({**self.encoder.state_dict(), **adapted})
        return encoder

    @torch.enable_grad()
    def adapt(
        self, batch: LabelledBatch, num_classes: int, steps: int, second_order: bool = False
    ) -> Weights:
        """Return the weights after some gradient steps; every class counts alike in their loss.

        Args:
            second_order: Whether the result is differentiable through the steps, which holds all
                of them in memory.
        """
        weights: Weights = dict(self.encoder.named_parameters())
        start = next(iter(weights.values()))
        weights[HEAD] = start.new_zeros(num_classes, self.encoder.size, requires_grad=True)
        for _ in range(steps):
            loss = balanced_cross_entropy(self._scores(weights, batch), batch.targets)
            slopes = torch.autograd.grad(loss, list(weights.values()), create_graph=second_order)
            weights = {
                name: value - self.inner_loop.learning_rate * slope
                for (name, value), slope in zip(weights.items(), slopes, strict=True)
            }
        return weights

    def _scores(self, weights: Weights, batch: LabelledBatch) -> Tensor:
        return self._hidden(weights, batch.neighbourhood)[batch.positions] @ weights[HEAD].T

    def _hidden(self, weights: Weights, neighbourhood: Neighbourhood) -> Tensor:
        encoder = {name: value for name, value in weights.items() if name != HEAD}
        hidden: Tensor = functional_call(self.encoder, encoder, (neighbourhood,))
        return hidden
