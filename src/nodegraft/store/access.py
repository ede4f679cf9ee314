"""API tokens for access to the service, and their table in the database."""

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from secrets import token_urlsafe
from typing import Any, Self

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from nodegraft.analysis.version import now
from nodegraft.base.errors import ParameterError, StoreError
from nodegraft.base.files.folder import WriteOnceFolder
from nodegraft.store.intent import Intent
from nodegraft.store.objects.place import journal_in
from nodegraft.store.scope import Scope
from nodegraft.store.versions.audit import AUDIT, add_audit_entry
from nodegraft.store.versions.database import skip_locked
from nodegraft.store.versions.journal import Journal, as_utc, metadata
from nodegraft.store.versions.migration import require_current

PREFIX = "nodegraft_"
"""Prefix of every token's secret, so that secret scanners can recognise leaked tokens."""


@dataclass(frozen=True)
class Token:
    """API token as stored in the database: without its secret."""

    name: str
    """Unique name, which is recorded as the author of changes made with the token."""

    scope: Scope
    """Permission of the token."""

    digest: str
    """SHA-256 of the secret. The secret has 256 random bits and cannot be guessed from its hash."""

    created_by: str
    """User who added the token."""

    created_at: datetime
    """Time of creation, in UTC."""

    last_used_at: datetime | None = None
    """Time of the last use, in UTC, exact to a minute; None if the token was never used."""

    expires_at: datetime | None = None
    """Time from which the token is refused, in UTC; None if it does not expire."""

    def is_expired(self, at: datetime) -> bool:
        """Return whether the token has expired at a given time."""
        return self.expires_at is not None and at >= self.expires_at


@dataclass(frozen=True)
class TokenList:
    """List of a store's API tokens, and whether callers need a token."""

    tokens: tuple[Token, ...]
    """All tokens, oldest first, including expired ones."""

    required: bool
    """Whether callers need a token: true once a token was added, even if all are revoked now."""

    def valid(self, at: datetime) -> list[Token]:
        """Return the tokens that have not expired."""
        return [token for token in self.tokens if not token.is_expired(at)]


def secret_digest(secret: str) -> str:
    """Return the hash of a token's secret, which is stored instead of the secret."""
    return sha256(secret.encode(errors="replace")).hexdigest()


MARKER = "tokens"
"""File that marks a store that has or had tokens; the tokens themselves are in the database."""

_MARKER_TEXT = (
    b"This store has or had API tokens, so it is not served to callers without one, even if its "
    b"database is restored from a time before the first. Delete this file only if such a restored "
    b"database must be served without tokens again.\n"
)

ADD, REVOKE = "token add", "token revoke"
"""Actions in the audit log; an entry with one of them proves that the store has or had tokens."""

USE_INTERVAL = timedelta(minutes=1)
"""Minimum time between two updates of a token's last use."""

LONGEST_NAME = 100
"""Maximum number of characters in the name of a token."""

RESERVED_NAME = "local"
"""Reserved name of the anonymous caller on loopback. A token with this name would share the
caller's rate limit, and the history could not distinguish the two."""

TOKENS = sa.Table(
    "tokens",
    metadata,
    sa.Column("name", sa.String(LONGEST_NAME), primary_key=True),
    sa.Column("scope", sa.String(16), nullable=False),
    sa.Column("digest", sa.String(64), nullable=False, unique=True),
    sa.Column("created_by", sa.Text, nullable=False),
    sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("last_used_at", sa.DateTime(timezone=True)),
    sa.Column("expires_at", sa.DateTime(timezone=True)),
)


