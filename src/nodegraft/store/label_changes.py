"""Changes of a store's labels, and refits."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from nodegraft.analysis.labels.changes import Change
from nodegraft.analysis.version import Promotion, StateNames, Version
from nodegraft.base.errors import StoreError, UnreadableModelError
from nodegraft.base.measure import Measurement
from nodegraft.base.problems import Problems
from nodegraft.store.intent import Intent
from nodegraft.store.undo import Undo
from nodegraft.store.versions.lineage import lineage
from nodegraft.store.versions.versions import (
    WITH_OVERRIDE,
    Draft,
    diff_measures,
    refuse_drop,
    refuse_unmeasured,
)

if TYPE_CHECKING:
    from nodegraft.analysis.labels.changes import ClassSuccession
    from nodegraft.analysis.labels.labels import StoreLabels
    from nodegraft.analysis.preview import Preview
    from nodegraft.analysis.snapshot import State
    from nodegraft.tables.columns import Source
    from nodegraft.tables.encode_again import Encoders, TextEncoding
    from nodegraft.tables.node_texts import NodeTexts

_FITTED = ("init", "refit")
"""Actions that fit a method from scratch and store measurements of the fit."""

REFIT_RATIO = 2.0
"""A refit is advised if the number of labels is at least this multiple of that at the last fit."""


@dataclass(frozen=True)
class LastFit:
    """Number of labels and duration of the last fit from scratch of the newest version's model."""

    labels: int
    """Number of training labels in the last fit."""

    labels_now: int
    """Number of training labels of the newest version."""

    seconds: float
    """Duration of the last fit in seconds."""

    @property
    def is_dated(self) -> bool:
        """Whether a refit is advised, because so many labels were added since the last fit."""
        return self.labels_now >= REFIT_RATIO * self.labels


@dataclass(frozen=True)
class Refit:
    """Cost of a change that needs a fit of the method from scratch."""

    method: str
    """Name of the method."""

    labels: int
    """Number of training labels after the change."""

    seconds: float
    """Duration of the last fit in seconds."""


