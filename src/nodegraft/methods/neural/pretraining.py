"""Training loop of node classification on the base classes, with early stopping."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from nodegraft.base.events import SILENT, Listener
from nodegraft.base.seeds import Seeds
from nodegraft.graph.edges.operator import Neighbourhood
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.sampled_view import SampledView
from nodegraft.graph.view import GraphView
from nodegraft.methods.neural.batches import embed_in_batches
from nodegraft.methods.neural.checkpoints import (
    Snapshot,
    TrainingCheckpoint,
    named,
    optimiser_tensors,
    restore_optimiser,
)
from nodegraft.methods.neural.device import CPU, device_of, placed, to_tensor
from nodegraft.methods.neural.encoders import Encoder, embed_rows
from nodegraft.methods.neural.losses import adam, balanced_cross_entropy
from nodegraft.methods.neural.ranks import average_gradients, from_first_rank
from nodegraft.streams.curriculum import Curriculum

HEAD = "head"
"""Name of the classifier's weights in a dictionary that also has the encoder's weights."""

PRETRAIN = "pretrain"
"""Name of this stage of training, in progress events and in checkpoints."""


@dataclass(frozen=True, kw_only=True)
class Pretraining:
    """Training on the base classes, with the paper's optimiser and early stopping.

    An epoch is one gradient step on all labels, or, in a sampled view, a step for each batch.

    The result is the epoch with the highest held-out accuracy (at a tie, the lowest loss). Training
    stops when neither accuracy nor loss improves for a number of epochs. A rule that uses only
    accuracy would stop too early: with many classes it does not change for the first dozen epochs
    while the loss falls.
    """

    learning_rate: float = 0.005
    """Adam's step size."""

    weight_decay: float = 0.0005
    """Strength of L2 regularisation (weight decay)."""

    dropout: float = 0.5
    """Dropout rate of hidden values in each step, from 0 to below 1."""

    patience: int = 10
    """Early stopping: maximum number of epochs in a row without a new best value."""

    max_epochs: int = 1000
    """Maximum number of epochs; 0 keeps the initial weights."""

    balanced: bool = False
    """Whether all classes, instead of all labels, have equal weight in the loss."""

    device: torch.device = CPU
    """Device of training; afterwards, the encoder is back on its own device."""

    def __call__(
        self,
        encoder: Encoder,
        view: GraphView,
        curriculum: Curriculum,
        seeds: Seeds,
        listener: Listener = SILENT,
        checkpoint: TrainingCheckpoint | None = None,
    ) -> Tensor:
        """Train the encoder in place, with early stopping on held-out nodes of the base classes.

        Args:
            curriculum: Labels of the known classes. If none are held out, some are set aside.
            seeds: Seeds of the classifier's initial weights, dropout, and the labels set aside.
            checkpoint: Checkpoint to resume from and to write; None for neither.

        Returns:
            Weights of the trained classifier, one row per base class.
        """
        train, held_out = curriculum.for_early_stopping(seeds)
        with placed(encoder, self.device):
            kind = SampledTrainer if isinstance(view, SampledView) else FullBatchTrainer
            trainer = kind(self, encoder, view, train, seeds)
            evaluated = held_out if held_out.num_nodes else train
            file = checkpoint or TrainingCheckpoint(None, {}, view)
            best_state = self._best_state(trainer, evaluated, listener, file)
            encoder.load_state_dict({name: best_state[name] for name in encoder.state_dict()})
        return best_state[HEAD].to(device_of(encoder))

    def _best_state(
        self,
        trainer: "FullBatchTrainer",
        evaluated: NodeLabels,
        listener: Listener,
        checkpoint: TrainingCheckpoint,
    ) -> dict[str, Tensor]:
        best, best_state = [-1.0, 0.0], trainer.state()
        lowest_loss, waited = float("inf"), 0
        saved = checkpoint.resume(PRETRAIN, trainer.generator)
        if saved is not None:
            best_state = saved.part("best")
            if saved.numbers["finished"]:
                return best_state
            trainer.restore(saved)
            best, lowest_loss, waited = (
                saved.numbers[name] for name in ("best", "lowest_loss", "waited")
            )

        def write_checkpoint() -> None:
            numbers = {"best": best, "lowest_loss": lowest_loss, "waited": waited}
            checkpoint.after_step(
                PRETRAIN, lambda: trainer.snapshot(best_state, numbers), trainer.generator
            )

        for epoch in range(max(trainer.epoch, 1), self.max_epochs + 1):
            loss = trainer.step(write_checkpoint)
            accuracy, held_out_loss = from_first_rank(trainer.evaluate(evaluated), trainer.view)
            listener.step(PRETRAIN, epoch, self.max_epochs, loss=loss, held_out=accuracy)
            waited = 0 if accuracy > best[0] or held_out_loss < lowest_loss else waited + 1
            lowest_loss = min(lowest_loss, held_out_loss)
            if [accuracy, -held_out_loss] > best:
                best = [accuracy, -held_out_loss]
                best_state = trainer.state()
            if waited > self.patience:
                break
        checkpoint.write(PRETRAIN, Snapshot(named("best", best_state), {"finished": True}))
        return best_state


