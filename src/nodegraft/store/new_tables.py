"""A store whose tables change: more rows, or the whole of them as they are today."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from nodegraft.analysis.version import Version
from nodegraft.base.errors import GateError, StoreError
from nodegraft.store.intent import Intent
from nodegraft.store.settings.known_settings import MAX_REMOVED_SHARE
from nodegraft.store.versions.recording import (
    WITH_OVERRIDE,
    Done,
    StoreRecorder,
    measured,
    refuse_objections,
    refuse_unchecked,
)

if TYPE_CHECKING:
    from nodegraft.analysis.snapshot import State
    from nodegraft.graph.keys import Key
    from nodegraft.store.growth import TableChanges
    from nodegraft.store.table_preview import TablePreview
    from nodegraft.tables.columns import Source
    from nodegraft.tables.node_texts import NodeTexts

_WITHOUT_PROMOTING = "To review the version before it is live, omit promote=True (--promote)."

_CHECK_TABLES = (
    "Check that the tables are complete. The limit is the setting max_removed_share of the store."
)


class StoreGrower(StoreRecorder):
    """What makes versions with another graph."""

    def preview_grow(
        self,
        nodes: "Source" = None,
        edges: "Source" = None,
        *,
        repair: bool = False,
        tables: Mapping[str, Any] | None = None,
    ) -> "TablePreview":
        """Return what :meth:`grow` would change in the candidate; nothing is written.

        Args:
            nodes: As in :meth:`grow`.
            edges: As in :meth:`grow`.
            repair: As in :meth:`grow`.
            tables: As in :meth:`grow`.
        """
        from nodegraft.analysis.preview import compare

        before = self._state(self._journal.version())
        larger = self._larger(before, nodes, edges, repair, tables)
        return replace(larger.preview, predictions=compare(before, before.on(larger.after.graph)))

    def grow(
        self,
        nodes: "Source" = None,
        edges: "Source" = None,
        *,
        repair: bool = False,
        tables: Mapping[str, Any] | None = None,
        intent: Intent = Intent(),
    ) -> Version:
        """Make a version with more nodes and edges; what is known of classes follows the graph.

        Args:
            nodes: The table of new nodes; None if there are none.
            edges: The table of new edges; None if there are none.
            repair: Leave out what does not fit instead of refusing it.
            tables: Names of columns (``key``, ``source`` …) where they are called differently than
                in the tables that the store was created from.
            intent: Author, note and whether to make the version live at once, which is refused if
                held-out accuracy drops.
        """
        intent.refuse("grow", "override")
        from nodegraft.analysis.preview import compare

        parent = self._journal.version()
        answering = self._answering(parent) if intent.promote else None
        before = self._state(parent)
        larger = self._larger(before, nodes, edges, repair, tables)
        name, graph = self._states.put_graph(larger.after.graph, before.graph)
        after = before.on(graph)
        seen = compare(before, after)
        if intent.promote:
            refuse_objections(seen, _WITHOUT_PROMOTING)
            refuse_unchecked(before.labels, seen)
        names = replace(parent.names, graph=name)
        if parent.texts is not None and larger.texts is not None:
            together = self._states.texts(parent.texts).followed_by(larger.texts)
            names = replace(names, texts=self._states.put_texts(together))
        self._states.hold(after, names)
        done = Done("grow", larger.preview.changes.to_json(), measured(seen))
        return self._added(parent, done, names, intent, answering)

    def preview_sync(
        self,
        nodes: "Source",
        edges: "Source" = None,
        *,
        repair: bool = False,
        tables: Mapping[str, Any] | None = None,
    ) -> "TablePreview":
        """Return what :meth:`sync` would change in the candidate; nothing is written.

        Args:
            nodes: As in :meth:`sync`.
            edges: As in :meth:`sync`.
            repair: As in :meth:`sync`.
            tables: As in :meth:`sync`.
        """
        from nodegraft.analysis.preview import compare

        parent = self._journal.version()
        with self._replaced(parent, nodes, edges, repair, tables) as read:
            if read.preview.untaught:
                return read.preview
            before, after = self._state(parent), read.labelled()
            return replace(read.preview, predictions=compare(before, after))

    def sync(
        self,
        nodes: "Source",
        edges: "Source" = None,
        *,
        repair: bool = False,
        tables: Mapping[str, Any] | None = None,
        intent: Intent = Intent(),
    ) -> Version:
        """Make a version with the nodes and edges of new whole tables, as they come every day.

        Nodes are compared by key: what is new is added, what is gone is removed, and its labels
        with it. It is refused where more than ``max_removed_share`` (a setting, 10 % by default) of
        all nodes, edges or labels would be removed, as by a table that is cut short.

        Args:
            nodes: The table of all nodes as they are now.
            edges: The table of all edges as they are now. None keeps the edges between nodes that
                stay, with their types, weights and directions; False removes all edges.
            repair: Leave out what does not fit instead of refusing it.
            tables: Names of columns (``key``, ``source`` …) where they are called differently than
                in the tables that the store was created from.
            intent: As in :meth:`change`; ``override`` is the reason to remove more than the
                setting allows.
        """
        from nodegraft.analysis.preview import compare

        parent, answering = self._begun(intent)
        before = self._state(parent)
        with self._replaced(parent, nodes, edges, repair, tables) as read:
            removals = read.preview.removals()
            if removals and not intent.override:
                raise GateError(removals, f"{_CHECK_TABLES} {WITH_OVERRIDE}")
            after = read.labelled()
            name, graph = self._states.put_graph(after.graph)
        after = replace(after, graph=graph)
        seen = compare(before, after)
        if intent.promote:
            refuse_objections(seen, _WITHOUT_PROMOTING)
            refuse_unchecked(before.labels, seen)
        measures = measured(seen) | ({"override": intent.override} if intent.override else {})
        names = self._states.put(after, name, read.texts)
        done = Done("sync", read.preview.changes.to_json(), measures)
        return self._added(parent, done, names, intent, answering)

    def _larger(
        self,
        before: "State",
        nodes: "Source",
        edges: "Source",
        repair: bool,
        named: Mapping[str, Any] | None,
    ) -> "TablesRead":
        from nodegraft.analysis.snapshot import State
        from nodegraft.store.growth import grown, growth_changes

        graph, texts = grown(before.graph, self._tables(named), nodes, edges, repair)
        preview = self._counted(before, growth_changes(before.graph, graph))
        return TablesRead(State(graph, before.labels, before.model), texts, preview, [])

    @contextmanager
    def _replaced(
        self,
        parent: Version,
        nodes: "Source",
        edges: "Source",
        repair: bool,
        named: Mapping[str, Any] | None,
    ) -> "Iterator[TablesRead]":
        """The graph of whole tables, on disk as long as the context is open."""
        from nodegraft.analysis.snapshot import State
        from nodegraft.graph.disk.mapped import MappedStore
        from nodegraft.store.growth import lost_labels, read_whole_tables, table_changes

        before = self._state(parent)
        if parent.texts is not None and isinstance(before.graph._store, MappedStore):
            raise StoreError(
                "This store has texts of nodes beside a graph on disk, and sync would lose them: "
                "use grow, or build a graph from the new tables and create a new store."
            )
        with self._states.graphs.work_folder() as folder:
            options = self._tables(named)
            tables = read_whole_tables(before.graph, options, nodes, edges, repair, folder)
            lost = lost_labels(before.labels, tables.graph)
            gone = [key for keys in lost.values() for key in keys]
            preview = replace(
                self._counted(before, table_changes(before.graph, tables.graph, len(gone))),
                lost={name: len(keys) for name, keys in lost.items()},
                untaught=tuple(
                    name for name in lost if not before.labels[name].without(frozenset(gone)).taught
                ),
                keeps_edges=edges is not False,
            )
            after = State(tables.graph, before.labels, before.model)
            yield TablesRead(after, tables.texts, preview, gone)

    def _counted(self, before: "State", changes: "TableChanges") -> "TablePreview":
        from nodegraft.store.growth import num_edges
        from nodegraft.store.table_preview import TablePreview, TableSizes

        graph = before.graph
        sizes = TableSizes(graph.num_nodes, num_edges(graph), len(before.labels.owners()))
        limit = self.setting(MAX_REMOVED_SHARE.name)
        return TablePreview(sizes, changes, {}, (), limit)

    def _tables(self, named: Mapping[str, Any] | None) -> dict[str, Any]:
        return {**self.table_options, **(named or {})}


@dataclass(frozen=True)
class TablesRead:
    """What became of new tables."""

    after: "State"
    """The graph of the tables with the labels and the model of the version before."""

    texts: "NodeTexts | None"
    """Texts of the nodes that were read."""

    preview: "TablePreview"
    """What changes, without predictions."""

    gone: "list[Key]"
    """Labelled nodes that the graph does not have."""

    def labelled(self) -> "State":
        """Return the state without the labels of nodes that are gone."""
        if not self.gone:
            return self.after
        return self.after.relabelled(self.after.labels.unlabelled(self.gone))
