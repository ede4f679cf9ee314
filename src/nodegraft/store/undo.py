"""Undo and discard of versions, which apply later changes again to earlier labels."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic

from nodegraft.analysis.labels.changes import AnyLabels, Change, changes_labels, replay
from nodegraft.analysis.version import PRUNING, StateNames, Version
from nodegraft.base.errors import StoreError
from nodegraft.store.intent import Intent
from nodegraft.store.parts import StoreParts
from nodegraft.store.versions.lineage import lineage, unreviewed
from nodegraft.store.versions.versions import Draft

_KEEPING = ("grow", "prune", "refit")
"""Actions that do not change labels."""


class Undo(ABC, Generic[AnyLabels]):
    """Base class of changes of labels: versions without earlier changes.

    Args:
        parts: Versions, files and settings of the store.
    """

    def __init__(self, parts: StoreParts) -> None:
        self._parts, self._versions, self._journal = parts, parts.versions, parts.journal

    def undo(self, number: int | None, intent: Intent) -> Version:
        """Make a version without the change of an earlier version.

        Args:
            number: Number of the version to undo; None for the newest.
            intent: Author, note and promotion of the new version.
        """
        intent.refuse("undo", "override")
        parent, newest = self._journal.version(), self._journal.heads().newest
        undone = newest if number is None else self._journal.version(number)
        if undone.parent is None:
            raise StoreError("Version 1 is the first version: there is nothing to undo.")
        if undone.action in PRUNING:
            raise StoreError(
                f"Version {undone.number} ({undone.action}) cannot be undone: what it removed "
                "is deleted."
            )
        before = self._versions.whole(undone.parent)
        contained = lineage(self._journal.versions())
        # Everything after it may be undone already.
        is_last = undone in (newest, contained[-1])
        restored = before.names if is_last else None
        last = self._versions.last_promotion(parent, restored) if intent.promote else None
        if is_last:
            self._refuse_unreadable(undone, before)
            names, measures = before.names, {"after": before.measures.get("after", {})}
        else:
            names, measures = self._without(undone, before, parent, contained), {}
        draft = Draft("undo", {"version": undone.number}, measures)
        return self._versions.add(parent, draft, names, intent, last)

    def discard(self, number: int | None, intent: Intent) -> Version:
        """Make a version equal to the live one, without the changes that wait for review.

        Args:
            number: Expected number of the candidate version; None to discard any candidate.
        """
        intent.refuse("discard", "override", "promote")
        parent, candidate = self._journal.version(), self._versions.candidate
        if number not in (None, candidate.number):
            raise StoreError(
                f"Version {number} was not discarded: the candidate version that waits for review "
                f"is {candidate.number}. Review and discard that one."
            )
        restored = self._journal.version(self._versions.live)
        discarded = [row.number for row in unreviewed(self._journal.versions(), restored)]
        measures = {"after": restored.measures.get("after", {})}
        draft = Draft("discard", {"version": restored.number, "versions": discarded}, measures)
        return self._versions.add(parent, draft, restored.names, intent)

    def _without(
        self, undone: Version, before: Version, newest: Version, contained: list[Version]
    ) -> StateNames:
        """Store the newest version's labels and model without the change of an earlier version.

        The changes after the earlier version are applied again to the labels before it.

        Args:
            contained: Versions whose changes the newest version contains, oldest first.
        """
        if undone not in contained:
            raise StoreError(
                f"Version {undone.number} cannot be undone by itself: a later version has undone "
                "or discarded it already. Undo that one to bring it back."
            )
        later = [row for row in contained if row.number > undone.number]
        _refuse_other_changes(undone, later)
        changes = {
            row.number: Change(row.action, row.detail)
            for row in later
            if row.action not in _KEEPING
        }
        earlier = self._labels(before.labels)
        made_on = Change(undone.action, undone.detail).replayed(earlier)
        labels = replay(earlier, changes, undone.number, made_on)
        return self._relabelled(newest, labels)

    @abstractmethod
    def _labels(self, name: str) -> AnyLabels:
        """Return the labels stored in an object."""

    @abstractmethod
    def _relabelled(self, version: Version, labels: AnyLabels) -> StateNames:
        """Store a version's graph and model with other labels."""

    def _refuse_unreadable(self, undone: Version, restored: Version) -> None:
        """Raise an error if the version that an undo would restore cannot be read."""


def _refuse_other_changes(undone: Version, later: Sequence[Version]) -> None:
    """Raise an error for versions that change more than labels, which cannot be replayed."""
    for row in (undone, *later):
        if not changes_labels(row.action) and (row is undone or row.action not in _KEEPING):
            raise StoreError(
                f"Version {undone.number} cannot be undone by itself: version {row.number} "
                f"({row.action}) cannot be applied again without it. Undo the versions after "
                f"{undone.number} first, newest first."
            )
