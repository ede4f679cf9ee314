"""Base classes of methods that are meta-trained on episodes."""

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
from nodegraft.methods.neural.device import CPU, training_device
from nodegraft.methods.neural.encoders import GCN, Encoder
from nodegraft.methods.neural.learners.learner import Learner
from nodegraft.methods.neural.learners.prototypes import PrototypeLearner
from nodegraft.methods.neural.meta_training import MetaTraining
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
    """Base class of methods that pre-train an encoder, then meta-train a network around it."""

    ways: PositiveInt | None = None
    """Number of classes in an episode (N); None uses the number of the stream."""

    shots: PositiveInt | None = None
    """Number of supports of each class in an episode (K); None uses the number of the stream."""

    queries: PositiveInt | None = None
    """Number of queries of each class in an episode; None uses the number of supports."""

    episodes: NonNegativeInt = 1000
    """Maximum number of episodes; early stopping on validation classes may end training earlier."""

    network_: dict[str, Tensor] = learned()
    """Weights of the meta-trained network."""

    @abstractmethod
    def new_network(self, encoder: GCN) -> Network:
        """Return a network around an encoder; all other weights have initial values.

        Args:
            encoder: Pre-trained encoder.
        """

    @abstractmethod
    def practice(self, curriculum: Curriculum) -> Iterator[Episode]:
        """Yield an endless sequence of episodes for meta-training.

        Args:
            curriculum: Labels of the known classes.
        """

    def new_encoder(self, features: int) -> GCN:
        """Return the paper's encoder, whose layers the network needs.

        Args:
            features: Number of feature columns.
        """
        return self.gcn(features)

    def practised(self, view: GraphView, curriculum: Curriculum) -> Network:
        """Pre-train the encoder, meta-train the network, and store its weights.

        Args:
            view: Visible part of the graph.
            curriculum: Labels of the known classes.
        """
        encoder = self.new_encoder(view.num_features)
        self.pretrain(encoder, view, curriculum)
        network = self.new_network(encoder)
        train = self.training(self.episodes)
        own, practice = self.for_training(view), self.practice(curriculum)
        checkpoint = self._training_checkpoint
        train(network, own, practice, curriculum.rehearsal, self.listener, checkpoint)
        self.network_ = network.state_dict()
        return network

    def training(self, episodes: int) -> MetaTraining:
        """Return the meta-training procedure, with the optimiser settings of pre-training.

        Args:
            episodes: Maximum number of episodes.
        """
        return MetaTraining(
            episodes=episodes,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            patience=self.patience,
            device=training_device(self.device),
        )

    def network(self) -> Network:
        """Return the trained network."""
        features = next(iter(self.network_.values())).shape[0]
        encoder = self.new_encoder(features)
        if self.idf:
            encoder.column_weights = torch.ones(features, device=CPU)
        network = self.new_network(encoder)
        network.load_state_dict(self.network_)
        return network

    def answering_encoder(self) -> Encoder:
        """Return the encoder of the trained network."""
        return self.network().encoder

    # The next methods generate practice episodes in two ways.

    def tasks(self, curriculum: Curriculum) -> Iterator[Episode]:
        """Return N-way K-shot tasks drawn from all known classes.

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
        """Return episodes that add pseudo-novel classes to the base classes.

        There are no episodes if the curriculum has no pseudo-novel classes.

        Args:
            curriculum: Labels of the known classes.
            base_shots: Number of supports of each base class in an episode.
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
        """Return the number of pseudo-novel classes that a practice episode adds.

        Args:
            curriculum: Labels of the known classes.
        """
        return min(self.ways or curriculum.ways, len(curriculum.pseudo_novel))

    def with_pseudo_novel(self, curriculum: Curriculum) -> Curriculum:
        """Return a curriculum in which half of the known classes are pseudo-novel.

        A curriculum that has pseudo-novel classes already, or a rehearsal, is returned unchanged.

        Args:
            curriculum: Labels of the known classes.
        """
        if curriculum.pseudo_novel or curriculum.rehearsal is not None:
            return curriculum
        names = self.seeds.generator("practice").permutation(curriculum.train.classes).tolist()
        return replace(curriculum, pseudo_novel=tuple(names[: len(names) // 2]))


@dataclass(kw_only=True)
class Prototypical(Episodic[Prototypes]):
    """Base class of methods that compute one prototype per class when the class is added."""

    prototypes_: Tensor = learned()
    """Prototype of each class, one row per class."""

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Pre-train the encoder, meta-train the network, then compute prototypes."""
        network = self.practised(view, curriculum)
        with torch.no_grad():
            self.prototypes_ = network.learn(self.for_embedding(view), curriculum.train, None)

    @torch.no_grad()
    def learn_classes(self, view: GraphView, support: NodeLabels) -> None:
        """Add a prototype for each new class."""
        own = self.for_embedding(view)
        self.prototypes_ = self.network().learn(own, support, self.prototypes_)

    @torch.no_grad()
    def score(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor:
        """Return the network's scores: comparisons of embeddings with prototypes."""
        return self.network().score(view, rows, self.prototypes_)

    @torch.no_grad()
    def embedding(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor:
        """Return the output of the network's encoder."""
        return self.network().embed(view, rows)
