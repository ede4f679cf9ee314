"""Graphs, models and rows without some nodes, for a purge."""

import re
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from nodegraft.analysis.labels.labels import StoreLabels
from nodegraft.analysis.snapshot import State
from nodegraft.analysis.version import Promotion, Version
from nodegraft.base.events import Listener
from nodegraft.graph.disk.mapped import MappedStore
from nodegraft.graph.edges.matrix import IntArray, is_sparse
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import Key
from nodegraft.model.hooks import Capability
from nodegraft.model.method import Method
from nodegraft.model.registry import make_method
from nodegraft.store.table_changes import BLOCK
from nodegraft.tables.disk.save import save_mapped
from nodegraft.tables.features.recipe import FeatureRecipe

STRUCK = "[purged]"
"""Text that replaces the key of a node in a note."""

Row = TypeVar("Row", Version, Promotion)


def state_without(state: State, keys: Collection[Key], folder: Path, listener: Listener) -> State:
    """Refit a version without some nodes.

    Args:
        keys: Keys of the nodes; unknown ones are ignored.
    """
    rows = state.graph.node_keys.find(list(keys))
    graph = graph_without(state.graph, rows[rows >= 0], folder)
    labelled = [key for key in keys if key in state.labels.owners()]
    labels = state.labels.unlabelled(labelled) if labelled else state.labels
    return State(graph, labels, _refitted(state.model, graph, labels, listener))


def graph_without(graph: Graph, rows: IntArray, folder: Path) -> Graph:
    """Return a graph without some nodes, and without features that no other node has.

    Args:
        folder: New folder in which a graph on disk is written, in blocks.
    """
    left, recipe = np.setdiff1d(graph.rows, rows), None
    kept = np.ones(graph.num_features, dtype=bool)
    if isinstance(graph.recipe, FeatureRecipe):
        recipe, kept = graph.recipe.without_unused(_unused(graph, left))
    if isinstance(graph._store, MappedStore):
        return save_mapped(graph, folder, rows=left, columns=kept, recipe=recipe)
    smaller = graph.without(rows)
    if kept.all():
        return smaller
    return smaller.with_features(smaller.features(smaller.rows)[:, kept], recipe)


def _unused(graph: Graph, rows: IntArray) -> NDArray[np.bool_]:
    """Return the columns of features that are 0 in all of some nodes."""
    used = np.zeros(graph.num_features, dtype=bool)
    for start in range(0, rows.size, BLOCK):
        some: Any = graph.features(rows[start : start + BLOCK])
        used[some.indices[some.data != 0] if is_sparse(some) else some.nonzero()[1]] = True
    return ~used


def _refitted(model: Method, graph: Graph, labels: StoreLabels, listener: Listener) -> Method:
    fresh = make_method(model.name, **model.get_params())
    taught = labels.taught_rows(graph)
    if Capability.SET_LABELS not in model.capabilities():
        return fresh.fit(graph, taught, listener=listener)
    # As in the history: the model is fitted on the first classes, and the others are added.
    first = min(labels.sessions.values())
    base = [name for name, session in labels.sessions.items() if session == first]
    fresh.fit(graph, taught.select(base), listener=listener)
    fresh.set_labels(graph, taught, labels.sessions, listener=listener)
    return fresh


def version_without(version: Version, keys: Collection[Key]) -> Version:
    """Return the row of a version without some nodes."""
    measures = version.measures
    if "override" in measures:
        measures = measures | {"override": text_without(measures["override"], keys)}
    detail = {
        name: _without(value, keys) if name in ("classes", "more", "parts", "keys") else value
        for name, value in version.detail.items()
    }
    return replace(note_without(version, keys), detail=detail, measures=measures)


def note_without(row: Row, keys: Collection[Key]) -> Row:
    """Return a row whose note does not name some nodes."""
    return replace(row, note=text_without(row.note, keys))


def _without(value: Any, keys: Collection[Key]) -> Any:
    if isinstance(value, dict):
        return {name: _without(part, keys) for name, part in value.items()}
    return [key for key in value if key not in keys]


def text_without(text: str, keys: Collection[Key]) -> str:
    """Return a text in which `[purged]` stands where the key of a node was."""
    for key in keys:
        text = re.sub(rf"(?<!\w){re.escape(str(key))}(?!\w)", STRUCK, text)
    return text
