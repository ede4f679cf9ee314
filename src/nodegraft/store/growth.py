"""What becomes of a version when its tables have changed."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.errors import StoreError
from nodegraft.graph.algebra.matrix import IntArray
from nodegraft.graph.graph import Graph
from nodegraft.store.state import State
from nodegraft.tables.columns import Source
from nodegraft.tables.node_texts import NodeTexts
from nodegraft.tables.read import grow_tables, read_tables

GROWING = ("key", "source", "target", "edge_type", "edge_weight")
"""The options of tables that matter for new rows; the others are the graph's own."""


@dataclass(frozen=True)
class TableChanges:
    """How two tables of the same nodes differ, by key."""

    added: int
    """Nodes that are new."""

    removed: int
    """Nodes that are gone."""

    changed: int
    """Nodes that are in both and have other features."""

    edges_added: int
    """Edges that are new."""

    edges_removed: int
    """Edges that are gone."""

    labels_lost: int
    """Labelled nodes that are gone, and their labels with them."""

    def to_json(self) -> dict[str, int]:
        """As plain JSON."""
        return asdict(self)


def grown(
    state: State, options: Mapping[str, Any], nodes: Source, edges: Source, repair: bool
) -> tuple[State, NodeTexts | None]:
    """With more nodes and edges, and the texts of the new nodes; labels and model stay.

    Args:
        state: Before.
        options: How tables are read.
        nodes: The table of new nodes; None if there are none.
        edges: The table of new edges; None if there are none.
        repair: As in :func:`nodegraft.read_tables`.
    """
    if nodes is None and edges is None:
        raise StoreError("Nothing to grow by: give a table of new nodes, of new edges, or both.")
    named = {name: value for name, value in options.items() if name in GROWING}
    tables = grow_tables(state.graph, nodes, edges, repair=repair, **named)
    return State(tables.graph, state.labels, state.model), tables.texts


def synced(
    state: State, options: Mapping[str, Any], nodes: Source, edges: Source, repair: bool
) -> tuple[State, NodeTexts | None, TableChanges]:
    """With the nodes, their texts and the edges of new whole tables instead of those it had.

    Args:
        state: Before.
        options: How tables are read.
        nodes: The table of all nodes as they are now.
        edges: The table of all edges as they are now.
        repair: As in :func:`nodegraft.read_tables`.
    """
    tables = read_tables(nodes, edges, recipe=state.graph.recipe, repair=repair, **options)  # type: ignore[arg-type]
    graph = tables.graph
    owners = list(state.labels.owners())
    lost = [owners[place] for place in np.flatnonzero(graph.node_keys.find(owners) < 0)]
    after = State(graph, state.labels, state.model)
    if lost:
        after = after.relabelled(state.labels.unlabelled(lost))
    return after, tables.texts, table_changes(state.graph, graph, len(lost))


def table_changes(before: Graph, after: Graph, labels_lost: int) -> TableChanges:
    """How two graphs differ, by the keys of their nodes.

    Args:
        before: One graph.
        after: Another one with features of the same recipe.
        labels_lost: Labelled nodes that are gone.
    """
    there = after.node_keys.find(before.node_keys.values())
    kept = np.flatnonzero(there >= 0)
    old, new = before.features(kept), after.features(there[kept])
    changed = int((np.asarray(abs(old - new).sum(axis=1)) > 0).sum())
    # Old rows by where they are now; those that are gone get numbers of their own.
    place = np.where(there >= 0, there, after.num_nodes + np.arange(before.num_nodes))
    gone, come = _edges_not_in(before, after, place)
    return TableChanges(
        after.num_nodes - kept.size, before.num_nodes - kept.size, changed, come, gone, labels_lost
    )


def _edges_not_in(before: Graph, after: Graph, place: IntArray) -> tuple[int, int]:
    gone = come = 0
    most = int(place.max(initial=0)) + after.num_nodes + 1
    for kind in {*before.relations, *after.relations}:
        old = _pairs(before, kind, place, most)
        new = _pairs(after, kind, np.arange(after.num_nodes), most)
        gone += np.setdiff1d(old, new).size
        come += np.setdiff1d(new, old).size
    return gone, come


def _pairs(graph: Graph, kind: str, place: IntArray, most: int) -> NDArray[np.int64]:
    if kind not in graph.relations:
        return np.zeros(0, dtype=np.int64)
    one, other, _ = graph.edges_of(kind)
    ends = np.sort(np.stack((place[one], place[other])), axis=0).astype(np.int64)
    pairs: NDArray[np.int64] = ends[0] * most + ends[1]
    return pairs