class LabelChanges(Undo["StoreLabels"]):
    """Changes of the labels of a store; :class:`nodegraft.Store` describes the methods.

    Args:
        parts: Versions, files and settings of the store.
    """

    def preview(self, change: Change) -> "Preview":
        """Compare the predictions of the newest version with those after a change of labels."""
        from nodegraft.analysis.preview import compare

        before = self._newest_state()
        return compare(before, self._changed(before, change), change.succession())

    def change(self, change: Change, intent: Intent) -> Version:
        """Make a version with changed labels."""
        parent, last = self._versions.begin(intent)
        before = self._parts.state(parent)
        after = self._changed(before, change)
        draft = Draft(change.action, change.detail, {})
        return self._add_measured(parent, before, after, draft, intent, last, change.succession())

    def preview_refit(self, encoder: "Encoders | None", nodes: "Source") -> "Preview":
        """Compare the predictions of the newest version with those after :meth:`refit`."""
        from nodegraft.analysis.preview import compare
        from nodegraft.tables.encode_again import TextEncoding

        before = self._newest_state()
        return compare(before, self._refitted(before, TextEncoding.of(encoder, nodes))[0])

    def refit(self, encoder: "Encoders | None", nodes: "Source", intent: Intent) -> Version:
        """Make a version whose method is fitted from scratch, optionally with another text encoder.

        Args:
            encoder: Name of another text encoder, or several; None to keep the features.
            nodes: Table of nodes with their texts, which another encoder needs.
            intent: Author, note and promotion of the version.
        """
        from nodegraft.tables.encode_again import TextEncoding

        encoding = TextEncoding.of(encoder, nodes)
        parent, last = self._versions.begin(intent)
        states = self._parts.states
        try:
            before = self._parts.state(parent)
        except UnreadableModelError:
            before = None
        with Measurement() as fit:
            settled = states.settled(before or states.unlearned(parent.names))
            after, texts = self._refitted(settled, encoding)
        if encoding is not None:
            after = replace(after, graph=states.put_graph(after.graph))
        detail = {} if encoding is None else {"encoder": list(encoding.encoders)}
        draft = Draft("refit", detail, fit_measures(after.labels, fit.seconds))
        return self._add_measured(parent, before, after, draft, intent, last, texts=texts)

    def _refitted(
        self, state: "State", encoding: "TextEncoding | None"
    ) -> "tuple[State, NodeTexts | None]":
        listener, texts = self._parts.listener, None
        if encoding is not None:
            options = self._parts.table_options
            graph, texts = encoding.applied(state.graph, options, listener)
            state = replace(state, graph=graph)
        return state.refitted(listener), texts

    def fit_needed(self, change: Change) -> Refit | None:
        """Return the cost of the fit from scratch that a change needs; None if it needs none."""
        before = self._newest_state()
        labels = _labels_after(before, change)
        if not before.needs_fit(labels):
            return None
        return Refit(before.model.name, labels.num_training, self.last_fit().seconds)

    def last_fit(self) -> LastFit:
        """Return the number of labels and the duration of the last fit from scratch."""
        contained = lineage(self._journal.versions())
        measures = next(row for row in reversed(contained) if row.action in _FITTED).measures
        labels_now = self._newest_state().labels.num_training
        return LastFit(measures["labels"], labels_now, measures["seconds"])

    def _newest_state(self) -> "State":
        return self._parts.state(self._journal.version())

    def _changed(self, before: "State", change: Change) -> "State":
        return before.relabelled(_labels_after(before, change), self._parts.listener)

    def _add_measured(
        self,
        parent: Version,
        before: "State | None",
        after: "State",
        draft: Draft,
        intent: Intent,
        last: Promotion | None,
        succession: "ClassSuccession | None" = None,
        texts: "NodeTexts | None" = None,
    ) -> Version:
        """Measure and store a new version, unless the quality gate refuses it.

        Args:
            parent: Version that the new one is based on.
            before: State of the parent; None if its model cannot be read, so that its stored
                measurements are compared instead.
            after: State of the new version.
            draft: Action, arguments and measurements of the new version.
            intent: Author, note, and reason to override the quality gate.
            last: The last promotion if the new version goes live at once; None otherwise.
            succession: Old classes that are renamed, merged or split, and the classes that continue
                them.
            texts: New texts for display, if the store has texts; None to keep the current ones.
        """
        from nodegraft.analysis.preview import compare, compare_with_record

        diff = (
            compare(before, after, succession)
            if before
            else compare_with_record(parent.measures, after)
        )
        if not intent.override:
            refuse_drop(diff, WITH_OVERRIDE)
        if last:
            refuse_unmeasured((before or after).labels, diff)
        override = {"override": intent.override} if intent.override else {}
        draft = replace(draft, measures=draft.measures | diff_measures(diff) | override)
        states = self._parts.states
        new_texts = states.put_texts(texts) if parent.texts is not None else None
        names = states.put(after, new_texts or parent.texts)
        return self._versions.add(parent, draft, names, intent, last)

    def _refuse_unreadable(self, undone: Version, restored: Version) -> None:
        if undone.action != "refit":
            return
        try:
            self._parts.state(restored)
        except UnreadableModelError as error:
            raise StoreError(
                f"Version {undone.number} (refit) cannot be undone: this nodegraft cannot read the "
                f"model of version {restored.number}, which it would restore."
            ) from error

    def _labels(self, name: str) -> "StoreLabels":
        return self._parts.states.labels(name)

    def _relabelled(self, version: Version, labels: "StoreLabels") -> StateNames:
        state = self._parts.state(version).relabelled(labels)
        return self._parts.states.put(state, version.texts)


def fit_measures(labels: "StoreLabels", seconds: float) -> dict[str, Any]:
    """Return the number of labels and the duration of a fit, to be stored with the version."""
    return {"labels": labels.num_training, "seconds": round(seconds, 1)}


def _labels_after(before: "State", change: Change) -> "StoreLabels":
    labels, problems = before.labels, Problems()
    with problems.collect():
        labels = change.applied(before.labels)
    with problems.collect():
        # This raises an error that lists the keys that the graph does not have.
        before.graph.targets_of(change.new_nodes)
    problems.raise_all()
    if labels == before.labels:
        raise StoreError("This would change nothing: the labels are already like that.")
    return labels
