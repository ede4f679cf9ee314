"""Methods that are meta-trained on episodes: the episodes, the training, the network."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nodegraft.base.parameters.constraints import NonNegativeInt, PositiveInt
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.methods.neural.encoders import GCN, Encoder
from nodegraft.methods.neural.learners.learner import Learner
from nodegraft.methods.neural.learners.prototypes import PrototypeLearner
from nodegraft.methods.neural.training import MetaTraining
from nodegraft.methods.templates.pretrained import Pretrained
from nodegraft.model.learned import learned
from nodegraft.model.method import Method
from nodegraft.streams.curriculum import Curriculum
from nodegraft.streams.episodes.episode import Episode, nway_episodes
from nodegraft.streams.episodes.gpil import GPIL

Network = TypeVar("Network", bound=Learner[Any])
Prototypes = TypeVar("Prototypes", bound=PrototypeLearner)


@dataclass(kw_only=True)
class Episodic(Pretrained, Method, Generic[Network]):
    """The encoder is pre-trained, then the network around it practises on episodes."""

    ways: PositiveInt | None = None
    """Classes of an episode (N); None takes those of the stream."""

    shots: PositiveInt | None = None
    """Supports of each of them (K); None takes those of the stream."""

    queries: PositiveInt | None = None
    """Nodes asked about in each class; None takes as many as supports."""

    episodes: NonNegativeInt = 1000
    """How many episodes at most; early stopping on validation classes may end it before."""

    network_: dict[str, Tensor] = learned()
    """The weights of the network."""

    @abstractmethod
    def new_network(self, encoder: GCN) -> Network:
        """Return the network around an encoder, the rest with fresh weights.

        Args:
            encoder: The encoder.
        """

    @abstractmethod
    def practice(self, curriculum: Curriculum) -> Iterator[Episode]:
        """Yield the episodes of meta-training, without end.

        Args:
            curriculum: Labels of the known classes.
        """

    def new_encoder(self, features: int) -> GCN:
        """Return the paper's encoder: networks around it need its layers."""
        return self.gcn(features)

    def practised(self, view: GraphView, curriculum: Curriculum) -> Network:
        """Pre-train, practise, and keep the weights.

        Args:
            view: Visible part of the graph.
            curriculum: Labels of the known classes.
        """
        encoder = self.new_encoder(view.num_features)
        self.pretrain(encoder, view, curriculum)
        network = self.new_network(encoder)
        train = self.training(self.episodes)
        train(network, view, self.practice(curriculum), curriculum.rehearsal, self.listener)
        self.network_ = network.state_dict()
        return network

    def training(self, episodes: int) -> MetaTraining:
        """Return meta-training with the optimiser of the pre-training.

        Args:
            episodes: How many at most.
        """
        return MetaTraining(
            episodes=episodes,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            patience=self.patience,
        )

    def network(self) -> Network:
        """Return the network as it was trained."""
        features = next(iter(self.network_.values())).shape[0]
        encoder = self.new_encoder(features)
        if self.idf:
            encoder.column_weights = torch.ones(features)
        network = self.new_network(encoder)
        network.load_state_dict(self.network_)
        return network

    def answering_encoder(self) -> Encoder:
        """Return the encoder inside the network."""
        return self.network().encoder

    # The two kinds of practice.

    def tasks(self, curriculum: Curriculum) -> Iterator[Episode]:
        """Return plain N-way K-shot tasks from all known classes.

        Args:
            curriculum: Labels of the known classes.
        """
        shots = self.shots or curriculum.shots
        return nway_episodes(
            curriculum.train,
            ways=self.ways or curriculum.ways,
            shots=shots,
            queries=self.queries or shots,
            generator=self.seeds.generator("tasks"),
        )

    def increments(self, curriculum: Curriculum, base_shots: int) -> Iterator[Episode]:
        """Return increments of the base classes by pseudo-novel ones; none where there are no such.

        Args:
            curriculum: Labels of the known classes.
            base_shots: Supports of each base class in an episode.
        """
        shots, ways = self.shots or curriculum.shots, self.increment(curriculum)
        if not ways:
            return iter(())
        sampler = GPIL(
            train=curriculum.train,
            pseudo_novel=curriculum.pseudo_novel,
            ways=ways,
            shots=shots,
            queries=self.queries or shots,
            base_shots=base_shots,
        )
        return sampler.episodes(self.seeds.generator("gpil"))

    def increment(self, curriculum: Curriculum) -> int:
        """Return how many classes an increment brings in practice.

        Args:
            curriculum: Labels of the known classes.
        """
        return min(self.ways or curriculum.ways, len(curriculum.pseudo_novel))

    def with_pseudo_novel(self, curriculum: Curriculum) -> Curriculum:
        """Set half of the classes aside as pseudo-novel if a user gave plain labels.

        Args:
            curriculum: Labels of the known classes.
        """
        if curriculum.pseudo_novel or curriculum.rehearsal is not None:
            return curriculum
        names = self.seeds.generator("practice").permutation(curriculum.train.classes).tolist()
        return replace(curriculum, pseudo_novel=tuple(names[: len(names) // 2]))


@dataclass(kw_only=True)
class Prototypical(Episodic[Prototypes]):
    """Networks that keep one prototype a class, as it was when the class arrived."""

    prototypes_: Tensor = learned()
    """One for each class."""

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Pre-train, practise, then one prototype for each known class."""
        network = self.practised(view, curriculum)
        with torch.no_grad():
            self.prototypes_ = network.learn(view, curriculum.train, None)

    @torch.no_grad()
    def learn_classes(self, view: GraphView, support: NodeLabels) -> None:
        """Add a prototype for each class."""
        self.prototypes_ = self.network().learn(view, support, self.prototypes_)

    @torch.no_grad()
    def score(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor:
        """Compare embeddings with prototypes, as the network does."""
        return self.network().score(view, rows, self.prototypes_)

    @torch.no_grad()
    def embedding(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor:
        """Return the encoder's output."""
        return self.network().embed(view, rows)
