"""Model-agnostic meta-learning (MAML): initial encoder weights that adapt in a few steps."""

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
from nodegraft.methods.neural.device import device_of, to_tensor
from nodegraft.methods.neural.encoders import Encoder, embed_rows
from nodegraft.methods.neural.learners.learner import EpisodeLoss, Learner
from nodegraft.methods.neural.losses import balanced_cross_entropy
from nodegraft.streams.episodes.episode import Episode, sample_per_class

HEAD = "head"
"""Name of the classifier's weights in a dictionary that also has the encoder's weights."""

Weights = dict[str, Tensor]
"""Name -> weights of encoder and head."""


@dataclass(frozen=True, kw_only=True)
class InnerLoop:
    """Adaptation of the weights to the supports of a task, by plain gradient descent."""

    learning_rate: float = 0.5
    r"""Learning rate of a gradient step (:math:`\alpha`)."""

    steps: int = 10
    """Number of gradient steps in each meta-training episode."""

    test_steps: int = 100
    """Number of gradient steps in a session, which has more classes than an episode."""

    first_order: bool = False
    """Whether the meta-gradient treats steps as constant, which is faster but less exact."""

    base_shots: int = 20
    """Number of supports stored for each base class; later classes keep all supports."""


@dataclass(frozen=True)
class LabelledBatch:
    """Batch of labelled nodes with their neighbourhood."""

    neighbourhood: Neighbourhood
    """Nodes and edges that the encoder reads to embed the batch."""

    positions: Tensor
    """Position of each node among the centre nodes of the neighbourhood."""

    targets: Tensor
    """Class index of each node."""

    @classmethod
    def of(
        cls, view: GraphView, labelled: NodeLabels, columns: tuple[str, ...], encoder: Encoder
    ) -> "LabelledBatch":
        """Create a batch; the neighbourhood is extracted once for all gradient steps.

        Args:
            columns: Names of all classes, in the order of class indices.
            encoder: Encoder that embeds the batch; the tensors are on its device.
        """
        neighbourhood, positions = view.around(labelled.rows(), encoder.hops)
        device = device_of(encoder)
        targets = to_tensor(labelled.targets(columns), device)
        return cls(neighbourhood, to_tensor(positions, device), targets)


@dataclass(frozen=True)
class AdaptedModel:
    """Adapted weights and stored supports, which the next session starts from."""

    supports: NodeLabels
    """Stored supports of every class, on which the next session trains again."""

    weights: Weights
    """Weights of encoder and head after the gradient steps on these supports."""


class MAML(Learner[AdaptedModel]):
    r"""Network of an encoder and a linear head that adapts to a task by gradient steps.

    .. math::
        \theta' = \theta - \alpha \nabla_\theta L_S(\theta) \text{ (repeated)}, \quad
        \min_\theta L_Q(\theta')

    Tasks have any number of classes, so initial weights of the head cannot be meta-learned for
    each class. Instead, all its rows start with equal weights, which does not depend on the order
    of the classes. The common row has no effect on a softmax, so it is zero. The first step
    therefore changes the head only, towards the class means.

    Args:
        encoder: Encoder whose weights are meta-learned.
        inner_loop: Settings of the adaptation to a task.
        seeds: Seeds for selecting the stored supports of the first classes.
    """

    def __init__(self, encoder: Encoder, inner_loop: InnerLoop, seeds: Seeds) -> None:
        super().__init__(encoder)
        self.inner_loop, self.seeds = inner_loop, seeds

    def loss(self, view: GraphView, episode: Episode) -> EpisodeLoss:
        """Return the loss of the queries after adaptation to the supports."""
        support, query = (
            LabelledBatch.of(view, part, episode.classes, self.encoder)
            for part in (episode.support, episode.query)
        )
        return EpisodeLoss(self.query_loss(support, query, len(episode.classes)))

    def query_loss(self, support: LabelledBatch, query: LabelledBatch, num_classes: int) -> Tensor:
        """Return the cross-entropy of the queries after adaptation to the supports.

        It is differentiable through the steps, unless ``first_order`` treats them as constant.

        Args:
            query: Other nodes of the same classes.
        """
        second_order = not self.inner_loop.first_order
        weights = self.adapt(support, num_classes, self.inner_loop.steps, second_order)
        return F.cross_entropy(self._scores(weights, query), query.targets)

    def learn(
        self, view: GraphView, support: NodeLabels, memory: AdaptedModel | None
    ) -> AdaptedModel:
        """Adapt the meta-learned weights to the stored supports of all classes."""
        if memory is None:
            draws = self.seeds.generator("kept")
            supports = sample_per_class(support, self.inner_loop.base_shots, draws)
        else:
            supports = memory.supports | support
        batch = LabelledBatch.of(view, supports, supports.classes, self.encoder)
        weights = self.adapt(batch, len(supports), self.inner_loop.test_steps)
        return AdaptedModel(supports, {name: value.detach() for name, value in weights.items()})

    def score(self, view: GraphView, rows: NDArray[np.int64], memory: AdaptedModel) -> Tensor:
        """Return the adapted head's scores of embeddings by the adapted encoder."""
        hidden = self.embed_adapted(view, rows, memory.weights)
        # Use double precision, so that scores of a node do not depend on its batch.
        return hidden.double() @ memory.weights[HEAD].double().T

    def embed_adapted(self, view: GraphView, rows: NDArray[np.int64], weights: Weights) -> Tensor:
        """Return embeddings of nodes by the adapted encoder.

        Args:
            rows: Row numbers of the nodes, in any order; the result has the same order.
        """
        return embed_rows(self.adapted_encoder(weights), view, rows, self.encoder.hops)

    def adapted_encoder(self, weights: Weights) -> Encoder:
        """Return a copy of the encoder with adapted weights; it must not be trained further."""
        encoder = deepcopy(self.encoder).requires_grad_(False)
        adapted = {name: weight for name, weight in weights.items() if name != HEAD}
        encoder.load_state_dict({**self.encoder.state_dict(), **adapted})
        return encoder

    @torch.enable_grad()
    def adapt(
        self, batch: LabelledBatch, num_classes: int, steps: int, second_order: bool = False
    ) -> Weights:
        """Return the weights after gradient steps on a batch; all classes have equal weight.

        Args:
            second_order: Whether the result is differentiable through the steps, which needs
                memory for all of them.
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