class StoreTokens:
    """Table of API tokens. Each change is one transaction together with its audit entry.

    Args:
        folder: Folder of the store.
        journal: Database of the store.
    """

    def __init__(self, folder: Path, journal: Journal) -> None:
        self._folder, self._journal = folder, journal

    @classmethod
    def open(cls, folder: str | Path) -> Self:
        """Open the token table of a store, with its own database connection."""
        place = Path(folder).expanduser()
        journal = journal_in(place)
        try:
            require_current(journal)
        except StoreError:
            journal.close()
            raise
        return cls(place, journal)

    def close(self) -> None:
        """Close the connection to the database."""
        self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read(self) -> TokenList:
        """Return all tokens, and whether callers need one."""
        try:
            with self._journal.connection() as connection:
                rows = connection.execute(
                    sa.select(TOKENS).order_by(TOKENS.c.created_at, TOKENS.c.name)
                ).mappings()
                tokens = tuple(_token(row) for row in rows)
                query = sa.select(AUDIT.c.number).where(AUDIT.c.action.in_((ADD, REVOKE))).limit(1)
                has_entry = connection.execute(query).first() is not None
                # A broken symbolic link counts as a marker, too.
                is_marked = os.path.lexists(self._folder / MARKER)
                return TokenList(tokens, bool(tokens) or is_marked or has_entry)
        except (StoreError, ValueError) as error:
            raise StoreError(
                f"The tokens of this store cannot be read: {str(error).rstrip('.')}. The store is "
                "not served until they can be; restore its database from a copy if it is damaged."
            ) from error

    def add(
        self,
        name: str,
        scope: Scope,
        *,
        expires_at: datetime | None = None,
        author: str | None = None,
    ) -> str:
        """Add a token and return its secret, which is not stored.

        Args:
            name: Unique name, up to 100 printable characters, not ``local``.
            expires_at: Time from which the token is refused, in UTC; None if it does not expire.
        """
        if not name.isprintable() or not 0 < len(name) <= LONGEST_NAME:
            raise ParameterError(
                f"The name of a token is 1 to {LONGEST_NAME} printable characters, not {name!r}."
            )
        if name == RESERVED_NAME:
            raise ParameterError(
                f"{RESERVED_NAME!r} is the name of callers without a token: choose another name."
            )
        secret, intent = PREFIX + token_urlsafe(32), Intent(author=author)
        digest, by = secret_digest(secret), intent.author_name
        token = Token(name, scope, digest, by, now(), expires_at=expires_at)
        detail = {
            "name": name,
            "scope": scope.value,
            "expires_at": expires_at and expires_at.isoformat(),
        }
        try:
            with self._journal.transaction() as connection:
                connection.execute(sa.insert(TOKENS).values(**vars(token)))
                add_audit_entry(connection, ADD, detail, intent)
                with suppress(OSError):
                    # With a database server, the folder may be read-only; the audit entry in the
                    # database is then enough to mark the store.
                    WriteOnceFolder(self._folder).write(MARKER, _MARKER_TEXT)
        except IntegrityError as error:
            raise ParameterError(
                f"There is a token called {name!r} already: choose another name, or revoke it "
                "first."
            ) from error
        return secret

    def revoke(self, name: str, *, author: str | None = None) -> None:
        """Delete a token. Every host refuses it within about a second."""
        with self._journal.transaction() as connection:
            # Delete before reading: SQLite refuses writes in a transaction that began with a read
            # if another process has written after that read.
            deleted = connection.execute(sa.delete(TOKENS).where(TOKENS.c.name == name))
            if deleted.rowcount:
                add_audit_entry(connection, REVOKE, {"name": name}, Intent(author=author))
                return
            names = connection.execute(sa.select(TOKENS.c.name).order_by(TOKENS.c.name)).scalars()
            known = ", ".join(names) or "none"
        raise ParameterError(f"There is no token called {name!r}. The store has: {known}.")

    def record_use(self, uses: Mapping[str, datetime]) -> None:
        """Store the time of the last use of tokens, at most once a minute for each token.

        The method does not wait for locks: if another process is writing, it raises an error.

        Args:
            uses: Hash of a token's secret -> time of its last use.
        """
        with self._journal.transaction() as connection, skip_locked(connection):
            for digest, at in uses.items():
                is_due = sa.or_(
                    TOKENS.c.last_used_at.is_(None), TOKENS.c.last_used_at <= at - USE_INTERVAL
                )
                connection.execute(
                    sa.update(TOKENS)
                    .where(TOKENS.c.digest == digest, is_due)
                    .values(last_used_at=at)
                )


def _token(row: Mapping[Any, Any]) -> Token:
    times = {
        name: row[name] and as_utc(row[name])
        for name in ("created_at", "last_used_at", "expires_at")
    }
    return Token(**{**row, **times, "scope": Scope(row["scope"])})
