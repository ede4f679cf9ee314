"""What methods with a linear classifier on the encoder share: training it once, asking it."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nodegraft.graph.labels import Labelled
from nodegraft.graph.stream import Curriculum
from nodegraft.graph.view import GraphView
from nodegraft.methods.encoding import Encoding
from nodegraft.nn.classifier import Classifier


@dataclass(kw_only=True)
class Classifying(Encoding):
    """One row of ``head_`` for each class; session 0 trains it with the encoder.

    Nothing is practised, so no known class is kept back from that training.
    """

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Train encoder and head on all known classes."""
        encoder = self.new_encoder(view.num_features)
        head = self.pretrain(encoder, view, curriculum.undivided)
        self.keep_classifier(Classifier(encoder, head))

    def keep_classifier(self, classifier: Classifier) -> None:
        """Take its weights; it is not to be trained further."""
        self.keep_encoder(classifier.encoder)
        self.head_ = classifier.head.detach()

    def classifier(self) -> Classifier:
        """Encoder and head as they were last trained; a copy, free to be trained further."""
        return Classifier(self.encoder(), self.head_)

    def columns(self, labelled: Labelled) -> Tensor:
        """The column of each labelled node's class; new classes stand behind the known ones."""
        names = dict.fromkeys((*self.classes_, *labelled.classes))
        return torch.from_numpy(labelled.targets(tuple(names)))

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor:
        """What the head says of each class."""
        return self.embedding(view, rows) @ self.head_.T

    def unlearn_classes(self, kept: NDArray[np.int64]) -> None:
        """Drop the other rows of the head."""
        self.head_ = self.head_[torch.from_numpy(kept)]
