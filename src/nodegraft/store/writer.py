"""A store as it is changed: every change is a row with what it did, and none is taken away."""

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from nodegraft.base.errors import GateError, StoreError
from nodegraft.base.events import SILENT, Listener
from nodegraft.store.authorship import author, writable
from nodegraft.store.changes import Change, changes_labels, replayed
from nodegraft.store.journal import Promotion, StateNames, Version, now
from nodegraft.store.reader import StoreReader
from nodegraft.store.request import Request

if TYPE_CHECKING:
    from nodegraft.store.preview import Preview
    from nodegraft.store.state import State
    from nodegraft.tables.columns import Source


class StoreWriter(StoreReader):
    """What makes versions, and chooses the one that answers."""

    def preview(self, change: Change, listener: Listener = SILENT) -> "Preview":
        """What a change would do to the candidate.

        Args:
            change: The change.
            listener: Is told how far it is.
        """
        from nodegraft.store.preview import compare

        before = self._state(self._journal.version())
        return compare(before, self._changed(before, change, listener))

    def change(
        self,
        change: Change,
        *,
        by: str | None = None,
        note: str = "",
        override: str = "",
        request: Request | None = None,
        listener: Listener = SILENT,
    ) -> Version:
        """Make a version with other labels, unless it costs more than chance explains.

        Args:
            change: What is done to the labels.
            by: Who does it; None for the user that is logged in.
            note: Why.
            override: A reason for doing it although held-out nodes speak against it; it is written
                down.
            request: What was asked for under a key, written down with the version.
            listener: Is told how far it is.
        """
        from nodegraft.store.preview import compare

        parent = self._journal.version()
        before = self._state(parent)
        after = self._changed(before, change, listener)
        seen = compare(before, after)
        objections = seen.objections()
        if objections and not override:
            raise GateError(objections)
        measures = _measures(seen) | ({"override": override} if override else {})
        names = self._states.put(after, graph=parent.graph)
        return self._added(parent, change.action, change.detail, names, measures, by, note, request)

    def undo(
        self,
        version: int | None = None,
        *,
        by: str | None = None,
        note: str = "",
        request: Request | None = None,
    ) -> Version:
        """Make a version without what one version did; its own labels and model come back.

        Args:
            version: Which one; None for the newest. Later changes of labels are done again on
                what is left.
            by: Who does it; None for the user that is logged in.
            note: Why.
            request: As in :meth:`change`.
        """
        newest = self._journal.version()
        undone = newest if version is None else self._journal.version(version)
        if undone.parent is None:
            raise StoreError("Version 1 is the first: there is nothing before it to go back to.")
        kept = self._journal.version(undone.parent)
        if undone.number == newest.number:
            names = kept.names
        else:
            names = self._without(undone, kept, newest)
        measures = {"after": kept.measures.get("after", {})} if undone == newest else {}
        detail = {"version": undone.number}
        return self._added(newest, "undo", detail, names, measures, by, note, request)

    def _without(self, undone: Version, kept: Version, newest: Version) -> StateNames:
        later = [one for one in self._journal.versions() if one.number > undone.number]
        odd = [
            one
            for one in (undone, *later)
            if not changes_labels(one.action) and (one is undone or one.action != "grow")
        ]
        if odd:
            raise StoreError(
                f"Version {undone.number} cannot be undone by itself: version {odd[0].number} "
                f"({odd[0].action}) is no change of labels. Undo the versions after "
                f"{undone.number} first, newest first."
            )
        changes = {
            one.number: Change(one.action, one.detail) for one in later if one.action != "grow"
        }
        labels = replayed(self._state(kept).labels, changes, undone.number)
        state = self._state(newest).relabelled(labels)
        return self._states.put(state, graph=newest.graph)

    def grow(
        self,
        nodes: "Source" = None,
        edges: "Source" = None,
        *,
        repair: bool = False,
        by: str | None = None,
        note: str = "",
        request: Request | None = None,
    ) -> Version:
        """Make a version with more nodes and edges; what is known of classes follows the graph.

        Args:
            nodes: The table of new nodes; None if there are none.
            edges: The table of new edges; None if there are none.
            repair: Leave out what does not fit instead of refusing it.
            by: Who does it; None for the user that is logged in.
            note: Why.
            request: As in :meth:`change`.
        """
        from nodegraft.store.growth import grown, table_changes
        from nodegraft.store.preview import compare

        parent = self._journal.version()
        before = self._state(parent)
        after = grown(before, self._tables(), nodes, edges, repair)
        more = table_changes(before.graph, after.graph, 0)
        names = replace(parent.names, graph=self._states.put_graph(after.graph))
        measures = _measures(compare(before, after))
        return self._added(parent, "grow", more.to_json(), names, measures, by, note, request)

    def sync(
        self,
        nodes: "Source",
        edges: "Source" = None,
        *,
        repair: bool = False,
        by: str | None = None,
        note: str = "",
    ) -> Version:
        """Make a version with the nodes and edges of new whole tables, as they come every day.

        Nodes are compared by key: what is new comes, what is gone goes, and its labels with it.

        Args:
            nodes: The table of all nodes as they are now.
            edges: The table of all edges as they are now.
            repair: Leave out what does not fit instead of refusing it.
            by: Who does it; None for the user that is logged in.
            note: Why.
        """
        from nodegraft.store.growth import synced
        from nodegraft.store.preview import compare

        parent = self._journal.version()
        before = self._state(parent)
        after, changes = synced(before, self._tables(), nodes, edges, repair)
        measures = _measures(compare(before, after))
        names = self._states.put(after)
        return self._added(parent, "sync", changes.to_json(), names, measures, by, note)

    def _tables(self) -> dict[str, Any]:
        options: dict[str, Any] = self._journal.version(1).detail["tables"]
        return options

    def promote(
        self, version: int | None = None, *, by: str | None = None, note: str = ""
    ) -> Promotion:
        """Let a version answer.

        Args:
            version: Which one; None for the candidate.
            by: Who does it; None for the user that is logged in.
            note: Why.
        """
        chosen = self._journal.version(version).number
        return self._promoted(chosen, "promote", by, note)

    def rollback(self, *, by: str | None = None, note: str = "") -> Promotion:
        """Let the version answer that answered before the champion.

        Args:
            by: Who does it; None for the user that is logged in.
            note: Why.
        """
        moves = self._journal.promotions()
        stack: list[int] = []
        for move in moves:
            if move.action == "rollback":
                stack.pop()
            else:
                stack.append(move.version)
        if len(stack) < 2:
            raise StoreError(
                f"No version answered before version {stack[-1]}: there is none to go back to."
            )
        return self._promoted(stack[-2], "rollback", by, note)

    def _promoted(self, version: int, action: str, by: str | None, note: str) -> Promotion:
        if version == self.champion:
            raise StoreError(f"Version {version} is the one that answers already.")
        move = self._next_promotion(version, action, by, note)
        self._journal.add(promotion=move)
        return move

    def _next_promotion(self, version: int, action: str, by: str | None, note: str) -> Promotion:
        number = self._journal.promotions()[-1].number + 1
        return Promotion(number, version, action, author(by), writable(note), now())

    def _changed(self, before: "State", change: Change, listener: Listener) -> "State":
        from nodegraft.graph.labels import NodeLabels

        labels = change.applied(before.labels)
        if labels == before.labels:
            raise StoreError("This would change nothing: all of it is so already.")
        # Whatever does not fit is told here, with the names of the nodes.
        NodeLabels.by_key(before.graph, {name: one.all for name, one in labels.items()})
        return before.relabelled(labels, listener)

    def _added(
        self,
        parent: Version,
        action: str,
        detail: dict[str, Any],
        names: StateNames,
        measures: dict[str, Any],
        by: str | None,
        note: str,
        request: Request | None = None,
    ) -> Version:
        if request:
            measures = measures | {"request": asdict(request)}
        version = Version(
            parent.number + 1,
            parent.number,
            action,
            detail,
            author(by),
            writable(note),
            now(),
            **vars(names),
            measures=measures,
        )
        promoted = None
        if request and request.promote:
            promoted = self._next_promotion(version.number, "promote", by, note)
        self._journal.add(version, promoted)
        return version


def _measures(seen: "Preview") -> dict[str, Any]:
    return {
        "before": seen.before.to_json(),
        "after": seen.after.to_json(),
        "asked": seen.asked,
        "new": seen.new.to_json(),
        "flipped": seen.flipped,
    }
