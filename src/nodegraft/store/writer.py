"""A store as it is changed: every change is a row with what it did, and none is taken away."""

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from nodegraft.base.errors import GateError, StoreChangedError, StoreError
from nodegraft.base.events import SILENT, Listener
from nodegraft.store.authorship import author, writable
from nodegraft.store.changes import Change, changes_labels, replayed
from nodegraft.store.promoting import StorePromoter
from nodegraft.store.request import Request
from nodegraft.store.rows import PRUNING, Promotion, StateNames, Version, now

if TYPE_CHECKING:
    from nodegraft.store.labels import StoreLabels
    from nodegraft.store.preview import Preview
    from nodegraft.store.state import State
    from nodegraft.tables.columns import Source

_KEEPING = ("grow", "prune")
"""Actions that leave labels as they are."""

_WITHOUT_PROMOTING = (
    "To make the version all the same, and look at it before it answers, leave promote out."
)


class StoreWriter(StorePromoter):
    """What makes versions."""

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
        promote: bool = False,
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
            promote: Let it answer at once; not together with ``override``, nor on top of a version
                that nobody has promoted.
            request: What was asked for under a key, written down with the version.
            listener: Is told how far it is.
        """
        from nodegraft.store.preview import compare

        if promote and override:
            raise StoreError(
                "A version that held-out nodes speak against is not let to answer unseen: make it "
                "with override, look at it, and then promote it. Or leave override out."
            )
        parent = self._journal.version()
        answering = self._answering(parent) if promote else None
        before = self._state(parent)
        after = self._changed(before, change, listener)
        seen = compare(before, after)
        if not override:
            _refuse_objections(
                seen,
                "To do it all the same, give a reason with override=… (on the command line "
                "--override REASON).",
            )
        measures = measured(seen) | ({"override": override} if override else {})
        names = self._states.put_learned(after, parent.names)
        done = Done(change.action, change.detail, measures, request)
        return self._added(parent, done, names, by, note, answering)

    def undo(
        self,
        version: int | None = None,
        *,
        by: str | None = None,
        note: str = "",
        promote: bool = False,
        request: Request | None = None,
    ) -> Version:
        """Make a version without what one version did; its own labels and model come back.

        Args:
            version: Which one; None for the newest. Later changes of labels are done again on
                what is left.
            by: Who does it; None for the user that is logged in.
            note: Why.
            promote: Let it answer at once; not on top of a version that nobody has promoted.
            request: As in :meth:`change`.
        """
        parent, newest = self._journal.version(), self._journal.candidate()
        answering = self._answering(parent) if promote else None
        undone = newest if version is None else self._journal.version(version)
        if undone.parent is None:
            raise StoreError("Version 1 is the first: there is nothing before it to go back to.")
        if undone.action in PRUNING:
            raise StoreError(
                f"Version {undone.number} ({undone.action}) cannot be undone: what it took away "
                "is gone."
            )
        kept = self._journal.version(undone.parent)
        self._refuse_pruned(kept)
        if undone == newest:
            names, measures = kept.names, {"after": kept.measures.get("after", {})}
        else:
            names, measures = self._without(undone, kept, parent), {}
        done = Done("undo", {"version": undone.number}, measures, request)
        return self._added(parent, done, names, by, note, answering)

    def _without(self, undone: Version, kept: Version, newest: Version) -> StateNames:
        later = [one for one in self._journal.versions() if one.number > undone.number]
        odd = [
            one
            for one in (undone, *later)
            if not changes_labels(one.action) and (one is undone or one.action not in _KEEPING)
        ]
        if odd:
            raise StoreError(
                f"Version {undone.number} cannot be undone by itself: version {odd[0].number} "
                f"({odd[0].action}) is no change of labels. Undo the versions after "
                f"{undone.number} first, newest first."
            )
        changes = {
            one.number: Change(one.action, one.detail)
            for one in later
            if one.action not in _KEEPING
        }
        labels = replayed(self._state(kept).labels, changes, undone.number)
        state = self._state(newest).relabelled(labels)
        return self._states.put_learned(state, newest.names)

    def grow(
        self,
        nodes: "Source" = None,
        edges: "Source" = None,
        *,
        repair: bool = False,
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
            by: Who does it; None for the user that is logged in.
            note: Why.
            promote: Let it answer at once, unless held-out nodes speak against it; not on top of a
                version that nobody has promoted.
            request: As in :meth:`change`.
        """
        from nodegraft.store.growth import grown, table_changes
        from nodegraft.store.preview import compare

        parent = self._journal.version()
        answering = self._answering(parent) if promote else None
        before = self._state(parent)
        after, texts = grown(before, self._tables(), nodes, edges, repair)
        more = table_changes(before.graph, after.graph, 0)
        name, graph = self._states.put_graph(after.graph)
        seen = compare(before, replace(after, graph=graph))
        if promote:
            _refuse_objections(seen, _WITHOUT_PROMOTING)
        names = replace(parent.names, graph=name)
        if parent.texts is not None and texts is not None:
            together = self._states.texts(parent.texts).followed_by(texts)
            names = replace(names, texts=self._states.put_texts(together))
        done = Done("grow", more.to_json(), measured(seen), request)
        return self._added(parent, done, names, by, note, answering)

    def sync(
        self,
        nodes: "Source",
        edges: "Source" = None,
        *,
        repair: bool = False,
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
            by: Who does it; None for the user that is logged in.
            note: Why.
            promote: Let it answer at once, unless held-out nodes speak against it; not on top of a
                version that nobody has promoted.
        """
        from nodegraft.store.growth import synced
        from nodegraft.store.preview import compare

        parent = self._journal.version()
        answering = self._answering(parent) if promote else None
        before = self._state(parent)
        after, texts, changes = synced(before, self._tables(), nodes, edges, repair)
        name, graph = self._states.put_graph(after.graph)
        after = replace(after, graph=graph)
        seen = compare(before, after)
        if promote:
            _refuse_objections(seen, _WITHOUT_PROMOTING)
        names = self._states.put(after, name, texts)
        done = Done("sync", changes.to_json(), measured(seen))
        return self._added(parent, done, names, by, note, answering)

    def _tables(self) -> dict[str, Any]:
        options: dict[str, Any] = self._journal.version(1).detail["tables"]
        return options

    def refit(self, change: Change) -> "Refit | None":
        """What must be learned again for a change; None where the method need not be fitted anew.

        Args:
            change: The change, of the candidate.
        """
        before = self._state(self._journal.version())
        labels = _labels_after(before, change)
        if not before.needs_fit(labels):
            return None
        nodes = sum(map(len, labels.taught.values()))
        seconds = self._journal.version(1).measures.get("seconds", 0.0)
        return Refit(before.model.name, nodes, seconds)

    def _changed(self, before: "State", change: Change, listener: Listener) -> "State":
        from nodegraft.graph.labels import NodeLabels

        labels = _labels_after(before, change)
        # Whatever does not fit is told here, with the names of the nodes.
        NodeLabels.by_key(before.graph, {name: one.all for name, one in labels.items()})
        return before.relabelled(labels, listener)

    def _added(
        self,
        parent: Version,
        done: "Done",
        names: StateNames,
        by: str | None,
        note: str,
        answering: Promotion | None = None,
    ) -> Version:
        """Write a version down; it answers from then on where the last promotion is given."""
        number, who, at = parent.number + 1, author(by), now()
        version = Version(
            number,
            parent.number,
            done.action,
            done.detail,
            who,
            writable(note),
            at,
            **vars(names),
            measures=done.measures | ({"request": asdict(done.request)} if done.request else {}),
        )
        rows: list[Version | Promotion] = [version]
        if answering:
            rows.append(Promotion(answering.number + 1, number, "promote", who, note, at))
        self._journal.add(*rows, confirm=lambda: self._require_whole(names))
        return version

    def _require_whole(self, names: StateNames) -> None:
        if self._objects.lacks(names.all):
            raise StoreChangedError(
                "Files that this version shares with older ones were pruned meanwhile by another "
                "process. Nothing was written; do it again."
            )


@dataclass(frozen=True)
class Refit:
    """A change after which a method must be fitted from the start."""

    method: str
    """Its name."""

    labels: int
    """How many labels teach then."""

    seconds: float
    """How long the first version took to learn."""


@dataclass(frozen=True)
class Done:
    """What makes a version what it is."""

    action: str
    """What was done."""

    detail: dict[str, Any]
    """With what."""

    measures: dict[str, Any]
    """What was measured before and after."""

    request: Request | None = None
    """What was asked for under a key, if there was one."""


def _refuse_objections(seen: "Preview", advice: str) -> None:
    objections = seen.objections()
    if objections:
        raise GateError(objections, advice)


def _labels_after(before: "State", change: Change) -> "StoreLabels":
    labels = change.applied(before.labels)
    if labels == before.labels:
        raise StoreError("This would change nothing: all of it is so already.")
    return labels


def measured(seen: "Preview") -> dict[str, Any]:
    """What is written down of a comparison.

    Args:
        seen: A version and the one before it, compared.
    """
    return {
        "before": seen.before.to_json(),
        "after": seen.after.to_json(),
        "asked": seen.asked,
        "new": seen.new.to_json(),
        "flipped": seen.flipped,
    }
