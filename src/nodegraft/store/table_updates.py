"""Versions with a changed graph: `grow` adds rows, `sync` replaces the tables."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from nodegraft.analysis.preview import compare
from nodegraft.analysis.snapshot import State
from nodegraft.analysis.version import Promotion, Version
from nodegraft.base.errors import GateError, StoreError
from nodegraft.graph.keys import Key
from nodegraft.store.intent import Intent
from nodegraft.store.objects.derived_cache import stored_name
from nodegraft.store.parts import NewTables, StoreParts
from nodegraft.store.settings import MAX_REMOVED_SHARE
from nodegraft.store.table_changes import (
    TableChanges,
    TablePreview,
    TableSizes,
    growth_changes,
    lost_labels,
    read_more_rows,
    read_whole_tables,
    table_changes,
)
from nodegraft.store.versions.versions import (
    WITH_OVERRIDE,
    WITHOUT_PROMOTION,
    Draft,
    diff_measures,
    refuse_drop,
    refuse_unmeasured,
)
from nodegraft.tables.node_texts import NodeTexts

_CHECK_TABLES = (
    "Check that the tables are complete. The limit is the setting max_removed_share of the store."
)


@dataclass(frozen=True)
class TablesRead:
    """Graph that was read from new tables and is not stored yet, with a preview of the changes."""

    after: State
    """State with the new graph, and with the labels and the model of the current version."""

    texts: NodeTexts | None
    """Texts of the nodes in the tables."""

    preview: TablePreview
    """Preview of the changes, without predictions."""

    lost: list[Key]
    """Keys of labelled nodes that are missing in the new graph."""

    def labelled(self) -> State:
        """Return the state with the new graph, without the labels of removed nodes."""
        if not self.lost:
            return self.after
        return self.after.relabelled(self.after.labels.unlabelled(self.lost))


class TableUpdates:
    """Changes of a store's graph; :class:`nodegraft.Store` describes the methods.

    Args:
        parts: Versions, files and settings of the store.
    """

    def __init__(self, parts: StoreParts) -> None:
        self._parts, self._states = parts, parts.states

    def preview_grow(self, tables: NewTables) -> TablePreview:
        """Return the changes that :meth:`grow` would make."""
        before = self._parts.state(self._parts.journal.version())
        larger = self._larger(before, tables)
        return replace(larger.preview, predictions=compare(before, before.on(larger.after.graph)))

    def grow(self, tables: NewTables, intent: Intent) -> Version:
        """Make a version with more nodes and edges."""
        intent.refuse("grow", "override")
        parent, last = self._parts.versions.begin(intent)
        before = self._parts.state(parent)
        larger = self._larger(before, tables)
        after = before.on(self._states.put_graph(larger.after.graph, before.graph))
        measures = _measured(before, after, last)
        names = replace(parent.names, graph=stored_name(after.graph))
        if parent.texts is not None and larger.texts is not None:
            all_texts = self._states.texts(parent.texts).followed_by(larger.texts)
            names = replace(names, texts=self._states.put_texts(all_texts))
        self._states.hold(after, names)
        draft = Draft("grow", larger.preview.changes.to_json(), measures)
        return self._parts.versions.add(parent, draft, names, intent, last)

    def preview_sync(self, tables: NewTables) -> TablePreview:
        """Return the changes that :meth:`sync` would make."""
        parent = self._parts.journal.version()
        with self._replaced(parent, tables) as new:
            if new.preview.without_labels:
                return new.preview
            diff = compare(self._parts.state(parent), new.labelled())
            return replace(new.preview, predictions=diff)

    def sync(self, tables: NewTables, intent: Intent) -> Version:
        """Make a version whose nodes and edges are replaced by those of complete tables."""
        parent, last = self._parts.versions.begin(intent)
        with self._replaced(parent, tables) as new:
            removals = new.preview.removals()
            if removals and not intent.override:
                raise GateError(removals, f"{_CHECK_TABLES} {WITH_OVERRIDE}")
            after = new.labelled()
            after = replace(after, graph=self._states.put_graph(after.graph))
        override = {"override": intent.override} if intent.override else {}
        measures = _measured(self._parts.state(parent), after, last) | override
        names = self._states.put(after, self._states.put_texts(new.texts))
        draft = Draft("sync", new.preview.changes.to_json(), measures)
        return self._parts.versions.add(parent, draft, names, intent, last)

    def _larger(self, before: State, tables: NewTables) -> TablesRead:
        larger = read_more_rows(before.graph, tables, self._options(tables), self._parts.listener)
        preview = self._counted(before, growth_changes(before.graph, larger.graph))
        after = State(larger.graph, before.labels, before.model)
        return TablesRead(after, larger.texts, preview, [])

    @contextmanager
    def _replaced(self, parent: Version, tables: NewTables) -> Iterator[TablesRead]:
        """Yield a graph of complete tables; delete a graph on disk at the end of the context."""
        before = self._parts.state(parent)
        if parent.texts is not None and before.graph.is_on_disk:
            raise StoreError(
                "This store has texts of nodes beside a graph on disk, and sync would lose them: "
                "use grow, or build a graph from the new tables and create a new store."
            )
        with self._states.graphs.work_folder() as folder:
            new = read_whole_tables(before.graph, tables, self._options(tables), folder)
            lost = lost_labels(before.labels, new.graph)
            keys = [key for keys in lost.values() for key in keys]
            preview = replace(
                self._counted(before, table_changes(before.graph, new.graph, len(keys))),
                lost={name: len(keys) for name, keys in lost.items()},
                without_labels=tuple(
                    name
                    for name in lost
                    if not before.labels[name].without(frozenset(keys)).training
                ),
                keeps_edges=tables.edges is not False,
            )
            after = State(new.graph, before.labels, before.model)
            yield TablesRead(after, new.texts, preview, keys)

    def _counted(self, before: State, changes: TableChanges) -> TablePreview:
        graph = before.graph
        edges, labels = graph.num_edges_of_all_types, len(before.labels.owners())
        sizes = TableSizes(graph.num_nodes, edges, labels)
        limit = self._parts.settings.value(MAX_REMOVED_SHARE.name)
        return TablePreview(sizes, changes, {}, (), limit)

    def _options(self, tables: NewTables) -> dict[str, Any]:
        return {**self._parts.table_options, **(tables.columns or {})}


def _measured(before: State, after: State, last: Promotion | None) -> dict[str, Any]:
    """Return the measurements of a new version; refuse a promotion if held-out accuracy drops.

    Args:
        last: The last promotion; None if the new version does not go live at once. Accuracy is
            only checked with a promotion.
    """
    diff = compare(before, after)
    if last:
        refuse_drop(diff, WITHOUT_PROMOTION)
        refuse_unmeasured(before.labels, diff)
    return diff_measures(diff)
