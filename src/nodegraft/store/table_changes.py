"""Comparison of new tables with the graph and the labels of a version."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from nodegraft.analysis.labels.labels import StoreLabels
from nodegraft.analysis.results.comparisons import RowsComparison
from nodegraft.analysis.version import Version
from nodegraft.base.counting import counted
from nodegraft.base.errors import MissingColumnError, StoreError, TablesError
from nodegraft.base.events import Listener
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import Key
from nodegraft.graph.node_types import KEY, qualified, type_numbers, type_of
from nodegraft.store.parts import NewTables
from nodegraft.tables.disk.build import build_graph
from nodegraft.tables.disk.save import save_mapped
from nodegraft.tables.read import Tables, grow_tables, read_tables
from nodegraft.tables.typed_sources import is_typed

if TYPE_CHECKING:
    from nodegraft.analysis.preview import Preview
    from nodegraft.tables.features.recipe import FeatureRecipe

BLOCK = 1 << 16
"""Number of nodes that are processed in one block."""

ROUNDING = 1e-9
"""Tolerance for rounding errors in a limit: in floating point, 0.29 * 100 is less than 29."""

GROWING = ("key", "source", "target", "edge_type", "edge_weight", "delimiter")
"""Table options that are used when a graph grows; the graph determines all other options."""


@dataclass(frozen=True)
class TableChanges:
    """Numbers of nodes, edges and labels that new tables add, remove or change."""

    added: int
    """Number of added nodes."""

    removed: int
    """Number of removed nodes, which the new tables do not contain."""

    changed: int
    """Number of nodes whose features are changed."""

    edges_added: int
    """Number of added edges."""

    edges_removed: int
    """Number of removed edges."""

    labels_lost: int
    """Number of labels that are removed together with their nodes."""

    def to_json(self) -> dict[str, int]:
        """Return the numbers as plain JSON."""
        return asdict(self)


@dataclass(frozen=True)
class TableSizes:
    """Numbers of nodes, edges and labels of a version."""

    nodes: int
    """Number of nodes in the graph."""

    edges: int
    """Number of edges in the graph."""

    labels: int
    """Number of labelled nodes, including held-out ones."""


@dataclass(frozen=True)
class TablePreview:
    """Preview of `grow` or `sync`: the changes that the tables would make."""

    sizes: TableSizes
    """Sizes of the version before the change."""

    changes: TableChanges
    """Nodes, edges and labels that would be added, removed or changed."""

    lost: dict[str, int]
    """Class -> number of its labels that would be removed with their nodes."""

    without_labels: tuple[str, ...]
    """Classes that would lose all training labels."""

    max_removed_share: float
    """Maximum share of nodes, edges or labels that may be removed without an override."""

    keeps_edges: bool = True
    """False if the user asked to remove all edges; the quality gate then ignores removed edges."""

    predictions: "Preview | None" = None
    """Comparison of predictions before and after; None if the tables cannot make a version."""

    def removals(self) -> list[str]:
        """Return a sentence for each limit that the removed nodes, edges or labels exceed."""
        removed = {
            "node": (self.changes.removed, self.sizes.nodes),
            "edge": (self.changes.edges_removed if self.keeps_edges else 0, self.sizes.edges),
            "label": (self.changes.labels_lost, self.sizes.labels),
        }
        return [
            f"{lost:,} of {counted(total, noun)} ({100 * lost / total:.1f} %) would be removed; "
            f"the limit is {100 * self.max_removed_share:g} %."
            for noun, (lost, total) in removed.items()
            if lost > self.max_removed_share * total + ROUNDING
        ]

    def missing_label_sentences(self) -> list[str]:
        """Return a sentence for each class that would lose all training labels."""
        return [
            f"Class {name!r} would have no training label left: remove the class first."
            for name in self.without_labels
        ]

    def objections(self) -> list[str]:
        """Return the reasons of the quality gate to refuse the change, as sentences."""
        measured = self.predictions.objections() if self.predictions else []
        return [*self.removals(), *self.missing_label_sentences(), *measured]

    def warnings(self) -> list[str]:
        """Return warnings to review before promoting the version, as sentences."""
        return self.predictions.warnings() if self.predictions else []

    def result(self, version: Version) -> RowsComparison:
        """Return the preview in the form that the command line and HTTP responses show.

        Args:
            version: The version that the tables would change.
        """
        return RowsComparison.of(
            version,
            self.predictions,
            nodes_added=self.changes.added,
            nodes_removed=self.changes.removed,
            edges_added=self.changes.edges_added,
            edges_removed=self.changes.edges_removed,
            labels_removed=self.changes.labels_lost,
            labels_lost=self.lost,
            objections=self.objections(),
            warnings=self.warnings(),
        )


def read_more_rows(
    graph: Graph, new: NewTables, options: Mapping[str, Any], listener: Listener
) -> Tables:
    """Add the rows of tables to a graph; return the new graph and the texts of its new nodes.

    Args:
        options: Options for reading tables; those that the graph determines are ignored.
    """
    if new.nodes is None and new.edges is None:
        raise StoreError("No table was given: give nodes=… (--nodes), edges=… (--edges), or both.")
    named = {name: value for name, value in options.items() if name in GROWING}
    named |= {"repair": new.repair, "listener": listener}
    with _advice_for_stores():
        return grow_tables(graph, new.nodes, new.edges, **named)


@contextmanager
def _advice_for_stores() -> Iterator[None]:
    """Add advice for stores to errors about missing columns."""
    try:
        yield
    except MissingColumnError as error:
        raise TablesError(
            f"{error.what_happened} The store was made from such a column: rename it in the table, "
            "or say what it is called in a nodegraft.toml beside the table (in Python: "
            "tables={'key': 'id'}).",
            error.what_happened,
        ) from error


def growth_changes(before: Graph, after: Graph) -> TableChanges:
    """Count the nodes and edges that were added to a graph whose old rows are unchanged."""
    more = after.num_nodes - before.num_nodes
    edges = after.num_edges_of_all_types - before.num_edges_of_all_types
    return TableChanges(more, 0, 0, edges, 0, 0)


def read_whole_tables(
    graph: Graph, new: NewTables, options: Mapping[str, Any], folder: Path
) -> Tables:
    """Read complete tables into a graph whose features follow the current graph's recipe.

    Args:
        new: The tables. Without a table of edges, the edges between nodes that stay are kept, with
            their types, weights and directions; False means no edges.
        options: Options for reading tables.
        folder: New folder in which the new graph is built if the current one is on disk.
    """
    arguments: dict[str, Any] = {"recipe": graph.recipe, "repair": new.repair, **options}
    # Use the key type of the graph: a store that was created from a graph records no key type.
    arguments["key_type"] = graph.node_keys.key_type
    nodes, edges = new.nodes, new.edges
    table = None if edges is False else edges
    if table is None and not isinstance(arguments.get("directed", False), bool):
        # Drop the names of directed edge types: without a table of edges, they would be refused as
        # unknown.
        del arguments["directed"]
    if edges is None and is_typed(nodes):
        nodes = {**nodes, **_nodes_without_table(graph, nodes, arguments.get("key", KEY))}
    if graph.is_on_disk:
        with _advice_for_stores():
            tables = build_graph(nodes, table, folder / "built", **arguments)
        if edges is None:
            saved = save_mapped(tables.graph, folder / "with_edges", edges_of=graph)
            tables = replace(tables, graph=saved)
        return tables
    with _advice_for_stores():
        tables = read_tables(nodes, table, **arguments)
    if edges is None:
        tables = replace(tables, graph=tables.graph.with_edges_of(graph))
    return tables


def _nodes_without_table(
    graph: Graph, given: Collection[str], key: str | Mapping[str, str]
) -> dict[str, Any]:
    """Return tables of the node types that only edges name; they stay if the edges stay.

    A type with features needs its table: without it, its nodes and their edges would be removed.

    Args:
        given: Node types that have a table.
        key: Key column of each type, or of all.
    """
    if not graph.node_types:
        return {}
    types, keys, tables = graph.node_types, graph.node_keys.values(), dict[str, Any]()
    numbers = type_numbers(keys, types)
    featured = {type_of(column, types) for column in cast("FeatureRecipe", graph.recipe).columns}
    for number, name in enumerate(types):
        is_own = numbers == number
        if number and name not in given and is_own.any():
            if name in featured:
                raise StoreError(
                    f"Nodes of type {name} have features, but no table of them is given: give it, "
                    f"too (--nodes {name}=TABLE). Without it they would be removed, with all their "
                    "edges."
                )
            prefix = qualified("", name, types)
            own = [text.removeprefix(prefix) for text in keys[is_own]]
            tables[name] = {key if isinstance(key, str) else key.get(name, KEY): own}
    return tables


def lost_labels(labels: StoreLabels, graph: Graph) -> dict[str, list[Key]]:
    """Return the labelled nodes that are missing in a graph: class name -> node keys.

    Held-out nodes are included.
    """
    owners = labels.owners()
    keys = list(owners)
    lost: dict[str, list[Key]] = {}
    for place in np.flatnonzero(graph.node_keys.find(keys) < 0):
        lost.setdefault(owners[keys[place]], []).append(keys[place])
    return lost


def table_changes(before: Graph, after: Graph, labels_lost: int) -> TableChanges:
    """Count the differences between two graphs; nodes are matched by key.

    Nodes are compared in blocks, because the graphs may not fit in memory.

    Args:
        after: The graph after the change, with features of the same recipe.
        labels_lost: Number of labelled nodes that are missing in `after`.
    """
    blocks = [before.rows[start : start + BLOCK] for start in range(0, before.num_nodes, BLOCK)]
    places = [after.node_keys.find(before.key_array_of(rows)) for rows in blocks]
    there = np.concatenate([np.zeros(0, dtype=np.int64), *places])
    changed = shared = 0
    for rows in blocks:
        common = rows[there[rows] >= 0]
        old, new = before.features(common), after.features(there[common])
        changed += int((np.asarray(abs(old - new).sum(axis=1)) > 0).sum())
        shared += _shared_entries(before, after, common, there)
    stayed = int((there >= 0).sum())
    return TableChanges(
        after.num_nodes - stayed,
        before.num_nodes - stayed,
        changed,
        after.num_edges_of_all_types - shared // 2,
        before.num_edges_of_all_types - shared // 2,
        labels_lost,
    )


def _shared_entries(before: Graph, after: Graph, rows: IntArray, there: IntArray) -> int:
    """Count the edges of given nodes that are in both graphs, once for each end of an edge.

    Args:
        rows: Rows of the nodes in `before`.
        there: Row in `after` of each node of `before`; negative if the node is missing.
    """
    shared, most = 0, after.num_nodes + 1
    for kind in set(before.relations) & set(after.relations):
        counts, neighbours = before.neighbours(rows, kind)
        still = there[neighbours] >= 0
        old = (np.repeat(there[rows], counts) * most + there[neighbours])[still]
        counts, neighbours = after.neighbours(there[rows], kind)
        new = np.repeat(there[rows], counts) * most + neighbours
        shared += np.intersect1d(old, new).size
    return shared
