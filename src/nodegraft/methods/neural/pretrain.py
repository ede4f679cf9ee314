"""Train an encoder on the base classes as plain node classification, with early stopping."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nodegraft.base.events import SILENT, Listener
from nodegraft.base.seeds import Seeds
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.methods.neural.encoders import Encoder
from nodegraft.methods.neural.losses import adam, balanced_cross_entropy
from nodegraft.streams.curriculum import Curriculum

HEAD = "head"
"""The name of the classifier's weights among those of the encoder."""


@dataclass(frozen=True, kw_only=True)
class Pretraining:
    """The paper's optimiser, on all visible nodes at once.

    The best epoch is the one with the highest held-out accuracy (at a tie, the lowest loss). It
    stops when neither accuracy nor loss has a new best for a while: with many classes accuracy
    alone stands still for the first dozen epochs while the loss falls, and would end the training
    before it began.
    """

    learning_rate: float = 0.005
    """Adam's step size."""

    weight_decay: float = 0.0005
    """How strongly weights are drawn to zero."""

    dropout: float = 0.5
    """The share of hidden numbers that is dropped in each step, from 0 to below 1."""

    patience: int = 10
    """Training stops after more than so many epochs in a row without a new best."""

    max_epochs: int = 1000
    """Training stops after so many epochs at the latest; 0 keeps the first weights."""

    balanced: bool = False
    """Whether every class counts alike in the training loss; else every label does."""

    def __call__(
        self,
        encoder: Encoder,
        view: GraphView,
        curriculum: Curriculum,
        seeds: Seeds,
        listener: Listener = SILENT,
    ) -> Tensor:
        """Train the encoder in place to its best on held-out nodes of the base classes.

        Returns the classifier that goes with it, one row per base class.

        Args:
            curriculum: Labels of the known classes; without held-out ones, some are set aside.
            seeds: Decide the classifier's first weights, dropout, and which labels are set aside.
        """
        train, held_out = curriculum.for_early_stopping(seeds)
        trainer = FullBatchTrainer(self, encoder, view, train, seeds)
        evaluated = held_out if held_out.num_nodes else train
        best, best_state = (-1.0, 0.0), trainer.state()
        lowest_loss, waited = float("inf"), 0
        for epoch in range(1, self.max_epochs + 1):
            loss = trainer.step()
            accuracy, held_out_loss = trainer.evaluate(evaluated)
            listener.step("pretrain", epoch, self.max_epochs, loss=loss, held_out=accuracy)
            waited = 0 if accuracy > best[0] or held_out_loss < lowest_loss else waited + 1
            lowest_loss = min(lowest_loss, held_out_loss)
            if (accuracy, -held_out_loss) > best:
                best = (accuracy, -held_out_loss)
                best_state = trainer.state()
            if waited > self.patience:
                break
        head = best_state.pop(HEAD)
        encoder.load_state_dict(best_state)
        return head


class FullBatchTrainer:
    """Gradient steps on all visible nodes at once, and an evaluation on other labels between them.

    Args:
        settings: The optimiser's settings; patience and epochs are the caller's matter.
        encoder: Is trained in place.
        view: Visible part of the graph.
        train: Labels to train on; the classifier has their classes, in their order.
        seeds: Decide the classifier's first weights and dropout.
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
        self.head = nn.Parameter(torch.empty(len(train), encoder.size))
        nn.init.xavier_uniform_(self.head, generator=seeds.torch_generator("head"))
        self.generator = seeds.generator("dropout")
        self.neighbourhood = view.full_batch(encoder.hops)
        self.train = self._examples(train)
        self.loss = balanced_cross_entropy if settings.balanced else F.cross_entropy
        self.optimiser = adam(
            [*encoder.parameters(), self.head], settings.learning_rate, settings.weight_decay
        )

    def _examples(self, labelled: NodeLabels) -> tuple[Tensor, Tensor]:
        positions = torch.from_numpy(self.view.positions(labelled.rows()))
        return positions, torch.from_numpy(labelled.targets(self.classes))

    def state(self) -> dict[str, Tensor]:
        """Return a copy of all weights, the classifier's under a name of its own."""
        weights = {**self.encoder.state_dict(), HEAD: self.head.detach()}
        return {name: value.clone() for name, value in weights.items()}

    def step(self) -> float:
        """Take one gradient step, and return the loss before it."""
        positions, targets = self.train
        self.optimiser.zero_grad()
        hidden = self.encoder(self.neighbourhood, self.dropout, self.generator)
        scores = hidden.index_select(0, positions) @ self.head.T
        loss = self.loss(scores, targets)
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()
        return loss.item()

    @torch.no_grad()
    def evaluate(self, labelled: NodeLabels) -> tuple[float, float]:
        """Return accuracy and mean cross-entropy, without dropout."""
        positions, targets = self._examples(labelled)
        scores = self.encoder(self.neighbourhood)[positions] @ self.head.T
        accuracy = (scores.argmax(dim=1) == targets).float().mean().item()
        return accuracy, F.cross_entropy(scores, targets).item()
