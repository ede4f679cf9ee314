"""Meta-training on episodes, with early stopping on rehearsals of the validation classes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nodegraft.base.events import SILENT, Listener
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.methods.neural.learners.learner import Learner
from nodegraft.methods.neural.losses import adam
from nodegraft.model.best_classes import recalls
from nodegraft.streams.episodes.episode import Episode
from nodegraft.streams.session import Session, Sessions


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
