"""Gradient steps on the few labelled nodes of a session."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nodegraft.base.events import SILENT, Listener
from nodegraft.graph.view import GraphView
from nodegraft.methods.neural.classifier import Classifier
from nodegraft.methods.neural.optimiser import adam


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
            classifier: What is trained.
            view: What may be seen of the graph.
            rows: Row numbers of the nodes to train on.
            loss: The loss of their scores, which come in the order of ``rows``.
            generator: Decides which hidden numbers are dropped.
            listener: Is told of every step.
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
