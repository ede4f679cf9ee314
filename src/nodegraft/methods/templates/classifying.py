"""Base class of methods with a linear classifier on a trained encoder."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from nodegraft.base.events import SILENT, Listener
from nodegraft.graph.edges.operator import Neighbourhood
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.sampled_view import SampledView
from nodegraft.graph.view import GraphView
from nodegraft.methods.neural.batches import at_step
from nodegraft.methods.neural.device import CPU, placed, to_tensor, training_device
from nodegraft.methods.neural.encoders import Encoder
from nodegraft.methods.neural.losses import adam
from nodegraft.methods.neural.ranks import average_gradients, gather_rows
from nodegraft.methods.templates.pretrained import Encoding
from nodegraft.model.learned import learned
from nodegraft.model.method import Method
from nodegraft.streams.curriculum import Curriculum


class Classifier(nn.Module):
    r"""Network that computes class scores :math:`s = g_\theta(A, X) W^\top` from a neighbourhood.

    Args:
        encoder: Encoder of the nodes. It is not copied, so training the classifier trains it too.
        head: Weights :math:`W`, one row per class, as wide as an embedding; copied.
    """

    def __init__(self, encoder: Encoder, head: Tensor) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = nn.Parameter(head.detach().clone())

    @property
    def hops(self) -> int:
        """Number of hops around a node that its scores depend on."""
        return self.encoder.hops

    def forward(
        self,
        neighbourhood: Neighbourhood,
        dropout: float = 0.0,
        generator: np.random.Generator | None = None,
    ) -> Tensor:
        """Return scores of the centre nodes of a neighbourhood: nodes x classes.

        Args:
            dropout: Dropout rate of hidden values, from 0 to below 1.
            generator: Random generator for dropout; None disables dropout.
        """
        hidden: Tensor = self.encoder(neighbourhood, dropout, generator)
        return hidden @ self.head.T

    def with_more_classes(self, num_classes: int, generator: torch.Generator) -> "Classifier":
        """Return a classifier with additional, randomly initialised rows for new classes.

        Args:
            num_classes: Number of new classes; their rows follow those of the known classes.
            generator: Random generator for the initial weights (Xavier, uniform).
        """
        rows = torch.empty(num_classes, self.encoder.size, device=CPU)
        nn.init.xavier_uniform_(rows, generator=generator)
        return Classifier(self.encoder, torch.cat((self.head.detach(), rows)))


@dataclass(frozen=True, kw_only=True)
class Finetuning:
    """Training with a fixed number of full-batch steps.

    There is no early stopping, because sessions have no held-out nodes. The neighbourhood of the
    nodes is extracted once, or sampled for each step, so the cost of a step does not depend on the
    size of the graph.
    """

    steps: int
    """Number of gradient steps; 0 disables training."""

    learning_rate: float = 0.005
    """Adam's step size."""

    weight_decay: float = 0.0005
    """Strength of L2 regularisation (weight decay)."""

    dropout: float = 0.5
    """Dropout rate of hidden values in each step, from 0 to below 1."""

    device: torch.device = CPU
    """Device of training; afterwards, the classifier is back on its own device."""

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
            loss: Function that maps the nodes' scores, in the order of ``rows`` and on the device
                of training, to a loss.
        """
        own = rows[view.part(rows.size)] if isinstance(view, SampledView) else rows
        neighbourhood, places = at_step(view, 1).around(own, classifier.hops)
        order = to_tensor(places, self.device)
        with placed(classifier, self.device):
            optimiser = adam(classifier.parameters(), self.learning_rate, self.weight_decay)
            for number in range(1, self.steps + 1):
                if number > 1 and isinstance(view, SampledView):
                    neighbourhood, _ = view.at(number).around(own, classifier.hops)
                optimiser.zero_grad()
                scores = classifier(neighbourhood, self.dropout, generator).index_select(0, order)
                scores = gather_rows(scores, view, rows.size)
                value = loss(scores)
                value.backward()  # type: ignore[no-untyped-call]
                average_gradients(classifier.parameters(), view)
                optimiser.step()
                listener.step("finetune", number, self.steps, loss=value.item())


@dataclass(kw_only=True)
class Classifying(Encoding, Method):
    """Base class of methods with an encoder and a linear head, trained together in session 0.

    These methods do not practise adding classes, so they train on all known classes.
    """

    head_: Tensor = learned()
    """Head weights, one row per class."""

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Train encoder and head on all known classes."""
        encoder = self.new_encoder(view.num_features)
        head = self.pretrain(encoder, view, curriculum.without_pseudo_novel)
        self.keep_classifier(Classifier(encoder, head))

    def keep_classifier(self, classifier: Classifier) -> None:
        """Store the weights of a classifier without a copy; do not train it afterwards."""
        self.keep_encoder(classifier.encoder)
        self.head_ = classifier.head.detach()

    def classifier(self) -> Classifier:
        """Return a copy of the trained encoder and head, which may be trained further."""
        return Classifier(self.encoder(), self.head_)

    def grown(self, support: NodeLabels) -> Classifier:
        """Return the last session's classifier with initial head rows for the new classes."""
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
        """Train a classifier further, and store its weights.

        Args:
            loss: Function that maps the nodes' scores, in the order of ``rows``, to a loss.
        """
        finetune = Finetuning(
            steps=steps,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            dropout=self.dropout,
            device=training_device(self.device),
        )
        generator = self.seeds.generator("session", str(len(self.classes_)))
        finetune(classifier, self.for_training(view), rows, loss, generator, self.listener)
        self.keep_classifier(classifier)

    def columns(self, labels: NodeLabels) -> Tensor:
        """Return the class index of each labelled node; new classes follow the known classes."""
        names = dict.fromkeys((*self.classes_, *labels.classes))
        return torch.from_numpy(labels.targets(tuple(names)))

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor:
        """Return the score of each class: embeddings times head weights."""
        return self.embedding(view, rows) @ self.head_.T

    def keep_classes(self, columns: NDArray[np.int64]) -> None:
        """Drop the head rows of the removed classes."""
        self.head_ = self.head_[torch.from_numpy(columns)]
