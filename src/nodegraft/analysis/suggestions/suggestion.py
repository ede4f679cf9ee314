"""Which nodes to label next: the unsure ones, each standing for others like it."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nodegraft.analysis.snapshot import State
from nodegraft.analysis.suggestions.vectors import vectors_of
from nodegraft.base.errors import NotSupportedError
from nodegraft.base.parameters.constraints import PositiveInt
from nodegraft.base.parameters.validate import validate_value
from nodegraft.graph.keys import Key
from nodegraft.model.hooks import Capability

CANDIDATES, FOR_EACH = 4_000, 10
"""So many nodes without a label are looked at, and for each that is suggested at least so many."""


@dataclass(frozen=True)
class Suggestion:
    """A node whose label would tell much."""

    node: Key
    """Its key."""

    answer: str
    """What it is taken for now."""

    runner_up: str
    """What it may be instead."""

    unsure: float
    """How unsure the answer is: 1 less the lead of its probability before the second one's."""

    like_it: float
    """How many unsure nodes it stands for, of those looked at: the sum of how unsure each is."""


def suggestions(state: State, count: int) -> list[Suggestion]:
    """Nodes without a label, those that stand for most unsure ones first.

    A fair sample of nodes is put into as many groups as nodes are wanted, by k-means on the model's
    own vectors in which unsure nodes weigh more; of each group the one nearest to its middle is
    taken (after Zhdanov 2019, https://arxiv.org/abs/1901.05954, who leaves out sure ones first).

    Args:
        state: The version.
        count: How many.
    """
    validate_value("count", count, PositiveInt)
    if Capability.EMBED not in state.model.capabilities():
        raise NotSupportedError(state.model.name, Capability.EMBED)
    graph = state.graph
    labelled = graph.rows_of(list(state.labels.owners()))
    rows = graph.sampled(max(CANDIDATES, FOR_EACH * count), labelled)
    if not rows.size:
        return []
    scores = state.model.score_rows(graph, rows)
    shares = state.model.probabilities(graph, scores)
    best = np.argsort(-shares, axis=1, kind="stable")[:, :2]
    lead = np.take_along_axis(shares, best, axis=1)
    unsure = 1.0 - (lead[:, 0] - lead[:, -1])
    names = state.model.classes_
    found = [
        Suggestion(
            graph.keys_of(rows[[place]])[0],
            names[best[place, 0]],
            names[best[place, -1]],
            float(unsure[place]),
            size,
        )
        for place, size in _middles(vectors_of(state, rows), unsure, min(count, rows.size))
    ]
    return sorted(found, key=lambda one: (-one.like_it, -one.unsure))


def _middles(
    vectors: NDArray[np.float64], weights: NDArray[np.float64], count: int
) -> Iterator[tuple[int, float]]:
    """The place of the node nearest to the middle of each group, and what the group weighs."""
    # Slow to import, and only this needs it.
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    # Where nodes are the very same, there are fewer groups than nodes wanted.
    count = min(count, len(np.unique(vectors, axis=0)))
    groups = KMeans(count, n_init=1, random_state=0)
    with warnings.catch_warnings():
        # So there are where nodes are almost the same.
        warnings.simplefilter("ignore", ConvergenceWarning)
        # Where all are sure, all weigh alike.
        groups.fit(vectors, sample_weight=weights + 1e-9)
    distances = groups.transform(vectors)
    for group in range(count):
        members = np.flatnonzero(groups.labels_ == group)
        if members.size:
            yield int(members[distances[members, group].argmin()]), float(weights[members].sum())
