"""Changes of a store with several labels per node: labels, and new nodes and edges."""

from typing import TYPE_CHECKING

from nodegraft.analysis.label_sets.preview import SetPreview, compare_sets
from nodegraft.analysis.label_sets.state import LabelSetState
from nodegraft.analysis.labels.changes import Change
from nodegraft.analysis.version import StateNames, Version
from nodegraft.base.errors import ParameterError, SeveralLabelsError, StoreError
from nodegraft.methods.multi_label.labels import LabelSets
from nodegraft.store.intent import Intent
from nodegraft.store.parts import NewTables
from nodegraft.store.undo import Undo
from nodegraft.store.versions.versions import Draft

if TYPE_CHECKING:
    from nodegraft.tables.read import Tables

CHANGES = {
    "add": ("classes", "force_name"),
    "label": ("more",),
    "unlabel": ("labels",),
    "remove": ("names",),
    "rename": ("old", "new", "force_name"),
}
"""Supported changes of labels -> their arguments."""


class LabelSetChanges(Undo[LabelSets]):
    """Changes of labels, of which a node may have several."""

    def preview(self, change: Change) -> SetPreview:
        """Compare the predictions of the newest version with those after a change."""
        before = self._parts.label_set_state(self._journal.version())
        return _compared(before, _changed(before, change), change)

    def change(self, change: Change, intent: Intent) -> Version:
        """Make a version with changed labels."""
        if intent.override:
            raise ParameterError(
                "No quality gate can refuse a change of a store with several labels per node: omit "
                "override=… (--override)."
            )
        parent, last = self._versions.begin(intent)
        before = self._parts.label_set_state(parent)
        after = _changed(before, change)
        measures = _compared(before, after, change).measures()
        draft = Draft(change.action, change.detail, measures)
        names = self._parts.states.put(after, parent.texts)
        return self._versions.add(parent, draft, names, intent, last)

    def preview_grow(self, tables: NewTables) -> SetPreview:
        """Compare the predictions of the newest version with those in a larger graph."""
        before = self._parts.label_set_state(self._journal.version())
        return compare_sets(before, before.on(self._larger(before, tables).graph))

    def grow(self, tables: NewTables, intent: Intent) -> Version:
        """Make a version with more nodes and edges."""
        from nodegraft.store.table_changes import growth_changes

        intent.refuse("grow", "override")
        parent, last = self._versions.begin(intent)
        before, states = self._parts.label_set_state(parent), self._parts.states
        larger = self._larger(before, tables)
        after = before.on(states.put_graph(larger.graph, before.graph))
        texts = parent.texts
        if texts is not None and larger.texts is not None:
            texts = states.put_texts(states.texts(texts).followed_by(larger.texts))
        changes = growth_changes(before.graph, after.graph).to_json()
        draft = Draft("grow", changes, compare_sets(before, after).measures())
        return self._versions.add(parent, draft, states.put(after, texts), intent, last)

    def _larger(self, before: LabelSetState, tables: NewTables) -> "Tables":
        # Import here, because reading tables is slow to import.
        from nodegraft.store.table_changes import read_more_rows

        options = {**self._parts.table_options, **(tables.columns or {})}
        return read_more_rows(before.graph, tables, options, self._parts.listener)

    def _labels(self, name: str) -> LabelSets:
        return self._parts.states.label_sets(name)

    def _relabelled(self, version: Version, labels: LabelSets) -> StateNames:
        state = self._parts.label_set_state(version).relabelled(labels)
        return self._parts.states.put(state, version.texts)


def _compared(before: LabelSetState, after: LabelSetState, change: Change) -> SetPreview:
    detail = change.detail
    renamed = {detail["old"]: detail["new"]} if change.action == "rename" else {}
    return compare_sets(before, after, renamed)


def _changed(before: LabelSetState, change: Change) -> LabelSetState:
    if change.action not in CHANGES:
        raise SeveralLabelsError(f"The change {change.action!r}")
    for name in change.detail:
        if name not in CHANGES[change.action]:
            raise SeveralLabelsError(f"The argument {name!r} of {change.action!r}")
    # This raises an error that lists the keys that the graph does not have.
    before.graph.targets_of(change.new_nodes)
    labels = change.applied(before.labels)
    if labels == before.labels:
        raise StoreError("This would change nothing: the labels are already like that.")
    return before.relabelled(labels)
