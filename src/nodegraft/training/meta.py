"""Meta-training on episodes, with early stopping on rehearsals of the validation classes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from nodegraft.base.events import SILENT, Listener
from nodegraft.episodes.episode import Episode
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.nn.recalls import recalls
from nodegraft.streams.session import Session
from nodegraft.training.learners.learner import Learner
from nodegraft.training.optimiser import adam


@dataclass(frozen=True, kw_only=True)
class MetaTraining:
    """One gradient step an episode; every ``check_every`` the validation classes are rehearsed.

    It stops after ``patience`` checks without a better accuracy and keeps the best weights;
    without validation classes it runs all episodes.
    """

    episodes: int = 1000
    learning_rate: float = 0.005
    weight_decay: float = 0.0005
    patience: int = 10
    check_every: int = 20

    def __call__(
        self,
        network: Learner[Any],
        view: GraphView,
        episodes: Iterator[Episode],
        rehearsal: Callable[[], Iterator[Session]] | None = None,
        listener: Listener = SILENT,
    ) -> None:
        """Train the network in place."""
        optimiser = adam(network.parameters(), self.learning_rate, self.weight_decay)
        sessions = [] if rehearsal is None else list(rehearsal())
        best, best_state, waited = -1.0, network.state_dict(), 0
        shown: dict[str, float] = {}
        for number, episode in enumerate(islice(episodes, self.episodes), start=1):
            if not episode.query.num_nodes:
                # Where every class has a single node nothing is left to ask.
                continue
            optimiser.zero_grad()
            outcome = network.loss(view, episode)
            outcome.loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            if number % self.check_every == 0:
                shown = outcome.numbers()
            if sessions and number % self.check_every == 0:
                accuracy = shown["validation"] = rehearsed_accuracy(network, sessions)
                waited = 0 if accuracy > best else waited + 1
                if accuracy > best:
                    best = accuracy
                    best_state = {
                        name: value.clone() for name, value in network.state_dict().items()
                    }
            listener.step("meta-train", number, self.episodes, loss=outcome.loss.item(), **shown)
            if waited > self.patience:
                break
        if sessions:
            network.load_state_dict(best_state)


def leave_one_out(tasks: Sequence[NodeLabels], generator: np.random.Generator) -> Episode:
    """An episode out of supports alone: one node of each class is asked, the others teach.

    A class of one node only teaches.
    """
    taught: list[NodeLabels] = []
    asked: dict[str, NDArray[np.int64]] = {}
    for task in tasks:
        drawn = {name: generator.permutation(rows) for name, rows in task.items()}
        asked |= {name: rows[:1] for name, rows in drawn.items() if rows.size > 1}
        taught.append(NodeLabels({name: rows[rows.size > 1 :] for name, rows in drawn.items()}))
    return Episode(tuple(taught), NodeLabels(asked))


@torch.no_grad()
def rehearsed_accuracy(network: Learner[Any], sessions: list[Session]) -> float:
    """Macro accuracy over all classes seen, averaged over the sessions of a rehearsal."""
    names: list[str] = []
    kept: Any = None
    accuracies = []
    for session in sessions:
        kept = network.learn(session.view, session.support, kept)
        names += session.support.classes
        scores = network.score(session.view, session.query.rows(), kept)
        predicted = scores.argmax(dim=1).numpy()
        found = recalls(session.query.targets(names), predicted, len(names))
        accuracies.append(float(np.mean(found)))
    return float(np.mean(accuracies))
