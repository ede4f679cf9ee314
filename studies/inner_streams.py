"""Streams for choosing parameters: known and validation classes of a test stream, split again.

Novel classes and test nodes of that test stream are not in the graph, nor their near-duplicates.
This holds for each seed alone: a class that is known with one seed is novel with another, so a
choice on several seeds has used most classes in some role.
"""

from dataclasses import replace

import numpy as np

import nodegraft as ng
from nodegraft.graph.labels import NodeLabels
from nodegraft.lab.datasets.templates.dataset import LoadedDataset
from nodegraft.streams.arrival import Arrival

SESSIONS = 4
"""So many sessions bring new classes, or more, where two classes a session allow it."""

OTHER = 1000
"""Added to the seed: with the same one, near-duplicates that teach would all teach again."""


def inner_stream(data: LoadedDataset, seed: int, arrival: Arrival) -> ng.ClassStream:
    """Return a stream with the same share of new classes as the test stream.

    Args:
        data: The graph and its labels.
        seed: Of the test stream.
        arrival: Which nodes exist in a session.
    """
    return inner_data(data, seed).stream(seed=seed + OTHER, arrival=arrival)


def inner_data(data: LoadedDataset, seed: int) -> LoadedDataset:
    """Return the part of a graph, its labels and the setting from which an inner stream is drawn.

    Args:
        data: The graph and its labels.
        seed: Of the test stream.
    """
    outer = data.stream(seed=seed)
    roles = outer.split
    seen = roles.train | roles.held_out | roles.members.select(roles.validation)
    gone = np.setdiff1d(roles.members.rows(), seen.rows())
    gone = data.graph.rows_of(outer.user_keys(gone))
    if data.groups is not None:
        gone = np.flatnonzero(np.isin(data.groups, data.groups[gone]))
    left = np.setdiff1d(data.graph.rows, gone)
    labels = {
        name: np.flatnonzero(np.isin(left, data.graph.rows_of(outer.user_keys(rows))))
        for name, rows in seen.items()
    }
    novel = round(len(seen) * len(roles.novel) / (len(roles.known) + len(roles.novel)))
    known = len(seen) - novel
    pseudo_novel = round(known * len(roles.pseudo_novel) / len(roles.known))
    setting = replace(
        roles.setting,
        base=known - pseudo_novel,
        pseudo_novel=pseudo_novel,
        validation=0,
        novel=novel,
        ways=min(roles.setting.ways, max(2, novel // SESSIONS)),
    )
    return replace(
        data,
        graph=data.graph.without(gone),
        labels=NodeLabels(labels),
        setting=setting,
        groups=None if data.groups is None else data.groups[left],
    )
