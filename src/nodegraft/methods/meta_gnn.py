"""Meta-GNN: weights of a graph encoder from which a few gradient steps learn a task."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nodegraft.base.parameters.constraints import (
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
)
from nodegraft.graph.keyed_labels import KeyedLabels
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.methods.neural.encoders import GCN, Encoder
from nodegraft.methods.neural.learners.maml import MAML, AdaptedModel, InnerLoop
from nodegraft.methods.neural.training import MetaTraining
from nodegraft.methods.templates.episodic import Episodic
from nodegraft.model.learned import learned
from nodegraft.streams.curriculum import Curriculum
from nodegraft.streams.episodes.episode import Episode


@dataclass(kw_only=True)
class MetaGNN(Episodic[MAML]):
    r"""MAML on node tasks.

    .. math::
        \theta_T = \theta - \alpha \nabla_\theta L_{S_T}(\theta) \text{ (inner\_steps times)},
        \quad \theta \leftarrow \theta - \beta \nabla_\theta L_{Q_T}(\theta_T)

    Practice is on N-way K-shot tasks from the known classes, with the gradient taken through the
    inner steps. Zhou et al. 2019, https://arxiv.org/abs/1905.09718.

    Adapted: tasks of the source have one fixed N, a stream has not. So the head has no weights of
    its own to start from: all its rows start alike (see
    :class:`~nodegraft.methods.neural.learners.maml.MAML`), and the encoder's weights alone are
    meta-learned, from the shared pre-trained ones on. One task a meta-step instead of five. A
    session starts from the meta-learned weights and takes ``test_steps`` on supports of all classes
    seen: ``base_shots`` nodes kept of each class known from the start and all supports of the
    others, every class with equal weight in the loss. They are more than ``inner_steps`` (the
    source takes as many), because the more classes there are the less a step does for each.
    """

    inner_rate: PositiveFloat = 0.5
    r"""The length of a step on a task's supports (:math:`\alpha`)."""

    inner_steps: NonNegativeInt = 10
    """How many such steps while practising."""

    test_steps: NonNegativeInt = 100
    """How many in a session."""

    first_order: bool = False
    """Whether the gradient through the inner steps is left out: quicker, and less exact."""

    meta_rate: PositiveFloat = 0.003
    r"""Adam's step size for the meta-learned weights (:math:`\beta`)."""

    base_shots: PositiveInt = 20
    """How many nodes are kept of each class known from the start."""

    supports_: KeyedLabels = learned()
    """The nodes that are kept."""

    adapted_: dict[str, Tensor] = learned()
    """Encoder and head after the steps of the last session."""

    name: ClassVar[str] = "meta-gnn"
    summary: ClassVar[str] = "GCN meta-learned by MAML, adapted by gradient steps on kept supports"
    citation: ClassVar[str] = "Zhou et al. 2019"

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Pre-train, meta-learn, then adapt to the known classes."""
        network = self.practised(view, curriculum)
        self._take(view, network.learn(view, curriculum.train, None))

    def learn_classes(self, view: GraphView, support: NodeLabels) -> None:
        """Adapt to all classes, from the meta-learned weights."""
        self._take(view, self.network().learn(view, support, self._adapted(view)))

    @torch.no_grad()
    def score(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor:
        """Return the scores of the adapted encoder and head."""
        return self.network().score(view, rows, self._adapted(view))

    @torch.no_grad()
    def embedding(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor:
        """Return the adapted encoder's output."""
        return self.network().embed_adapted(view, rows, self.adapted_)

    def answering_encoder(self) -> Encoder:
        """Return the adapted encoder."""
        return self.network().adapted_encoder(self.adapted_)

    def new_network(self, encoder: GCN) -> MAML:
        """Put the encoder into its inner loop."""
        inner_loop = InnerLoop(
            learning_rate=self.inner_rate,
            steps=self.inner_steps,
            test_steps=self.test_steps,
            first_order=self.first_order,
            base_shots=self.base_shots,
        )
        return MAML(encoder, inner_loop, self.seeds)

    def practice(self, curriculum: Curriculum) -> Iterator[Episode]:
        """Return N-way K-shot tasks."""
        return self.tasks(curriculum)

    def training(self, episodes: int) -> MetaTraining:
        """Use the outer learning rate."""
        return replace(super().training(episodes), learning_rate=self.meta_rate)

    def _adapted(self, view: GraphView) -> AdaptedModel:
        return AdaptedModel(self.supports_.on(view), self.adapted_)

    def _take(self, view: GraphView, adapted: AdaptedModel) -> None:
        self.supports_ = KeyedLabels.of(adapted.supports, view)
        self.adapted_ = adapted.weights
