"""Training loops: node classification on the base classes, and meta-training on episodes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from nodegraft.base.events import SILENT, Listener
from nodegraft.base.seeds import Seeds
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.methods.neural.encoders import Encoder
from nodegraft.methods.neural.learners.learner import Learner
from nodegraft.methods.neural.losses import adam, balanced_cross_entropy
from nodegraft.model.best_classes import recalls
from nodegraft.streams.curriculum import Curriculum
from nodegraft.streams.episodes.episode import Episode
from nodegraft.streams.session import Session, Sessions

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


@dataclass(frozen=True, kw_only=True)
class MetaTraining:
    """One gradient step an episode, and from time to time a rehearsal of the validation classes.

    The weights with the best rehearsal are kept; without validation classes those after the last
    episode.
    """

    episodes: int = 1000
    """Training stops after so many episodes at the latest."""

    learning_rate: float = 0.005
    """Adam's step size."""

    weight_decay: float = 0.0005
    """How strongly weights are drawn to zero."""

    patience: int = 10
    """Training stops after more than so many rehearsals in a row without a better accuracy."""

    check_every: int = 20
    """How many episodes from one rehearsal to the next."""

    undecayed: tuple[str, ...] = ()
    """Weights whose names begin so are not drawn to zero."""

    rehearse: Callable[[Any, list[Session]], float] | None = None
    """What a rehearsal is scored by; None takes :func:`rehearsal_accuracy`."""

    def __call__(
        self,
        network: Learner[Any],
        view: GraphView,
        episodes: Iterator[Episode],
        rehearsal: Sessions | None = None,
        listener: Listener = SILENT,
    ) -> None:
        """Train the network in place.

        Args:
            episodes: What it is trained on; one without queries is passed over.
            rehearsal: Sessions in which the validation classes arrive; None if there are
                no such classes.
            listener: Receives progress, with the metrics of the last check.
        """
        optimiser = self.optimiser(network)
        rehearse = self.rehearse or rehearsal_accuracy
        sessions = [] if rehearsal is None else list(rehearsal)
        best, best_state, waited = -1.0, network.state_dict(), 0
        metrics: dict[str, float] = {}
        for number, episode in enumerate(islice(episodes, self.episodes), start=1):
            if not episode.query.num_nodes:
                # Where every class has a single node none is left to be a query.
                continue
            optimiser.zero_grad()
            outcome = network.loss(view, episode)
            outcome.loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            if number % self.check_every == 0:
                metrics = outcome.metrics()
            if sessions and number % self.check_every == 0:
                accuracy = metrics["validation"] = rehearse(network, sessions)
                waited = 0 if accuracy > best else waited + 1
                if accuracy > best:
                    best = accuracy
                    best_state = {
                        name: value.clone() for name, value in network.state_dict().items()
                    }
            listener.step("meta-train", number, self.episodes, loss=outcome.loss.item(), **metrics)
            if waited > self.patience:
                break
        if sessions:
            network.load_state_dict(best_state)

    def optimiser(self, network: Learner[Any]) -> torch.optim.Adam:
        """Return the optimiser of the network."""
        named = list(network.named_parameters())
        free = [weight for name, weight in named if name.startswith(self.undecayed)]
        drawn = [weight for name, weight in named if not name.startswith(self.undecayed)]
        return adam(drawn, self.learning_rate, self.weight_decay, free)


def leave_one_out(tasks: Sequence[NodeLabels], generator: np.random.Generator) -> Episode:
    """Make an episode of supports alone: one node of each class is the query.

    >>> task = NodeLabels({"hats": [1, 2, 3], "caps": [4]})
    >>> episode = leave_one_out([task], np.random.default_rng(0))
    >>> episode.support["hats"].size, episode.query.classes
    (2, ('hats',))

    Args:
        tasks: Supports task by task, oldest first; a class of one node has no query.
        generator: Decides which nodes are queries.
    """
    supports: list[NodeLabels] = []
    queries: dict[str, NDArray[np.int64]] = {}
    for task in tasks:
        drawn = {name: generator.permutation(rows) for name, rows in task.items()}
        queries |= {name: rows[:1] for name, rows in drawn.items() if rows.size > 1}
        supports.append(NodeLabels({name: rows[rows.size > 1 :] for name, rows in drawn.items()}))
    return Episode(tuple(supports), NodeLabels(queries))


@torch.no_grad()
def rehearsal_accuracy(network: Learner[Any], sessions: list[Session]) -> float:
    """Return macro accuracy over all classes so far, from 0 to 1, averaged over sessions.

    Args:
        network: Learns the classes of each session; its weights stay as they are.
        sessions: The sessions of a rehearsal, in order.
    """
    names: list[str] = []
    memory: Any = None
    accuracies = []
    for session in sessions:
        memory = network.learn(session.view, session.support, memory)
        names += session.support.classes
        scores = network.score(session.view, session.query.rows(), memory)
        accuracies.append(macro_accuracy(scores, session.query, names))
    return float(np.mean(accuracies))


def macro_accuracy(scores: Tensor, query: NodeLabels, names: Sequence[str]) -> float:
    """Return the share of queries predicted right, averaged over classes.

    Args:
        scores: One row for each of ``query.rows()``, one column for each name.
    """
    predicted = scores.argmax(dim=1).numpy()
    return float(np.mean(recalls(query.targets(names), predicted, len(names))))
