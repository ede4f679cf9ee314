"""Lineage of versions: changes that later versions have not undone, and diffs of two versions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nodegraft.analysis.results.comparisons import Diff
from nodegraft.analysis.results.versions import HistoryEntry
from nodegraft.analysis.version import Promotion, Version
from nodegraft.base.errors import StoreError

if TYPE_CHECKING:
    from nodegraft.analysis.preview import Preview
    from nodegraft.store.store import Store


def lineage(versions: Sequence[Version]) -> list[Version]:
    """Return the versions whose changes the newest version still contains, oldest first.

    A version that restored an earlier version is left out, together with the versions that it
    reverted. Such a version is a discard, or an undo of the version that was the newest then.

    Args:
        versions: All versions, oldest first.
    """
    by_number = {version.number: version for version in versions}
    contained: list[Version] = []
    number: int | None = versions[-1].number
    while number is not None:
        version = by_number[number]
        number = _restored(version, by_number)
        if number is None:
            contained.append(version)
            number = version.parent
    return contained[::-1]


def unreviewed(versions: Sequence[Version], live: Version) -> list[Version]:
    """Return the versions added after the last version that equals a given one.

    Args:
        versions: All versions, oldest first.
        live: Version to compare with, usually the live version.
    """
    last = max(version.number for version in versions if version.names == live.names)
    return [version for version in versions if version.number > last and version.action != "prune"]


def versions_to_compare(
    store: "Store", before: int | None, after: int | None
) -> tuple[Version, Version]:
    """Return two versions to compare, by default what a promotion would change or has changed.

    Args:
        before: Number of the earlier version; None for the live version or, if the later version is
            the live one, for the version that was live before it.
        after: Number of the later version; None for the one that waits for review or, if none does,
            for the live version.
    """
    waiting = store.waiting() if after is None else None
    later = waiting or store.version(store.live if after is None else after)
    if before is None:
        stack = live_versions(store.promotions())
        if later.number == stack[-1]:
            stack.pop()
        if not stack:
            raise StoreError(
                f"Version {later.number} is the first live version: there is none to compare it "
                "with. Give the numbers of two versions."
            )
        before = stack[-1]
    return store.version(before), later


def diff_result(store: "Store", before: Version, after: Version) -> "tuple[Preview, Diff]":
    """Compare the predictions, classes and history of two versions."""
    preview = store.diff(before.number, after.number)
    known, known_after = (store.state(version.number).labels for version in (before, after))
    last = max(before.number, after.number)
    versions = unreviewed([row for row in store.history() if row.number <= last], before)
    changes = [row for row in versions[::-1] if row.number <= after.number]
    return preview, Diff.of(
        after,
        preview,
        compared_with=before.number,
        history=list(map(HistoryEntry.of, changes)),
        held_out=preview.before.nodes,
        classes_added=[name for name in known_after if name not in known],
        classes_removed=[name for name in known if name not in known_after],
    )


def _restored(version: Version, by_number: dict[int, Version]) -> int | None:
    """Return the number of the earlier version that a version restored; None if there is none."""
    number: int | None = None
    if version.action == "discard":
        number = version.detail["version"]
    elif version.action == "undo":
        number = by_number[version.detail["version"]].parent
    # The undo of an older version applies later changes again, so it restores no earlier version.
    if number is None or by_number[number].names != version.names:
        return None
    return number


def live_versions(promotions: Sequence[Promotion]) -> list[int]:
    """Return the stack of live versions: the last is live, and each rollback removes the last.

    Args:
        promotions: All promotions, oldest first.
    """
    stack: list[int] = []
    for promotion in promotions:
        if promotion.action == "rollback":
            stack.pop()
        else:
            stack.append(promotion.version)
    return stack
