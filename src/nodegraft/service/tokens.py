"""Who may ask a service for what: tokens with a scope, of which a store keeps the hashes alone."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import StrEnum
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path
from secrets import token_urlsafe
from uuid import uuid4

from nodegraft.base.errors import ParameterError, StoreError
from nodegraft.base.files.flush import flush_to_disk

FILE = "tokens.json"
"""In the folder of the store, for its owner's eyes."""

PREFIX = "nodegraft_"
"""What every token begins with, so that scanners for leaked secrets find it."""


class Scope(StrEnum):
    """What a token is good for; each allows what those before it do."""

    READ = "read"
    TEACH = "teach"
    ADMIN = "admin"

    def allows(self, wanted: "Scope") -> bool:
        """Whether it is enough.

        >>> Scope.TEACH.allows(Scope.READ), Scope.TEACH.allows(Scope.ADMIN)
        (True, False)

        Args:
            wanted: What is needed.
        """
        order = list(Scope)
        return order.index(self) >= order.index(wanted)


@dataclass(frozen=True)
class Token:
    """What is kept of a token."""

    name: str
    """Whose it is: changes made with it are written down as done by this name."""

    scope: Scope
    """What it is good for."""

    digest: str
    """The SHA-256 of the token. It has 256 random bits: nobody guesses them, however fast."""


class Tokens:
    """The tokens of a store. A file that has changed is read again when it is asked.

    Args:
        store: The folder of the store.
    """

    def __init__(self, store: Path) -> None:
        self._path = store / FILE
        self._seen: tuple[int, int] | None = None
        self._listed: tuple[Token, ...] = ()

    def listed(self) -> tuple[Token, ...]:
        """All of them, oldest first."""
        try:
            about = self._path.stat()
        except FileNotFoundError:
            return ()
        stamp = about.st_mtime_ns, about.st_ino
        if stamp != self._seen:
            self._listed, self._seen = self._read(), stamp
        return self._listed

    @property
    def required(self) -> bool:
        """Whether a caller must show one: also when the last one has been revoked."""
        return self._path.exists()

    def find(self, secret: str) -> Token | None:
        """The token that a caller has shown; None if there is none.

        Args:
            secret: What the caller has shown.
        """
        digest = _digest(secret)
        # All are compared, each in the same time: how long it takes says nothing.
        found = [one for one in self.listed() if compare_digest(one.digest, digest)]
        return found[0] if found else None

    def add(self, name: str, scope: Scope) -> str:
        """Make a token; it is given back this once.

        Args:
            name: Whose it is.
            scope: What it is good for.
        """
        if not name.isprintable() or not 0 < len(name) <= 100:
            raise ParameterError(f"The name of a token is up to 100 letters, not {name!r}.")
        secret = PREFIX + token_urlsafe(32)
        with self._changing() as tokens:
            if any(one.name == name for one in tokens):
                raise ParameterError(
                    f"There is a token called {name!r} already: choose another name, or revoke it."
                )
            tokens.append(Token(name, scope, _digest(secret)))
        return secret

    def revoke(self, name: str) -> None:
        """Make a token worthless, at once.

        Args:
            name: Whose it is.
        """
        with self._changing() as tokens:
            left = [one for one in tokens if one.name != name]
            if len(left) == len(tokens):
                known = ", ".join(one.name for one in tokens) or "none"
                raise ParameterError(f"There is no token called {name!r}. There are: {known}.")
            tokens[:] = left

    @contextmanager
    def _changing(self) -> Iterator[list[Token]]:
        tokens = list(self.listed())
        yield tokens
        draft = self._path.with_name(f".{FILE}.{uuid4().hex}")
        content = json.dumps({"format": 1, "tokens": [asdict(one) for one in tokens]}, indent=2)
        try:
            # Nobody else may read it, not even for a moment.
            with os.fdopen(
                os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w"
            ) as file:
                file.write(content + "\n")
            flush_to_disk(draft)
            draft.replace(self._path)
            flush_to_disk(self._path.parent)
        except OSError as error:
            raise StoreError(f"{self._path} cannot be written: {error}.") from error
        finally:
            draft.unlink(missing_ok=True)

    def _read(self) -> tuple[Token, ...]:
        try:
            listed = json.loads(self._path.read_text(encoding="utf-8"))["tokens"]
            return tuple(
                Token(str(one["name"]), Scope(one["scope"]), str(one["digest"])) for one in listed
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StoreError(
                f"{self._path} cannot be read: {error}. Bring it back from a copy, or delete it "
                "and make new tokens."
            ) from error


def _digest(secret: str) -> str:
    return sha256(secret.encode(errors="replace")).hexdigest()
