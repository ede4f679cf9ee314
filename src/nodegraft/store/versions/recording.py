"""How a version is written down: what it did and what was measured, if gate and files allow it."""

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from nodegraft.analysis.version import Promotion, StateNames, Version, now
from nodegraft.base.errors import GateError, StoreChangedError, StoreError
from nodegraft.store.intent import Intent
from nodegraft.store.versions.promoting import StorePromoter

if TYPE_CHECKING:
    from nodegraft.analysis.labels.labels import StoreLabels
    from nodegraft.analysis.labels.succession import ClassSuccession
    from nodegraft.analysis.preview import Preview
    from nodegraft.analysis.snapshot import State

WITH_OVERRIDE = "To apply the change anyway, give a reason: override='…' (--override REASON)."


class StoreRecorder(StorePromoter):
    """What all that makes versions shares."""

    def _begun(self, intent: Intent) -> tuple[Version, Promotion | None]:
        """Return the version to change; and the last promotion if the new version goes live."""
        if intent.override and intent.promote:
            raise StoreError(
                "A change with an override cannot be promoted at once: make it without "
                "promote=True (--promote), review it, then promote it."
            )
        parent = self._journal.version()
        return parent, self._answering(parent) if intent.promote else None

    def _judged(
        self,
        parent: Version,
        before: "State | None",
        after: "State",
        done: "Done",
        intent: Intent,
        answering: Promotion | None,
        succession: "ClassSuccession | None" = None,
    ) -> Version:
        """Write a version down, unless held-out nodes speak against it and no reason is given.

        Where the version before cannot be asked, what was written down about it speaks.
        """
        from nodegraft.analysis.preview import compare, recalled

        seen = compare(before, after, succession) if before else recalled(parent.measures, after)
        if not intent.override:
            refuse_objections(seen, WITH_OVERRIDE)
        if answering:
            refuse_unchecked((before or after).labels, seen)
        measures = done.measures | measured(seen)
        if intent.override:
            measures["override"] = intent.override
        names = self._states.put_learned(after, parent.names)
        return self._added(parent, replace(done, measures=measures), names, intent, answering)

    def _added(
        self,
        parent: Version,
        done: "Done",
        names: StateNames,
        intent: Intent,
        answering: Promotion | None = None,
    ) -> Version:
        """Write a version down; it answers from then on where the last promotion is given."""
        number, who, at = parent.number + 1, intent.author_name, now()
        key = intent.idempotency_key
        version = Version(
            number,
            parent.number,
            done.action,
            done.detail,
            who,
            intent.note,
            at,
            **vars(names),
            measures=done.measures | ({"request": asdict(key)} if key else {}),
        )
        rows: list[Version | Promotion] = [version]
        if answering:
            rows.append(Promotion(answering.number + 1, number, "promote", who, intent.note, at))
        self._journal.add(*rows, confirm=lambda _: self._require_whole(names))
        return version

    def _require_whole(self, names: StateNames) -> None:
        if self._objects.lacks(names.all):
            raise StoreChangedError(
                "Files that this version shares with older ones were pruned meanwhile by another "
                "process. Nothing was written; try again."
            )


@dataclass(frozen=True)
class Done:
    """What makes a version what it is."""

    action: str
    """What was done."""

    detail: dict[str, Any]
    """With what."""

    measures: dict[str, Any]
    """What was measured before and after."""


def refuse_objections(seen: "Preview", advice: str) -> None:
    """Stop where held-out nodes speak against a version.

    Args:
        seen: The version and the one before it, compared.
        advice: What can be done about it.
    """
    objections = seen.objections()
    if objections:
        raise GateError(objections, advice)


def refuse_unchecked(labels: "StoreLabels", seen: "Preview") -> None:
    """Stop a promotion that held-out nodes of the version before could check, and none is left.

    Args:
        labels: Labels of the version before.
        seen: The version and the one before it, compared.
    """
    num_held_out = sum(map(len, labels.held_out.values()))
    if num_held_out and not seen.before.nodes:
        raise GateError(
            [f"No held-out node is left to measure accuracy; there were {num_held_out:,}."],
            "Make it without promote=True (--promote), and review it.",
        )


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
        "warnings": seen.warnings(),
    }
