"""A store as it is changed: every change is a row with what it did, and none is taken away."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nodegraft.analysis.labels.changes import Change, changes_labels, replayed
from nodegraft.analysis.version import PRUNING, StateNames, Version
from nodegraft.base.errors import StoreError, UnreadableModelError
from nodegraft.base.measure import Measurement
from nodegraft.store.fitting import LastFit, fit_measures, fitted_in
from nodegraft.store.intent import Intent
from nodegraft.store.new_tables import StoreGrower
from nodegraft.store.versions.lineage import lineage, unreviewed
from nodegraft.store.versions.recording import Done

if TYPE_CHECKING:
    from nodegraft.analysis.labels.labels import StoreLabels
    from nodegraft.analysis.preview import Preview
    from nodegraft.analysis.snapshot import State

_KEEPING = ("grow", "prune", "refit")
"""Actions that leave labels as they are."""


class StoreWriter(StoreGrower):
    """What makes versions."""

    def preview(self, change: Change) -> "Preview":
        """Return what a change would do to the candidate; nothing is written.

        Args:
            change: The change.
        """
        from nodegraft.analysis.preview import compare

        before = self._state(self._journal.version())
        after = self._changed(before, change)
        return compare(before, after, change.succession())

    def change(self, change: Change, *, intent: Intent = Intent()) -> Version:
        """Make a version with other labels, unless held-out accuracy drops by more than noise.

        Args:
            change: The change of labels.
            intent: Author, note, reason to override the quality gate, and whether to make the
                version live at once.
        """
        parent, answering = self._begun(intent)
        before = self._state(parent)
        after = self._changed(before, change)
        done = Done(change.action, change.detail, {})
        return self._judged(parent, before, after, done, intent, answering, change.succession())

    def refit(self, *, intent: Intent = Intent()) -> Version:
        """Make a version whose method is fitted from the start, on the labels and graph of today.

        What a method practised on the first labels (how much text, neighbours and position are
        worth, how sure an answer is) stays as it was while labels are added; many more labels are
        worth another look. So is a model of an older nodegraft that this one cannot read: it is
        held against what was written down about held-out nodes then.

        Args:
            intent: As in :meth:`change`.
        """
        parent, answering = self._begun(intent)
        try:
            before = self._state(parent)
        except UnreadableModelError:
            before = None
        begun = before or self._states.unlearned(parent.names)
        with Measurement() as fit:
            after = self._states.settled(begun).fitted_anew(self.listener)
        done = Done("refit", {}, fit_measures(after.labels, fit.seconds))
        return self._judged(parent, before, after, done, intent, answering)

    def undo(
        self,
        version: int | None = None,
        *,
        intent: Intent = Intent(),
    ) -> Version:
        """Make a version without what one version did; its own labels and model come back.

        Args:
            version: Which one; None for the newest. Later changes of labels are done again on
                what is left.
            intent: Author, note and whether to make the version live at once. That is refused
                while a candidate version waits for review, unless the version that comes back is
                the live one.
        """
        intent.refuse("undo", "override")
        parent, newest = self._journal.version(), self._journal.candidate()
        undone = newest if version is None else self._journal.version(version)
        if undone.parent is None:
            raise StoreError("Version 1 is the first version: there is nothing to undo.")
        if undone.action in PRUNING:
            raise StoreError(
                f"Version {undone.number} ({undone.action}) cannot be undone: what it removed "
                "is deleted."
            )
        kept = self._journal.version(undone.parent)
        self._refuse_pruned(kept)
        restored = kept.names if undone == newest else None
        answering = self._answering(parent, restored) if intent.promote else None
        if undone == newest:
            self._refuse_unreadable(undone, kept)
            names, measures = kept.names, {"after": kept.measures.get("after", {})}
        else:
            names, measures = self._without(undone, kept, parent), {}
        done = Done("undo", {"version": undone.number}, measures)
        return self._added(parent, done, names, intent, answering)

    def discard(
        self,
        version: int | None = None,
        *,
        intent: Intent = Intent(),
    ) -> Version:
        """Make a version equal to the live one, without the changes that wait for review.

        The discarded versions stay in the history, and :meth:`undo` brings them back.

        Args:
            version: The number of the candidate version that is meant, so that a newer one that
                another process made meanwhile is not discarded with it; None for any.
            intent: Author and note.
        """
        intent.refuse("discard", "override", "promote")
        parent, live, waiting = self._journal.version(), self.champion, self.waiting()
        if waiting is None:
            raise StoreError(
                f"No candidate version waits for review: version {live} is live, and the "
                "newest version equals it."
            )
        if version not in (None, waiting.number):
            raise StoreError(
                f"Version {version} was not discarded: the candidate version that waits for review "
                f"is {waiting.number}. Review and discard that one."
            )
        restored = self._journal.version(live)
        discarded = unreviewed(self._journal.versions(), restored)
        done = Done(
            "discard",
            {"version": live, "versions": [row.number for row in discarded]},
            {"after": restored.measures.get("after", {})},
        )
        return self._added(parent, done, restored.names, intent)

    def _refuse_unreadable(self, undone: Version, kept: Version) -> None:
        if undone.action != "refit":
            return
        try:
            self._state(kept)
        except UnreadableModelError as error:
            raise StoreError(
                f"Version {undone.number} (refit) cannot be undone: this nodegraft cannot read the "
                f"model of version {kept.number}, which it would restore."
            ) from error

    def _without(self, undone: Version, kept: Version, newest: Version) -> StateNames:
        contained = lineage(self._journal.versions())
        if undone not in contained:
            raise StoreError(
                f"Version {undone.number} cannot be undone by itself: a later version has undone "
                "or discarded it already. Undo that one to bring it back."
            )
        later = [one for one in contained if one.number > undone.number]
        odd = [
            one
            for one in (undone, *later)
            if not changes_labels(one.action) and (one is undone or one.action not in _KEEPING)
        ]
        if odd:
            raise StoreError(
                f"Version {undone.number} cannot be undone by itself: version {odd[0].number} "
                f"({odd[0].action}) does not change labels. Undo the versions after "
                f"{undone.number} first, newest first."
            )
        changes = {
            one.number: Change(one.action, one.detail)
            for one in later
            if one.action not in _KEEPING
        }
        labels = replayed(self._states.labels(kept.labels), changes, undone.number)
        state = self._state(newest).relabelled(labels)
        return self._states.put_learned(state, newest.names)

    def fit_needed(self, change: Change) -> "Refit | None":
        """What must be learned again for a change; None where the method need not be fitted anew.

        Args:
            change: The change, of the candidate.
        """
        before = self._state(self._journal.version())
        labels = _labels_after(before, change)
        if not before.needs_fit(labels):
            return None
        return Refit(before.model.name, labels.num_teaching, self.last_fit().seconds)

    def last_fit(self) -> LastFit:
        """On how many labels the method of the candidate was fitted, and how many there are now."""
        measures = fitted_in(self._journal.versions()).measures
        now = self._state(self._journal.version()).labels.num_teaching
        return LastFit(measures["labels"], now, measures["seconds"])

    def _changed(self, before: "State", change: Change) -> "State":
        from nodegraft.graph.labels import NodeLabels

        labels = _labels_after(before, change)
        # Whatever does not fit is told here, with the names of the nodes.
        NodeLabels.by_key(before.graph, {name: one.all for name, one in labels.items()})
        return before.relabelled(labels, self.listener)


@dataclass(frozen=True)
class Refit:
    """A change after which a method must be fitted from the start."""

    method: str
    """Its name."""

    labels: int
    """How many labels teach then."""

    seconds: float
    """How long the first version took to learn."""


def _labels_after(before: "State", change: Change) -> "StoreLabels":
    labels = change.applied(before.labels)
    if labels == before.labels:
        raise StoreError("This would change nothing: the labels are already like that.")
    return labels
