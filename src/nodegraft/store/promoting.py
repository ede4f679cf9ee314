"""Which version of a store answers: the newest is a candidate until somebody promotes it."""

from collections.abc import Sequence

from nodegraft.base.errors import CandidateWaitsError, StoreError
from nodegraft.store.authorship import author, writable
from nodegraft.store.rows import Promotion, StateNames, Version, now
from nodegraft.store.store_settings import StoreWithSettings


class StorePromoter(StoreWithSettings):
    """What chooses the version that answers."""

    def promote(
        self, version: int | None = None, *, by: str | None = None, note: str = ""
    ) -> Promotion:
        """Let a version answer.

        Args:
            version: Which one; None for the candidate.
            by: Who does it; None for the user that is logged in.
            note: Why.
        """
        chosen = self._journal.candidate() if version is None else self._journal.version(version)
        return self._promoted(chosen.number, "promote", by, note)

    def rollback(self, *, by: str | None = None, note: str = "") -> Promotion:
        """Let the version answer that answered before the champion.

        Args:
            by: Who does it; None for the user that is logged in.
            note: Why.
        """
        stack = answered_before(self._journal.promotions())
        if len(stack) < 2:
            raise StoreError(
                f"No version answered before version {stack[-1]}: there is none to go back to."
            )
        return self._promoted(stack[-2], "rollback", by, note)

    def _promoted(self, version: int, action: str, by: str | None, note: str) -> Promotion:
        if version == self.champion:
            raise StoreError(f"Version {version} is the one that answers already.")
        number = self._journal.promotions()[-1].number + 1
        move = Promotion(number, version, action, author(by), writable(note), now())
        self._journal.add(move)
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
