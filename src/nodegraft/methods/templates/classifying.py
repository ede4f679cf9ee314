"""Methods with a linear classifier on the encoder: the classifier, training and scores."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from nodegraft.base.events import SILENT, Listener
from nodegraft.graph.edges.operator import Neighbourhood
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.methods.neural.encoders import Encoder
from nodegraft.methods.neural.losses import adam
from nodegraft.methods.templates.pretrained import Encoding
from nodegraft.model.learned import learned
from nodegraft.model.method import Method
from nodegraft.streams.curriculum import Curriculum


class Classifier(nn.Module):
    r"""Scores :math:`s = g_\theta(A, X) W^\top`, one column per class in the order of ``head``.

    Args:
        encoder: Embeds the nodes; it is not copied, and training the classifier trains it, too.
        head: One row of weights a class (:math:`W`), as wide as an embedding; it is copied.
    """

    def __init__(self, encoder: Encoder, head: Tensor) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = nn.Parameter(head.detach().clone())

    @property
    def hops(self) -> int:
        """How many hops around a node its score depends on."""
        return self.encoder.hops

    def forward(
        self,
        neighbourhood: Neighbourhood,
        dropout: float = 0.0,
        generator: np.random.Generator | None = None,
    ) -> Tensor:
        """Return scores of the nodes at the centre.

        Args:
            neighbourhood: Visible neighbourhood of the nodes, :attr:`hops` steps far.
            dropout: The share of hidden numbers that is dropped, from 0 to below 1.
            generator: Decides which ones; without it nothing is dropped.
        """
        hidden: Tensor = self.encoder(neighbourhood, dropout, generator)
        return hidden @ self.head.T

    def with_more_classes(self, num_classes: int, generator: torch.Generator) -> "Classifier":
        """Return a classifier with initial rows for more classes behind the known ones.

        Args:
            generator: Draws their rows (Xavier, uniform), as those of the first classes.
        """
        rows = torch.empty(num_classes, self.encoder.size)
        nn.init.xavier_uniform_(rows, generator=generator)
        return Classifier(self.encoder, torch.cat((self.head.detach(), rows)))


@dataclass(frozen=True, kw_only=True)
class Finetuning:
    """A fixed number of full-batch steps: a session has no held-out nodes to stop by.

    The neighbourhood of the nodes is cut out once; a step costs what these nodes need, whatever
    the size of the graph.
    """

    steps: int
    """How many gradient steps; 0 changes nothing."""

    learning_rate: float = 0.005
    """Adam's step size."""

    weight_decay: float = 0.0005
    """How strongly weights are drawn to zero."""

    dropout: float = 0.5
    """The share of hidden numbers that is dropped in each step, from 0 to below 1."""

    def __call__(
        self,
        classifier: Classifier,
        view: GraphView,
        rows: NDArray[np.int64],
        loss: Callable[[Tensor], Tensor],
        generator: np.random.Generator,
        listener: Listener = SILENT,
    ) -> None:
        """Train encoder and head in place.

        Args:
            loss: The loss of their scores, which come in the order of ``rows``.
            generator: Decides which hidden numbers are dropped.
        """
        neighbourhood, places = view.around(rows, classifier.hops)
        order = torch.from_numpy(places)
        optimiser = adam(classifier.parameters(), self.learning_rate, self.weight_decay)
        for number in range(1, self.steps + 1):
            optimiser.zero_grad()
            scores = classifier(neighbourhood, self.dropout, generator).index_select(0, order)
            value = loss(scores)
            value.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            listener.step("finetune", number, self.steps, loss=value.item())


@dataclass(kw_only=True)
class Classifying(Encoding, Method):
    """One row of weights for each class; session 0 trains them with the encoder.

    Nothing is practised, so no known class is kept back from that training.
    """

    head_: Tensor = learned()
    """One row of weights for each class."""

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Train encoder and head on all known classes."""
        encoder = self.new_encoder(view.num_features)
        head = self.pretrain(encoder, view, curriculum.without_pseudo_novel)
        self.keep_classifier(Classifier(encoder, head))

    def keep_classifier(self, classifier: Classifier) -> None:
        """Take its weights; it is not to be trained further."""
        self.keep_encoder(classifier.encoder)
        self.head_ = classifier.head.detach()

    def classifier(self) -> Classifier:
        """Return encoder and head as they were last trained; a copy, free to be trained further."""
        return Classifier(self.encoder(), self.head_)

    def grown(self, support: NodeLabels) -> Classifier:
        """Return the classifier of the last session with fresh rows for the new classes."""
        generator = self.seeds.torch_generator("new rows", str(len(self.classes_)))
        return self.classifier().with_more_classes(len(support), generator)

    def train_on(
        self,
        classifier: Classifier,
        view: GraphView,
        rows: NDArray[np.int64],
        loss: Callable[[Tensor], Tensor],
        steps: int,
    ) -> None:
        """Train a classifier further on the loss of these rows' scores, and keep it.

        Args:
            loss: The loss of their scores, which come in the order of ``rows``.
        """
        finetune = Finetuning(
            steps=steps,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            dropout=self.dropout,
        )
        generator = self.seeds.generator("session", str(len(self.classes_)))
        finetune(classifier, view, rows, loss, generator, self.listener)
        self.keep_classifier(classifier)

    def columns(self, labels: NodeLabels) -> Tensor:
        """Return the column of each labelled node's class; new classes follow the known ones."""
        names = dict.fromkeys((*self.classes_, *labels.classes))
        return torch.from_numpy(labels.targets(tuple(names)))

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor:
        """Return the head's score of each class."""
        return self.embedding(view, rows) @ self.head_.T

    def keep_classes(self, columns: NDArray[np.int64]) -> None:
        """Drop the other rows of the head."""
        self.head_ = self.head_[torch.from_numpy(columns)]