class FullBatchTrainer:
    """Trainer that takes single full-batch gradient steps and evaluates on other labels.

    Args:
        settings: Settings of optimiser, dropout and loss; the caller applies patience and epochs.
        encoder: Encoder to train in place.
        view: Visible part of the graph.
        train: Labels to train on; the classifier has their classes, in their order.
        seeds: Seeds of the classifier's initial weights and of dropout.
    """

    def __init__(
        self,
        settings: Pretraining,
        encoder: Encoder,
        view: GraphView,
        train: NodeLabels,
        seeds: Seeds,
    ) -> None:
        self.encoder, self.view, self.dropout = encoder, view, settings.dropout
        self.classes = train.classes
        self.device = device_of(encoder)
        head = torch.empty(len(train), encoder.size, device=CPU)
        nn.init.xavier_uniform_(head, generator=seeds.torch_generator("head"))
        self.head = nn.Parameter(head.to(self.device))
        self.seeds, self.generator = seeds, seeds.generator("dropout")
        self.epoch, self.steps, self.total_loss = 0, 0, 0.0
        self.prepare(train)
        self.loss = balanced_cross_entropy if settings.balanced else F.cross_entropy
        self.optimiser = adam(
            [*encoder.parameters(), self.head], settings.learning_rate, settings.weight_decay
        )

    def prepare(self, train: NodeLabels) -> None:
        """Compute what all steps have in common.

        Args:
            train: Labels to train on.
        """
        self.neighbourhood = self.view.full_batch(self.encoder.hops)
        self.train = self._examples(train)

    def _examples(self, labelled: NodeLabels) -> tuple[Tensor, Tensor]:
        positions = to_tensor(self.view.positions(labelled.rows()), self.device)
        return positions, to_tensor(labelled.targets(self.classes), self.device)

    def state(self) -> dict[str, Tensor]:
        """Return a copy of all weights by name; the classifier's weights have the name ``HEAD``."""
        weights = {**self.encoder.state_dict(), HEAD: self.head.detach()}
        return {name: value.clone() for name, value in weights.items()}

    def snapshot(self, best_state: dict[str, Tensor], numbers: dict[str, Any]) -> Snapshot:
        """Return all that training needs to resume after the last gradient step.

        Args:
            best_state: Weights of the best epoch so far, as :meth:`state` returns them.
            numbers: What the caller needs to resume, as JSON.
        """
        tensors = named("weights", self.state()) | named("best", best_state)
        counters = {"epoch": self.epoch, "steps": self.steps, "total_loss": self.total_loss}
        return Snapshot(
            tensors | named("optimiser", optimiser_tensors(self.optimiser)),
            {"finished": False, **counters, **numbers},
        )

    @torch.no_grad()
    def restore(self, saved: Snapshot) -> None:
        """Resume after the gradient step at which a snapshot was taken."""
        weights = saved.part("weights")
        self.head.copy_(weights.pop(HEAD))
        self.encoder.load_state_dict(weights)
        restore_optimiser(self.optimiser, saved.part("optimiser"))
        self.epoch, self.steps = saved.numbers["epoch"], saved.numbers["steps"]
        self.total_loss = saved.numbers["total_loss"]

    def step(self, after_step: Callable[[], None] = lambda: None) -> float:
        """Take a gradient step on all labels, and return the loss before the step.

        Args:
            after_step: Function to call after the gradient step.
        """
        if not self.steps:
            self.epoch += 1
            positions, targets = self.train
            loss = self.step_on(self.embed(self.neighbourhood, positions), targets)
            self._count_step(loss, after_step)
        return self._end_epoch(1)

    def _count_step(self, loss: float, after_step: Callable[[], None]) -> None:
        self.steps, self.total_loss = self.steps + 1, self.total_loss + loss
        after_step()

    def _end_epoch(self, count: int) -> float:
        mean = self.total_loss / count
        self.steps, self.total_loss = 0, 0.0
        return mean

    def embed(self, neighbourhood: Neighbourhood, positions: Tensor) -> Tensor:
        """Return embeddings of some labelled nodes, with dropout.

        Args:
            neighbourhood: Neighbourhood of the nodes.
            positions: Position of each node among the centre nodes of the neighbourhood.
        """
        hidden: Tensor = self.encoder(neighbourhood, self.dropout, self.generator)
        return hidden.index_select(0, positions)

    def step_on(self, embeddings: Tensor, targets: Tensor) -> float:
        """Take one gradient step on some labelled nodes, and return the loss before the step.

        Args:
            embeddings: Embeddings of the nodes, by the encoder with its current weights.
            targets: Class index of each node.
        """
        loss = self.loss(embeddings @ self.head.T, targets)
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        average_gradients((*self.encoder.parameters(), self.head), self.view)
        self.optimiser.step()
        return loss.item()

    @torch.no_grad()
    def evaluate(self, labelled: NodeLabels) -> tuple[float, float]:
        """Return accuracy and mean cross-entropy on given labels, without dropout."""
        positions, targets = self._examples(labelled)
        return accuracy_and_loss(self.encoder(self.neighbourhood)[positions] @ self.head.T, targets)


