"""Versions of a store: functions that add, promote and roll back versions, and the quality gate."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from nodegraft.analysis.version import Promotion, StateNames, Version, now
from nodegraft.base.errors import (
    CandidateWaitsError,
    GateError,
    NoCandidateError,
    RequestConflictError,
    StoreChangedError,
    StoreError,
)
from nodegraft.store.intent import IdempotencyKey, Intent
from nodegraft.store.objects.objects import Objects
from nodegraft.store.versions.journal import Journal, newest_in, refuse_pruned
from nodegraft.store.versions.lineage import live_versions

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from nodegraft.analysis.labels.labels import StoreLabels
    from nodegraft.analysis.preview import Preview

WITH_OVERRIDE = "To apply the change anyway, give a reason: override='…' (--override REASON)."

WITHOUT_PROMOTION = "To review the version before it is live, omit promote=True (--promote)."


@dataclass(frozen=True)
class Draft:
    """Version that is not stored yet."""

    action: str
    """Name of the action, such as ``add`` or ``refit``."""

    detail: dict[str, Any]
    """Arguments of the change, as plain JSON."""

    measures: dict[str, Any]
    """Measurements to store with the version, such as held-out accuracy before and after."""


class Versions:
    """Versions and promotions of a store.

    Args:
        journal: Database of the store.
        objects: Files of the store's versions.
    """

    def __init__(self, journal: Journal, objects: Objects) -> None:
        self.journal, self._objects = journal, objects
        self.on_promotion: Callable[[int], object] = lambda number: None
        """Callback with the number of a promoted version, called after the commit."""

    @property
    def live(self) -> int:
        """Number of the live version."""
        return self.journal.promotions()[-1].version

    @property
    def candidate(self) -> Version:
        """Version that waits for review; an error is raised if there is none."""
        heads = self.journal.heads()
        if heads.candidate is None:
            raise NoCandidateError(heads.live.number)
        return heads.candidate

    def whole(self, number: int | None = None) -> Version:
        """Return a version; raise an error if its files are pruned.

        Args:
            number: Number of the version; None for the newest.
        """
        version = self.journal.version(number)
        self.require_whole(version)
        return version

    def require_whole(self, version: Version) -> None:
        """Raise an error if the files of a version are pruned."""
        refuse_pruned(version.number, self.journal.pruned())

    def made_for(self, key: IdempotencyKey) -> Version | None:
        """Return the version that an earlier attempt of a request made; None if there is none.

        Args:
            key: Key of the request; an error is raised if it was used for a different request.
        """
        version = self.journal.version_for(key.key)
        if version is not None and key != IdempotencyKey(**version.measures["request"]):
            raise RequestConflictError(key.key)
        return version

    def promote(self, number: int | None, only_waiting: bool, intent: Intent) -> Promotion:
        """Make a version live.

        Args:
            number: Number of the version; None for the candidate.
            only_waiting: Whether to refuse a version that is not waiting for review.
        """
        version = self.candidate if number is None else self.journal.version(number)
        if not only_waiting:
            return self._add_promotion(version.number, "promote", intent)
        heads = self.journal.heads()
        if version != heads.candidate:
            newest = heads.newest
            raise StoreError(
                f"Version {version.number} was not promoted: it is not waiting for review. The "
                f"newest version is {newest.number} ({newest.action} by {newest.by}, "
                f"{newest.at:%Y-%m-%d %H:%M} UTC)."
            )

        def confirm(connection: "Connection") -> None:
            newest = newest_in(connection)
            if newest != version.number:
                raise StoreChangedError(
                    f"Version {version.number} was not promoted: version {newest} was made "
                    "meanwhile."
                )

        return self._add_promotion(version.number, "promote", intent, confirm)

    def rollback(self, intent: Intent) -> Promotion:
        """Make the previously live version live again."""
        stack = live_versions(self.journal.promotions())
        if len(stack) < 2:
            raise StoreError(
                f"Version {stack[-1]} is the first live version: there is none to roll back to."
            )
        return self._add_promotion(stack[-2], "rollback", intent)

    def _add_promotion(
        self,
        number: int,
        action: str,
        intent: Intent,
        confirm: "Callable[[Connection], None] | None" = None,
    ) -> Promotion:
        intent.refuse(action, "override", "promote", "idempotency_key")
        last = self.journal.promotions()[-1]
        if number == last.version:
            raise StoreError(f"Version {number} is already live.")
        who = intent.author_name, intent.note, now()
        promotion = Promotion(last.number + 1, number, action, *who)
        self.journal.add(promotion, confirm=confirm)
        if action == "promote":
            self.on_promotion(number)
        return promotion

    def begin(self, intent: Intent) -> tuple[Version, Promotion | None]:
        """Return the version to change, and the last promotion if the new version is to go live.

        Args:
            intent: Whether to override the quality gate, and whether to make the version live.
        """
        if intent.override and intent.promote:
            raise StoreError(
                "A change with an override cannot be promoted at once: make it without "
                "promote=True (--promote), review it, then promote it."
            )
        parent = self.journal.version()
        return parent, self.last_promotion(parent) if intent.promote else None

    def last_promotion(self, parent: Version, after: StateNames | None = None) -> Promotion:
        """Return the last promotion; raise an error if an unreviewed version would go live.

        Args:
            parent: Version that the new version is based on. Either it or the new version must
                equal the live version.
            after: Object names of the new version; None if they are not known yet.
        """
        last = self.journal.promotions()[-1]
        if self.journal.version(last.version).names not in (parent.names, after):
            raise CandidateWaitsError(self.journal.heads().newest.number, last.version)
        return last

    def add(
        self,
        parent: Version,
        draft: Draft,
        names: StateNames,
        intent: Intent,
        last: Promotion | None = None,
    ) -> Version:
        """Store a new version.

        Args:
            parent: Newest version, on which the new one is based.
            draft: Action, arguments and measurements of the new version.
            names: Object names of the new version.
            intent: Author, note and idempotency key.
            last: The last promotion if the new version goes live in the same transaction; None
                otherwise.
        """
        number, who = parent.number + 1, (intent.author_name, intent.note, now())
        key = intent.idempotency_key
        measures = draft.measures | ({"request": asdict(key)} if key else {})
        row = number, parent.number, draft.action, draft.detail
        version = Version(*row, *who, **vars(names), measures=measures)
        rows: list[Version | Promotion] = [version]
        if last:
            rows.append(Promotion(last.number + 1, number, "promote", *who))
        self.journal.add(*rows, confirm=lambda _: self._require_files(names))
        if last:
            self.on_promotion(number)
        return version

    def _require_files(self, names: StateNames) -> None:
        if self._objects.lacks(names.all):
            raise StoreChangedError(
                "Files that this version shares with older ones were pruned meanwhile by another "
                "process. Nothing was written; try again."
            )


def refuse_drop(diff: "Preview", advice: str) -> None:
    """Raise an error if a comparison shows a drop of held-out accuracy that exceeds noise.

    Args:
        diff: Comparison of the versions before and after the change.
    """
    objections = diff.objections()
    if objections:
        raise GateError(objections, advice)


def refuse_unmeasured(labels: "StoreLabels", diff: "Preview") -> None:
    """Raise an error if a version to promote has lost all held-out nodes.

    Without them, accuracy cannot be measured.

    Args:
        labels: Labels of the version before the change.
        diff: Comparison of the versions before and after the change.
    """
    num_held_out = sum(map(len, labels.held_out.values()))
    if num_held_out and not diff.before.nodes:
        raise GateError(
            [f"No held-out node is left to measure accuracy; there were {num_held_out:,}."],
            "Make it without promote=True (--promote), and review it.",
        )


def diff_measures(diff: "Preview") -> dict[str, Any]:
    """Return the measurements of a comparison that are stored with a version."""
    return {
        "before": diff.before.to_json(),
        "after": diff.after.to_json(),
        "asked": diff.num_compared,
        "new": diff.new.to_json(),
        "flipped": diff.flipped,
        "warnings": diff.warnings(),
    }
