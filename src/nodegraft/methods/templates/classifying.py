"""Methods with a linear classifier on the encoder: training and scores."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.methods.neural.classifier import Classifier, Finetuning
from nodegraft.methods.templates.pretrained import Encoding
from nodegraft.model.learned import learned
from nodegraft.model.method import Method
from nodegraft.streams.curriculum import Curriculum


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