class SampledTrainer(FullBatchTrainer):
    """Trainer whose step is an epoch of gradient steps, each on a sampled batch of the labels.

    Neighbours and the order of labels are drawn for each epoch. Evaluation always uses the same
    sampled neighbours, so that epochs can be compared.
    """

    view: SampledView

    def prepare(self, train: NodeLabels) -> None:
        """Store the labels as arrays."""
        self.rows, self.targets = train.rows(), train.targets(self.classes)

    def step(self, after_step: Callable[[], None] = lambda: None) -> float:
        """Take a gradient step on each batch, and return the mean loss before the steps.

        Args:
            after_step: Function to call after each gradient step.
        """
        if not self.steps:
            self.epoch += 1
        view = self.view.at(self.epoch)
        order = self.seeds.generator("batches", str(self.epoch)).permutation(self.rows.size)
        for part in islice(view.batches(order), self.steps, None):
            some = np.sort(part)
            targets = to_tensor(self.targets[some], self.device)
            embeddings = embed_in_batches(view, self.rows[some], partial(self._embed_rows, view))
            self._count_step(self.step_on(embeddings, targets) * some.size, after_step)
        return self._end_epoch(self.rows.size)

    def _embed_rows(self, view: SampledView, rows: NDArray[np.int64]) -> Tensor:
        neighbourhood, places = view.around(rows, self.encoder.hops)
        return self.embed(neighbourhood, to_tensor(places, self.device))

    @torch.no_grad()
    def evaluate(self, labelled: NodeLabels) -> tuple[float, float]:
        """Return accuracy and mean cross-entropy on given labels, without dropout."""
        hidden = embed_rows(self.encoder, self.view, labelled.rows(), self.encoder.hops)
        targets = to_tensor(labelled.targets(self.classes), self.device)
        return accuracy_and_loss(hidden @ self.head.T, targets)


def accuracy_and_loss(scores: Tensor, targets: Tensor) -> tuple[float, float]:
    """Return accuracy and mean cross-entropy of scores."""
    accuracy = (scores.argmax(dim=1) == targets).float().mean().item()
    return accuracy, F.cross_entropy(scores, targets).item()
