"""Model-agnostic meta-learning of a graph encoder: weights from which few steps are enough."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor
from torch.func import functional_call

from nodegraft.base.seeds import Seeds
from nodegraft.episodes.episode import Episode, sample_per_class
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.neighbourhood import Neighbourhood
from nodegraft.graph.view import GraphView
from nodegraft.nn.encoders.encoder import Encoder, embed_rows
from nodegraft.nn.losses import balanced_cross_entropy
from nodegraft.training.learners.learner import EpisodeLoss, Learner

HEAD = "head"
Weights = dict[str, Tensor]


@dataclass(frozen=True, kw_only=True)
class Adaptation:
    """The inner loop: how many gradient steps of which length, while practising and in earnest."""

    rate: float = 0.5
    steps: int = 10
    test_steps: int = 100
    first_order: bool = False
    base_shots: int = 20


@dataclass(frozen=True)
class Lesson:
    """Nodes with their neighbourhood, and the column of each one's class."""

    neighbourhood: Neighbourhood
    places: Tensor
    targets: Tensor

    @classmethod
    def of(
        cls, view: GraphView, labelled: NodeLabels, columns: tuple[str, ...], hops: int
    ) -> "Lesson":
        """Cut out once, however many steps are taken on it."""
        neighbourhood, places = view.around(labelled.rows(), hops)
        targets = torch.from_numpy(labelled.targets(columns))
        return cls(neighbourhood, torch.from_numpy(places), targets)


@dataclass(frozen=True)
class Adapted:
    """The supports kept of every class, and the weights after the steps on them."""

    supports: NodeLabels
    weights: Weights


class MAML(Learner[Adapted]):
    r"""Encoder and linear head after some gradient steps on a task's supports.

    .. math::
        \theta' = \theta - \alpha \nabla_\theta L_S(\theta) \text{ (repeated)}, \quad
        \min_\theta L_Q(\theta')

    Tasks have any number of classes, so the head cannot be learned column by column: all its rows
    start alike, which makes the start the same for every order of the classes. Which row they
    start from is without effect, since a softmax ignores what is added to all scores alike: it is
    zero. The first step therefore moves the head only, towards the classes' means.
    """

    def __init__(self, encoder: Encoder, plan: Adaptation, seeds: Seeds) -> None:
        super().__init__(encoder)
        self.plan, self.seeds = plan, seeds

    def loss(self, view: GraphView, episode: Episode) -> EpisodeLoss:
        """The loss of the queries after the steps on the supports."""
        support, query = (
            Lesson.of(view, part, episode.classes, self.encoder.hops)
            for part in (episode.support, episode.query)
        )
        return EpisodeLoss(self.query_loss(support, query, len(episode.classes)))

    def query_loss(self, support: Lesson, query: Lesson, classes: int) -> Tensor:
        """Differentiable through the steps, unless ``first_order`` takes them as constant."""
        second_order = not self.plan.first_order
        weights = self.adapt(support, classes, self.plan.steps, second_order)
        return F.cross_entropy(self._scores(weights, query), query.targets)

    def learn(self, view: GraphView, support: NodeLabels, before: Adapted | None) -> Adapted:
        """Steps from the meta-learned weights on what is kept of all classes."""
        if before is None:
            draws = self.seeds.generator("kept")
            supports = sample_per_class(support, self.plan.base_shots, draws)
        else:
            supports = before.supports | support
        lesson = Lesson.of(view, supports, supports.classes, self.encoder.hops)
        weights = self.adapt(lesson, len(supports), self.plan.test_steps)
        return Adapted(supports, {name: value.detach() for name, value in weights.items()})

    def score(self, view: GraphView, rows: NDArray[np.int64], kept: Adapted) -> Tensor:
        """The adapted head on the adapted embeddings."""
        hidden = self.embed_adapted(view, rows, kept.weights)
        # In double precision a row rounds alike alone and among many.
        return hidden.double() @ kept.weights[HEAD].double().T

    def embed_adapted(self, view: GraphView, rows: NDArray[np.int64], weights: Weights) -> Tensor:
        """Embeddings of rows, in their order, by the adapted encoder."""
        return embed_rows(partial(self._hidden, weights), view, rows, self.encoder.hops)

    @torch.enable_grad()
    def adapt(
        self, lesson: Lesson, classes: int, steps: int, second_order: bool = False
    ) -> Weights:
        """The weights after some gradient steps; every class counts alike in their loss."""
        weights: Weights = dict(self.encoder.named_parameters())
        start = next(iter(weights.values()))
        weights[HEAD] = start.new_zeros(classes, self.encoder.size, requires_grad=True)
        for _ in range(steps):
            loss = balanced_cross_entropy(self._scores(weights, lesson), lesson.targets)
            slopes = torch.autograd.grad(loss, list(weights.values()), create_graph=second_order)
            weights = {
                name: value - self.plan.rate * slope
                for (name, value), slope in zip(weights.items(), slopes, strict=True)
            }
        return weights

    def _scores(self, weights: Weights, lesson: Lesson) -> Tensor:
        return self._hidden(weights, lesson.neighbourhood)[lesson.places] @ weights[HEAD].T

    def _hidden(self, weights: Weights, neighbourhood: Neighbourhood) -> Tensor:
        encoder = {name: value for name, value in weights.items() if name != HEAD}
        hidden: Tensor = functional_call(self.encoder, encoder, (neighbourhood,))
        return hidden
