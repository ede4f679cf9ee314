"""Permissions of API tokens. Nothing slow is imported: the command line reads them for its help."""

from enum import StrEnum


class Scope(StrEnum):
    """Permission of a token; each scope includes those before it."""

    READ = "read"
    TEACH = "teach"
    ADMIN = "admin"

    def allows(self, wanted: "Scope") -> bool:
        """Return whether this scope includes another one.

        >>> Scope.TEACH.allows(Scope.READ), Scope.TEACH.allows(Scope.ADMIN)
        (True, False)
        """
        order = list(Scope)
        return order.index(self) >= order.index(wanted)
