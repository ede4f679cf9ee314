"""Permissions of API tokens; this module imports quickly, because the CLI needs it for its help."""

from enum import StrEnum


class Scope(StrEnum):
    """Permission of an API token; each scope includes the scopes listed before it."""

    READ = "read"
    TEACH = "teach"
    ADMIN = "admin"

    def allows(self, scope: "Scope") -> bool:
        """Return whether this scope includes another one.

        >>> Scope.TEACH.allows(Scope.READ), Scope.TEACH.allows(Scope.ADMIN)
        (True, False)
        """
        order = list(Scope)
        return order.index(self) >= order.index(scope)
