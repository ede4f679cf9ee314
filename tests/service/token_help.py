"""Tokens for tests of the service."""

from pathlib import Path
from typing import Any

from nodegraft.store.access import StoreTokens
from nodegraft.store.scope import Scope


def added(place: Path, name: str, scope: Scope, **options: Any) -> str:
    """Add a token to a store and return its secret."""
    with StoreTokens.open(place) as tokens:
        return tokens.add(name, scope, **options)


def revoke(place: Path, name: str) -> None:
    with StoreTokens.open(place) as tokens:
        tokens.revoke(name)


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}
