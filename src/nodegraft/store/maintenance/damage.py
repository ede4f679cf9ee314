"""The record of damage that `nodegraft verify` found; a store that has one is not opened."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from nodegraft.analysis.version import now
from nodegraft.base.errors import StoreError
from nodegraft.store.intent import Intent
from nodegraft.store.settings import read_setting, write_setting
from nodegraft.store.versions.journal import Journal

DAMAGE = "damage"
"""The setting that holds the record; None after a verification that found nothing."""

DAMAGE_FILE = "damage.json"
"""File with the record if the database itself is damaged, so that nothing is written into it."""

LISTED = 20
"""Number of damaged files that are recorded by name."""


@dataclass(frozen=True)
class DamageRecord:
    """What the last verification found."""

    at: str
    """When, in UTC."""

    count: int
    """How many files are damaged."""

    files: tuple[str, ...]
    """The first of them."""

    def to_json(self) -> dict[str, Any]:
        """Return the record as plain JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> "DamageRecord":
        """Return the record from plain JSON."""
        files = document["files"]
        if not isinstance(files, list) or not files:
            raise ValueError("a record of damage names the damaged files")
        return cls(str(document["at"]), int(document["count"]), tuple(map(str, files)))


def refuse_damaged(folder: Path, journal: Journal) -> None:
    """Refuse to open a store in which a verification found damage."""
    found = _recorded(folder, journal)
    if found is None:
        return
    more = f" and {found.count - 1} more" if found.count > 1 else ""
    raise StoreError(
        f"This store is damaged: {found.files[0]}{more}, found by `nodegraft verify` on "
        f"{_minute(found.at)} UTC. Restore these files from a backup under the same names, "
        f"then run `nodegraft verify {folder}`: when it finds no damage, the store opens again."
    )


def record_damage(
    folder: Path, journal: Journal | None, files: Sequence[str], author: str | None
) -> DamageRecord | None:
    """Record what a verification found, or clear the record where it found nothing.

    Args:
        journal: Its database; None if nothing must be written into it.
        author: Who verifies; None for the logged-in user.
    """
    found = DamageRecord(now().isoformat(), len(files), tuple(files[:LISTED])) if files else None
    if journal is None:
        if found:
            _write_file(folder / DAMAGE_FILE, found)
        return found
    with journal.connection() as connection:
        before = read_setting(connection, DAMAGE, None)
    if found or before is not None:
        value = found.to_json() if found else None
        # Alone, as another process may verify at the same time.
        with journal.transaction(alone=True) as connection:
            intent = Intent(author=author, note="nodegraft verify")
            write_setting(connection, DAMAGE, value, intent)
    if not found:
        (folder / DAMAGE_FILE).unlink(missing_ok=True)
    return found


def _write_file(path: Path, found: DamageRecord) -> None:
    path.unlink(missing_ok=True)
    path.write_text(json.dumps(found.to_json(), indent=2) + "\n", encoding="utf-8")


def _recorded(folder: Path, journal: Journal) -> DamageRecord | None:
    try:
        written = (folder / DAMAGE_FILE).read_text(encoding="utf-8")
        return DamageRecord.from_json(json.loads(written))
    except FileNotFoundError:
        pass
    except (OSError, ValueError, KeyError, TypeError):
        # The file cannot be read, but it exists because there was damage.
        return DamageRecord(now().isoformat(), 1, ("its database",))
    with journal.connection() as connection:
        value = read_setting(connection, DAMAGE, None)
    try:
        return None if value is None else DamageRecord.from_json(value)
    except (KeyError, TypeError, ValueError):
        return DamageRecord(now().isoformat(), 1, ("its database",))


def _minute(at: str) -> str:
    try:
        return f"{datetime.fromisoformat(at):%Y-%m-%d %H:%M}"
    except ValueError:
        return at
