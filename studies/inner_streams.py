"""Streams to choose by: known and validation classes of a test stream, dealt anew.

Novel classes and test nodes of the test stream are not in the graph, so what is chosen here has not
looked at what it will be measured on.
"""

from dataclasses import replace

import numpy as np

import nodegraft as ng
from nodegraft.datasets.templates.dataset import LoadedDataset
from nodegraft.graph.labels import NodeLabels
from nodegraft.streams.arrival import Arrival

SESSIONS = 4
"""So many sessions, or more, bring new classes."""

OTHER = 1000
"""Added to the seed: with the same one, near-duplicates that teach would all teach again."""


def inner_stream(data: LoadedDataset, seed: int, arrival: Arrival) -> ng.ClassStream:
    """As large a share of the classes is new as in the test stream.

    Args:
        data: The graph and its labels.
        seed: Of the test stream.
        arrival: Which nodes exist in a session.
    """
    outer = data.stream(seed=seed)
    roles = outer.split
    left = roles.train | roles.held_out | roles.members.select(roles.validation)
    gone = np.setdiff1d(roles.members.rows(), left.rows())
    gone = data.graph.rows_of(outer.user_keys(gone))
    graph = data.graph.without(gone)
    labels = {name: graph.rows_of(outer.user_keys(rows)) for name, rows in left.items()}
    novel = round(len(left) * len(roles.novel) / (len(roles.known) + len(roles.novel)))
    known = len(left) - novel
    pseudo_novel = round(known * len(roles.pseudo_novel) / len(roles.known))
    setting = ng.Setting(
        base=known - pseudo_novel,
        pseudo_novel=pseudo_novel,
        validation=0,
        novel=novel,
        ways=min(roles.setting.ways, max(2, novel // SESSIONS)),
        shots=roles.setting.shots,
    )
    return replace(
        data,
        graph=graph,
        labels=NodeLabels(labels),
        setting=setting,
        groups=None if data.groups is None else np.delete(data.groups, gone),
    ).stream(seed=seed + OTHER, arrival=arrival)
