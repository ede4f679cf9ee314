"""Practice on known classes: episodes played with all the evidence there is."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.events import Listener
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.propagation.spread import SpreadRows
from nodegraft.methods.graft.classes import Floats, Taught
from nodegraft.methods.graft.practice import Mixture, PracticeRound, fit_mixture, is_gain
from nodegraft.methods.graft.regression import fair_sample
from nodegraft.methods.graft.signals import Evidence
from nodegraft.methods.linear.loglinear import Signals
from nodegraft.streams.episodes.mixed import MixedEpisode, queried_nodes

LEAST_SPREAD = 0.01
"""Standard deviation of a diffusion signal among the classes below which it is left out: ten
times the tolerance of diffusion. On real graphs it is 0.6 to 1.4."""


@dataclass(frozen=True)
class Round:
    """One episode of practice, as far as it has come."""

    episode: MixedEpisode
    """What is played."""

    evidence: Evidence
    """Where signals come from."""

    taught: Taught
    """The classes of the episode."""

    centre: tuple[Floats, ...]
    """For each layer one row, which cosines are seen from."""

    queries: SpreadRows
    """The nodes asked about in any episode."""

    known: NDArray[np.int64]
    """Where those stand that are of the episode's classes."""

    unknown: NDArray[np.int64]
    """Where those stand that are of no class in it."""

    signals: Signals
    """What is said of all queries."""

    pool: SpreadRows
    """Unlabelled nodes."""

    pooled: Signals
    """What is said of them."""

    def refined(self, mixture: Mixture) -> "Round":
        """The same after unlabelled nodes have moved the means of classes with few labels. Signals
        of this round are replaced in place: it is used up.

        Args:
            mixture: How signals became scores before.
        """
        if not self.taught.few.size:
            return self
        scores = np.tensordot(mixture.weights, self.pooled, 1)
        taught = self.evidence.refined(self.taught, self.pool, scores, mixture.open_set)
        self.evidence.refresh(self.signals, self.queries, taught, self.centre)
        self.evidence.refresh(self.pooled, self.pool, taught, self.centre)
        return replace(self, taught=taught)

    def without(self, dropped: Sequence[int] | NDArray[np.int64]) -> "Round":
        """Leave out some signals.

        Args:
            dropped: Their numbers.
        """
        signals, pooled = (np.delete(one, dropped, axis=0) for one in (self.signals, self.pooled))
        return replace(self, signals=signals, pooled=pooled)

    def told(self) -> PracticeRound:
        """What signals say of the nodes asked about."""
        known, unknown = self.signals[:, self.known], self.signals[:, self.unknown]
        return PracticeRound(known, self.episode.targets, self.taught.scarcity, unknown)


def rounds_played(
    evidence: Evidence,
    episodes: Sequence[MixedEpisode],
    labelled: NodeLabels,
    refine: bool,
    kept_labels: int,
    listener: Listener,
) -> Iterator[Round]:
    """One round for each episode, with the labels alone.

    Args:
        evidence: The signals.
        episodes: What is played.
        labelled: All labels that episodes are drawn from.
        refine: Whether unlabelled nodes are to refine means later.
        kept_labels: So many labels of a class are looked at.
        listener: Is told of every round.
    """
    rows = queried_nodes(episodes)
    queries = evidence.features.rows(rows)
    for done, episode in enumerate(episodes, start=1):
        many, few = episode.tasks
        taught = _taught(evidence, many, kept_labels)
        if few:
            taught = taught | _taught(evidence, few, kept_labels)
        first = evidence.first_classes(taught, np.arange(len(many)), practice=True)
        pool: IntArray = rows[:0]
        if refine and taught.few.size:
            # Labels, and nodes of classes that this episode takes to be unknown.
            absent = labelled.select(set(labelled) - set(many) - set(few))
            without = np.concatenate((many.rows(), few.rows(), absent.rows()))
            pool = evidence.pool(taught, evidence.sample(without), without)
        near, known = evidence.features.rows(pool), evidence.known(taught, first, practice=True)
        listener.step("calibrate on known classes", done, len(episodes))
        signals = (
            evidence.signals(queries, rows, known, np.float32),
            evidence.signals(near, pool, known, np.float32),
        )
        yield Round(
            episode,
            evidence,
            # Blocks of neighbours are large and have played their part.
            replace(taught, means=taught.means[: len(evidence.layers)]),
            first.centre,
            queries,
            np.searchsorted(rows, episode.query.rows()),
            np.searchsorted(rows, episode.unknown),
            signals[0],
            near.without_blocks(),
            signals[1],
        )


def with_spread(times: Floats, rounds: Sequence[Round]) -> tuple[Floats, list[Round]]:
    """Leave out diffusion times at which heat is almost even, whatever class it comes from.

    The mixture would multiply what is left there, which is mostly error of the computation, by
    hundreds.

    Args:
        times: The diffusion times, in the order of the first signals.
        rounds: All rounds.
    """
    logs = [one.signals[: times.size] for one in rounds]
    spread = [(one - one.mean(axis=2, keepdims=True)).std(axis=(1, 2)) for one in logs]
    dropped = np.flatnonzero(np.mean(spread, axis=0) < LEAST_SPREAD)
    return np.delete(times, dropped), [one.without(dropped) for one in rounds]


def without_useless(
    rounds: list[Round], mixture: Mixture, signals: Sequence[int], listener: Listener
) -> tuple[list[Round], Mixture]:
    """Leave out some signals, unless answers are more likely with them, by more than chance.

    Args:
        rounds: All rounds.
        mixture: What was fitted to them.
        signals: The numbers of the signals in question.
        listener: Is told of every step.
    """
    others = [one.without(signals) for one in rounds]
    told, fewer = [one.told() for one in rounds], [one.told() for one in others]
    found = fit_mixture(fewer, listener=listener)
    return (rounds, mixture) if is_gain(told, mixture, fewer, found) else (others, found)


def _taught(evidence: Evidence, labels: NodeLabels, kept_labels: int) -> Taught:
    kept = [fair_sample(evidence.view, rows, kept_labels) for rows in labels.values()]
    counts = np.array([rows.size for rows in labels.values()], dtype=np.int64)
    return evidence.taught(kept, counts)
