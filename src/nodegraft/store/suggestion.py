"""Which nodes to label next: the unsure ones, each standing for others like it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.errors import NotSupportedError
from nodegraft.base.parameters.constraints import PositiveInt
from nodegraft.base.parameters.validate import validate_value
from nodegraft.graph.algebra.matrix import IntArray
from nodegraft.graph.keys import Key
from nodegraft.model.capability import Capability
from nodegraft.store.preview import SAMPLE
from nodegraft.store.state import State

CANDIDATES = 10
"""So many unsure nodes are looked at for each that is suggested."""


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

    like_it: int
    """How many of the unsure nodes it stands for."""


def suggestions(state: State, count: int) -> list[Suggestion]:
    """Nodes without a label, those that stand for most unsure ones first.

    The least sure nodes are put into as many groups as nodes are wanted, by k-means on the model's
    own vectors in which unsure nodes weigh more; of each group the one nearest to its middle is
    taken (Zhdanov 2019, https://arxiv.org/abs/1901.05954).

    Args:
        state: The version.
        count: How many.
    """
    validate_value("count", count, PositiveInt)
    if Capability.EMBED not in state.model.capabilities():
        raise NotSupportedError(state.model.name, Capability.EMBED)
    graph = state.graph
    labelled = graph.rows_of(list(state.labels.owners()))
    rows = graph.sampled(SAMPLE, labelled)
    scores = state.model.score_rows(graph, rows)
    shares = state.model.probabilities(scores)
    best = np.argsort(-shares, axis=1, kind="stable")[:, :2]
    lead = np.take_along_axis(shares, best, axis=1)
    unsure = 1.0 - (lead[:, 0] - lead[:, -1])
    chosen = np.argsort(-unsure, kind="stable")[: CANDIDATES * count]
    picked, sizes = _middles(state, rows[chosen], unsure[chosen], min(count, chosen.size))
    names = state.model.classes_
    found = [
        Suggestion(
            graph.keys_of(rows[[chosen[place]]])[0],
            names[best[chosen[place], 0]],
            names[best[chosen[place], -1]],
            float(unsure[chosen[place]]),
            int(size),
        )
        for place, size in zip(picked, sizes, strict=True)
    ]
    return sorted(found, key=lambda one: (-one.like_it, -one.unsure))


def _middles(
    state: State, rows: IntArray, weights: NDArray[np.float64], count: int
) -> tuple[list[int], list[int]]:
    """The node nearest to the middle of each group, and how many the group has."""
    # Slow to import, and only this needs it.
    from sklearn.cluster import KMeans

    if not rows.size:
        return [], []
    vectors = state.model.embed(state.graph, state.graph.keys_of(rows))
    groups = KMeans(count, n_init=1, random_state=0).fit(vectors, sample_weight=weights)
    distances = groups.transform(vectors)
    picked, sizes = [], []
    for group in range(count):
        members = np.flatnonzero(groups.labels_ == group)
        if members.size:
            picked.append(int(members[distances[members, group].argmin()]))
            sizes.append(members.size)
    return picked, sizes
