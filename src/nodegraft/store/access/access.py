"""Scopes and API tokens: what a caller of the HTTP service may do."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from hashlib import sha256

PREFIX = "nodegraft_"
"""What every token begins with, so that scanners for leaked secrets find it."""


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


@dataclass(frozen=True)
class Token:
    """An API token as the store keeps it: without its secret."""

    name: str
    """Unique name; changes made with the token are recorded as done by this name."""

    scope: Scope
    """What the token permits."""

    digest: str
    """SHA-256 of the secret, which has 256 random bits and cannot be guessed from it."""

    created_by: str
    """User who added the token."""

    created_at: datetime
    """Time of creation, in UTC."""

    last_used_at: datetime | None = None
    """Time of the last use, in UTC, exact to a minute; None for a token never used."""

    expires_at: datetime | None = None
    """Time from which the token is refused, in UTC; None for never."""

    def is_expired(self, at: datetime) -> bool:
        """Return whether the token is refused because of its age."""
        return self.expires_at is not None and at >= self.expires_at


@dataclass(frozen=True)
class TokenList:
    """The tokens of a store at one moment."""

    tokens: tuple[Token, ...]
    """All tokens, oldest first, expired ones included."""

    required: bool
    """Whether callers need a token: from the first one on, also after the last is revoked."""

    def valid(self, at: datetime) -> list[Token]:
        """Return the tokens that have not expired."""
        return [token for token in self.tokens if not token.is_expired(at)]


def secret_digest(secret: str) -> str:
    """Return the hash under which a token is kept."""
    return sha256(secret.encode(errors="replace")).hexdigest()
