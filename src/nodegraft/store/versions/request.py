"""What somebody asked for under a key of theirs, so that asking again does nothing twice."""

from dataclasses import dataclass

from nodegraft.base.errors import RequestConflictError


@dataclass(frozen=True)
class Request:
    """A wish that may come again, as who sent it may not know whether it was fulfilled.

    It is written down with the version that it made, in the same row: both are there or none.
    """

    key: str
    """Chosen by who asks, another one for each wish."""

    content: str
    """A hash of all that was asked for."""

    promote: bool = False
    """Whether the version is to answer at once: both happen, or none."""

    def require_same(self, other: "Request") -> None:
        """Refuse a key that comes again with another wish.

        Args:
            other: What the key was used for before.
        """
        if self != other:
            raise RequestConflictError(self.key)
