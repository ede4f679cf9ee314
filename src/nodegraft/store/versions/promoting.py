"""Which version of a store answers: the newest is a candidate until somebody promotes it."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from nodegraft.analysis.version import Promotion, StateNames, Version, now
from nodegraft.base.errors import CandidateWaitsError, StoreChangedError, StoreError
from nodegraft.store.intent import Intent
from nodegraft.store.settings.store_settings import StoreWithSettings
from nodegraft.store.versions.journal import candidate_in

if TYPE_CHECKING:
    from sqlalchemy import Connection


class StorePromoter(StoreWithSettings):
    """What chooses the version that answers."""

    def promote(
        self,
        version: int | None = None,
        *,
        only_waiting: bool = False,
        intent: Intent = Intent(),
    ) -> Promotion:
        """Let a version answer.

        Args:
            version: Which one; None for the candidate.
            only_waiting: Whether to refuse a version that does not wait for review, such as one
                that somebody discarded or changed since it was reviewed.
            intent: Author and note.
        """
        chosen = self._journal.candidate() if version is None else self._journal.version(version)
        if not only_waiting:
            return self._promoted(chosen.number, "promote", intent)
        if chosen != self.waiting():
            newest = self._journal.candidate()
            raise StoreError(
                f"Version {chosen.number} was not promoted: it is not waiting for review. The "
                f"newest version is {newest.number} ({newest.action} by {newest.by}, "
                f"{newest.at:%Y-%m-%d %H:%M} UTC)."
            )

        def confirm(connection: "Connection") -> None:
            newest = candidate_in(connection)
            if newest != chosen.number:
                raise StoreChangedError(
                    f"Version {chosen.number} was not promoted: version {newest} was made "
                    "meanwhile."
                )

        return self._promoted(chosen.number, "promote", intent, confirm)

    def rollback(self, *, intent: Intent = Intent()) -> Promotion:
        """Let the version answer that answered before the champion.

        Args:
            intent: Author and note.
        """
        stack = answered_before(self._journal.promotions())
        if len(stack) < 2:
            raise StoreError(
                f"Version {stack[-1]} is the first live version: there is none to roll back to."
            )
        return self._promoted(stack[-2], "rollback", intent)

    def _promoted(
        self,
        version: int,
        action: str,
        intent: Intent,
        confirm: Callable[["Connection"], None] | None = None,
    ) -> Promotion:
        intent.refuse(action, "override", "promote", "idempotency_key")
        if version == self.champion:
            raise StoreError(f"Version {version} is already live.")
        number = self._journal.promotions()[-1].number + 1
        move = Promotion(number, version, action, intent.author_name, intent.note, now())
        self._journal.add(move, confirm=confirm)
        return move

    def _answering(self, parent: Version, after: StateNames | None = None) -> Promotion:
        """Return the last promotion, unless a new version would carry an unreviewed one live.

        Args:
            parent: The version that the new one is made from.
            after: The objects of the new version, where they are known before it is made.
        """
        last = self._journal.promotions()[-1]
        if self._journal.version(last.version).names not in (parent.names, after):
            raise CandidateWaitsError(self._journal.candidate().number, last.version)
        return last


def answered_before(moves: Sequence[Promotion]) -> list[int]:
    """The versions that rollbacks lead back to, one after the other; the champion is the last.

    Args:
        moves: All promotions, oldest first.
    """
    stack: list[int] = []
    for move in moves:
        if move.action == "rollback":
            stack.pop()
        else:
            stack.append(move.version)
    return stack
