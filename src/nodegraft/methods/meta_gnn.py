"""Meta-GNN: meta-learned encoder weights that adapt to a task in a few gradient steps."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nodegraft.base.parameters.constraints import NonNegativeInt, PositiveFloat, PositiveInt
from nodegraft.graph.keyed_labels import KeyedLabels
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.methods.neural.device import CPU, placed, training_device
from nodegraft.methods.neural.encoders import GCN, Encoder
from nodegraft.methods.neural.learners.maml import MAML, AdaptedModel, InnerLoop
from nodegraft.methods.neural.meta_training import MetaTraining
from nodegraft.methods.templates.episodic import Episodic
from nodegraft.model.learned import learned
from nodegraft.streams.curriculum import Curriculum
from nodegraft.streams.episodes.episode import Episode


@dataclass(kw_only=True)
class MetaGNN(Episodic[MAML]):
    r"""Model-agnostic meta-learning (MAML) on node classification tasks.

    .. math::
        \theta_T = \theta - \alpha \nabla_\theta L_{S_T}(\theta) \text{ (inner\_steps times)},
        \quad \theta \leftarrow \theta - \beta \nabla_\theta L_{Q_T}(\theta_T)

    Meta-training uses N-way K-shot tasks from the known classes, with gradients through the inner
    steps. Zhou et al. 2019, https://arxiv.org/abs/1905.09718.

    Differences from the source: its tasks have a fixed number of classes N, but a stream does not.
    So the initial weights of the head are not meta-learned: all its rows start with equal weights
    (see :class:`~nodegraft.methods.neural.learners.maml.MAML`). Only the encoder's weights are
    meta-learned, starting from the pre-trained encoder. A meta-step uses one task instead of five.
    A session starts from the meta-learned weights and takes ``test_steps`` steps on supports of all
    classes so far: ``base_shots`` stored nodes of each class known from the start, and all supports
    of later classes. All classes have equal weight in the loss. The source takes equally many steps
    in meta-training and in a session. Here a session takes more steps, because with more classes a
    step changes each class less.
    """

    inner_rate: PositiveFloat = 0.5
    r"""Learning rate of inner steps, on the supports of a task (:math:`\alpha`)."""

    inner_steps: NonNegativeInt = 10
    """Number of inner steps in meta-training."""

    test_steps: NonNegativeInt = 100
    """Number of inner steps in a session."""

    first_order: bool = False
    """Whether to ignore gradients through inner steps, which is faster but less exact."""

    meta_rate: PositiveFloat = 0.003
    r"""Adam's step size for the meta-learned weights (:math:`\beta`)."""

    base_shots: PositiveInt = 20
    """Number of stored supports of each class known from the start."""

    supports_: KeyedLabels = learned()
    """Stored supports of all classes."""

    adapted_: dict[str, Tensor] = learned()
    """Weights of encoder and head after the last session."""

    name: ClassVar[str] = "meta-gnn"
    summary: ClassVar[str] = "GCN meta-learned by MAML, adapted by gradient steps on kept supports"
    citation: ClassVar[str] = "Zhou et al. 2019"
    data_parallel: ClassVar[bool] = False

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Pre-train the encoder, meta-train it, then adapt to the known classes."""
        self._adapt(self.practised(view, curriculum), view, curriculum.train, None)

    def learn_classes(self, view: GraphView, support: NodeLabels) -> None:
        """Adapt the meta-learned weights to all classes."""
        self._adapt(self.network(), view, support, self._adapted(view))

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
        """Return a MAML network around the encoder."""
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
        """Return the meta-training procedure with the outer learning rate, ``meta_rate``."""
        return replace(super().training(episodes), learning_rate=self.meta_rate)

    def _adapted(self, view: GraphView) -> AdaptedModel:
        return AdaptedModel(self.supports_.on(view), self.adapted_)

    def _adapt(
        self, network: MAML, view: GraphView, support: NodeLabels, before: AdaptedModel | None
    ) -> None:
        with placed(network, training_device(self.device)):
            adapted = network.learn(self.for_embedding(view), support, before)
        self.supports_ = KeyedLabels.of(adapted.supports, view)
        self.adapted_ = {name: weight.to(CPU) for name, weight in adapted.weights.items()}
