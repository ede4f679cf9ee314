"""Meta-training on episodes, with rehearsals on validation classes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nodegraft.base.events import SILENT, Listener
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.sampled_view import SampledView
from nodegraft.graph.view import GraphView
from nodegraft.methods.neural.batches import at_step
from nodegraft.methods.neural.checkpoints import (
    Snapshot,
    TrainingCheckpoint,
    named,
    optimiser_tensors,
    restore_optimiser,
)
from nodegraft.methods.neural.device import CPU, placed
from nodegraft.methods.neural.learners.learner import Learner
from nodegraft.methods.neural.losses import adam
from nodegraft.methods.neural.ranks import average_gradients, from_first_rank
from nodegraft.model.best_classes import recalls
from nodegraft.streams.episodes.episode import Episode
from nodegraft.streams.session import Session, Sessions

META_TRAIN = "meta-train"
"""Name of this stage of training, in progress events and in checkpoints."""


@dataclass(frozen=True, kw_only=True)
class MetaTraining:
    """Meta-training: one gradient step per episode, and regular checks on validation classes.

    The result is the weights with the best validation accuracy, or, without validation classes, the
    weights after the last episode.
    """

    episodes: int = 1000
    """Maximum number of episodes."""

    learning_rate: float = 0.005
    """Adam's step size."""

    weight_decay: float = 0.0005
    """Strength of L2 regularisation (weight decay)."""

    patience: int = 10
    """Early stopping: maximum number of rehearsals in a row without a better accuracy."""

    check_every: int = 20
    """Number of episodes between two rehearsals."""

    undecayed: tuple[str, ...] = ()
    """Name prefixes of weights that are trained without weight decay."""

    rehearse: Callable[[Any, list[Session]], float] | None = None
    """Function that computes the accuracy of a rehearsal; None uses :func:`rehearsal_accuracy`."""

    device: torch.device = CPU
    """Device of training; afterwards, the network is back on its own device."""

    def __call__(
        self,
        network: Learner[Any],
        view: GraphView,
        episodes: Iterator[Episode],
        rehearsal: Sessions | None = None,
        listener: Listener = SILENT,
        checkpoint: TrainingCheckpoint | None = None,
    ) -> None:
        """Train the network in place.

        Args:
            episodes: Training episodes; episodes without queries are skipped.
            rehearsal: Sessions that add the validation classes; None without such classes.
            listener: Listener that receives progress events, with the metrics of the last check.
            checkpoint: Checkpoint to resume from and to write; None for neither.
        """
        file = checkpoint or TrainingCheckpoint(None, {}, view)
        with placed(network, self.device):
            self._train(network, view, episodes, rehearsal, listener, file)

    def _train(
        self,
        network: Learner[Any],
        view: GraphView,
        episodes: Iterator[Episode],
        rehearsal: Sessions | None,
        listener: Listener,
        checkpoint: TrainingCheckpoint,
    ) -> None:
        optimiser = self.optimiser(network)
        rehearse = self.rehearse or rehearsal_accuracy
        sessions = [] if rehearsal is None else list(rehearsal)
        if isinstance(view, SampledView):
            sessions = [replace(part, view=view.sampling(part.view)) for part in sessions]
        best, best_state, waited = -1.0, network.state_dict(), 0
        metrics: dict[str, float] = {}
        first = 0
        saved = checkpoint.resume(META_TRAIN, network.noise)
        if saved is not None:
            network.load_state_dict(saved.part("weights"))
            if saved.numbers["finished"]:
                return
            restore_optimiser(optimiser, saved.part("optimiser"))
            best_state = saved.part("best") or best_state
            first, best, waited, metrics = (
                saved.numbers[name] for name in ("episodes", "best", "waited", "metrics")
            )

        def snapshot() -> Snapshot:
            numbers = {"episodes": number, "best": best, "waited": waited, "metrics": metrics}
            tensors = named("weights", network.state_dict())
            tensors |= named("optimiser", optimiser_tensors(optimiser))
            # Before the first rehearsal, the best weights are the current weights.
            tensors |= named("best", best_state) if best >= 0 else {}
            return Snapshot(tensors, {"finished": False, **numbers})

        # Episodes before the checkpoint are drawn again, which restores their random generator.
        for number, episode in enumerate(islice(episodes, first, self.episodes), start=first + 1):
            if not episode.query.num_nodes:
                # If every class has a single node, the episode has no queries.
                continue
            optimiser.zero_grad()
            outcome = network.loss(at_step(view, number), episode)
            outcome.loss.backward()  # type: ignore[no-untyped-call]
            average_gradients(network.parameters(), view)
            optimiser.step()
            if number % self.check_every == 0:
                metrics = outcome.metrics()
            if sessions and number % self.check_every == 0:
                (accuracy,) = from_first_rank((rehearse(network, sessions),), view)
                metrics["validation"] = accuracy
                waited = 0 if accuracy > best else waited + 1
                if accuracy > best:
                    best = accuracy
                    best_state = {
                        name: value.clone() for name, value in network.state_dict().items()
                    }
            listener.step(META_TRAIN, number, self.episodes, loss=outcome.loss.item(), **metrics)
            if waited > self.patience:
                break
            checkpoint.after_step(META_TRAIN, snapshot, network.noise)
        if sessions:
            network.load_state_dict(best_state)
        final = named("weights", network.state_dict())
        checkpoint.write(META_TRAIN, Snapshot(final, {"finished": True}))

    def optimiser(self, network: Learner[Any]) -> torch.optim.Adam:
        """Return the optimiser, with weight decay for all but the ``undecayed`` weights."""
        named = list(network.named_parameters())
        free = [weight for name, weight in named if name.startswith(self.undecayed)]
        decayed = [weight for name, weight in named if not name.startswith(self.undecayed)]
        return adam(decayed, self.learning_rate, self.weight_decay, free)


def leave_one_out(tasks: Sequence[NodeLabels], generator: np.random.Generator) -> Episode:
    """Create an episode from supports: one support of each class becomes the query.

    >>> task = NodeLabels({"hats": [1, 2, 3], "caps": [4]})
    >>> episode = leave_one_out([task], np.random.default_rng(0))
    >>> episode.support["hats"].size, episode.query.classes
    (2, ('hats',))

    Args:
        tasks: Supports of each task, oldest task first; a class with one node gets no query.
    """
    supports: list[NodeLabels] = []
    queries: dict[str, NDArray[np.int64]] = {}
    for task in tasks:
        shuffled = {name: generator.permutation(rows) for name, rows in task.items()}
        queries |= {name: rows[:1] for name, rows in shuffled.items() if rows.size > 1}
        supports.append(
            NodeLabels({name: rows[rows.size > 1 :] for name, rows in shuffled.items()})
        )
    return Episode(tuple(supports), NodeLabels(queries))


@torch.no_grad()
def rehearsal_accuracy(network: Learner[Any], sessions: list[Session]) -> float:
    """Return macro accuracy over all classes so far, from 0 to 1, averaged over sessions.

    Args:
        network: Network that stores the classes of each session; its weights stay fixed.
        sessions: Practice sessions made of known classes, in order.
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
    """Return the accuracy on queries, averaged over classes.

    Args:
        scores: Scores: one row for each of ``query.rows()``, one column for each name.
        names: Class names, in the order of the columns.
    """
    predicted = scores.argmax(dim=1).cpu().numpy()
    return float(np.mean(recalls(query.targets(names), predicted, len(names))))
