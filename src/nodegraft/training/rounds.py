"""Practice on known classes: episodes played with all the evidence there is."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.events import Listener
from nodegraft.episodes.mixed import MixedEpisode, queried_nodes
from nodegraft.graph.algebra.matrix import IntArray
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.spread import SpreadRows
from nodegraft.nn.linear.loglinear import Signals
from nodegraft.training.evidence import Evidence, fair_sample
from nodegraft.training.practice import Mixture, PracticeRound
from nodegraft.training.taught import Floats, Taught


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
        """The same after unlabelled nodes have moved the means of classes with few labels.

        Args:
            mixture: How signals became scores before.
        """
        if not self.taught.few.size:
            return self
        scores = np.tensordot(mixture.weights, self.pooled, 1)
        taught = self.evidence.refined(self.taught, self.pool, scores, mixture.open_set)
        return replace(
            self,
            taught=taught,
            signals=self.evidence.refreshed(self.signals, self.queries, taught, self.centre),
            pooled=self.evidence.refreshed(self.pooled, self.pool, taught, self.centre),
        )

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
        listener.step("practise on known classes", done, len(episodes))
        yield Round(
            episode,
            evidence,
            taught,
            first.centre,
            queries,
            np.searchsorted(rows, episode.query.rows()),
            np.searchsorted(rows, episode.unknown),
            evidence.signals(queries, rows, known).astype(np.float32),
            near,
            evidence.signals(near, pool, known).astype(np.float32),
        )


def _taught(evidence: Evidence, labels: NodeLabels, kept_labels: int) -> Taught:
    kept = [fair_sample(evidence.view, rows, kept_labels) for rows in labels.values()]
    counts = np.array([rows.size for rows in labels.values()], dtype=np.int64)
    return evidence.taught(kept, counts)
