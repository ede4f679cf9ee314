"""What methods that go on training their classifier in every session share."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from nodegraft.graph.labels import Labelled
from nodegraft.graph.view import GraphView
from nodegraft.methods.classifying import Classifying
from nodegraft.nn.classifier import Classifier
from nodegraft.training.finetune import Finetuning


@dataclass(kw_only=True)
class Tuned(Classifying):
    """``steps`` gradient steps a session on encoder and head; the rest as in session 0."""

    steps: int = 100

    def grown(self, support: Labelled) -> Classifier:
        """The classifier of the last session with fresh rows for the new classes."""
        generator = self.seeds.torch_generator("new rows", str(len(self.classes_)))
        return self.classifier().with_more(len(support), generator)

    def tune(
        self,
        classifier: Classifier,
        view: GraphView,
        rows: NDArray[np.int64],
        loss: Callable[[Tensor], Tensor],
    ) -> None:
        """Train it on the loss of these rows' scores, and keep it."""
        finetune = Finetuning(
            steps=self.steps,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            dropout=self.dropout,
        )
        noise = self.seeds.generator("session", str(len(self.classes_)))
        finetune(classifier, view, rows, loss, noise, self.listener)
        self.keep_classifier(classifier)
