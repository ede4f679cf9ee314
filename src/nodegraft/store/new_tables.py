"""A store whose tables change: more rows, or the whole of them as they are today."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nodegraft.base.errors import StoreError
from nodegraft.store.recording import Done, StoreRecorder, measured, refuse_objections
from nodegraft.store.request import Request
from nodegraft.store.rows import Version

if TYPE_CHECKING:
    from nodegraft.tables.columns import Source

_WITHOUT_PROMOTING = (
    "To make the version all the same, and look at it before it answers, leave promote out."
)


class StoreGrower(StoreRecorder):
    """What makes versions with another graph."""

    def grow(
        self,
        nodes: "Source" = None,
        edges: "Source" = None,
        *,
        repair: bool = False,
        tables: Mapping[str, Any] | None = None,
        by: str | None = None,
        note: str = "",
        promote: bool = False,
        request: Request | None = None,
    ) -> Version:
        """Make a version with more nodes and edges; what is known of classes follows the graph.

        Args:
            nodes: The table of new nodes; None if there are none.
            edges: The table of new edges; None if there are none.
            repair: Leave out what does not fit instead of refusing it.
            tables: Names of columns (``key``, ``source`` …) where they are called differently than
                in the tables that the store was created from.
            by: Who does it; None for the user that is logged in.
            note: Why.
            promote: Let it answer at once, unless held-out nodes speak against it; not on top of a
                version that nobody has promoted.
            request: As in :meth:`change`.
        """
        from nodegraft.store.growth import grown, growth_changes
        from nodegraft.store.preview import compare

        parent = self._journal.version()
        answering = self._answering(parent) if promote else None
        before = self._state(parent)
        graph, texts = grown(before.graph, self._tables(tables), nodes, edges, repair)
        more = growth_changes(before.graph, graph)
        name, graph = self._states.put_graph(graph, before.graph)
        after = before.on(graph)
        seen = compare(before, after)
        if promote:
            refuse_objections(seen, _WITHOUT_PROMOTING)
        names = replace(parent.names, graph=name)
        if parent.texts is not None and texts is not None:
            together = self._states.texts(parent.texts).followed_by(texts)
            names = replace(names, texts=self._states.put_texts(together))
        self._states.hold(after, names)
        done = Done("grow", more.to_json(), measured(seen), request)
        return self._added(parent, done, names, by, note, answering)

    def sync(
        self,
        nodes: "Source",
        edges: "Source" = None,
        *,
        repair: bool = False,
        tables: Mapping[str, Any] | None = None,
        by: str | None = None,
        note: str = "",
        promote: bool = False,
    ) -> Version:
        """Make a version with the nodes and edges of new whole tables, as they come every day.

        Nodes are compared by key: what is new comes, what is gone goes, and its labels with it.

        Args:
            nodes: The table of all nodes as they are now.
            edges: The table of all edges as they are now.
            repair: Leave out what does not fit instead of refusing it.
            tables: Names of columns (``key``, ``source`` …) where they are called differently than
                in the tables that the store was created from.
            by: Who does it; None for the user that is logged in.
            note: Why.
            promote: Let it answer at once, unless held-out nodes speak against it; not on top of a
                version that nobody has promoted.
        """
        from nodegraft.graph.stores.mapped import MappedStore
        from nodegraft.store.growth import synced
        from nodegraft.store.preview import compare

        parent = self._journal.version()
        answering = self._answering(parent) if promote else None
        before = self._state(parent)
        if parent.texts is not None and isinstance(before.graph._store, MappedStore):
            raise StoreError(
                "This store keeps texts of nodes beside a graph on disk, and sync would lose them: "
                "grow it, or build today's tables and make a new store of them."
            )
        with self._states.graphs.work_folder() as folder:
            given = before, self._tables(tables), nodes, edges, repair
            after, texts, changes = synced(*given, folder)
            name, graph = self._states.put_graph(after.graph)
        after = replace(after, graph=graph)
        seen = compare(before, after)
        if promote:
            refuse_objections(seen, _WITHOUT_PROMOTING)
        names = self._states.put(after, name, texts)
        done = Done("sync", changes.to_json(), measured(seen))
        return self._added(parent, done, names, by, note, answering)

    def _tables(self, named: Mapping[str, Any] | None) -> dict[str, Any]:
        options: dict[str, Any] = self._journal.version(1).detail["tables"]
        return {**options, **(named or {})}
