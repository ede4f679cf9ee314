"""Audit log of a store: who changed a setting or a token, when, and how."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from nodegraft.analysis.version import now
from nodegraft.store.intent import Intent
from nodegraft.store.versions.journal import in_utc, metadata

AUDIT = sa.Table(
    "audit",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("action", sa.String(32), nullable=False),
    sa.Column("detail", sa.JSON, nullable=False),
    sa.Column("by", sa.Text, nullable=False),
    sa.Column("note", sa.Text, nullable=False),
    sa.Column("at", sa.DateTime(timezone=True), nullable=False),
)


@dataclass(frozen=True)
class AuditEntry:
    """Audit log entry: a change of a setting or of a token, which makes no version."""

    number: int
    """Number of the entry; the first entry has number 1."""

    action: str
    """Name of the action, such as ``set`` or ``token add``."""

    detail: dict[str, Any]
    """Details as plain JSON, such as the old and the new value, but never a token's secret."""

    by: str
    """Author of the change."""

    note: str
    """Author's note on the change."""

    at: datetime
    """Time of the change, in UTC."""


def add_audit_entry(
    connection: sa.Connection, action: str, detail: dict[str, Any], intent: Intent
) -> None:
    """Add an audit entry, in the same transaction as the change."""
    who = {"by": intent.author_name, "note": intent.note, "at": now()}
    connection.execute(sa.insert(AUDIT).values(action=action, detail=detail, **who))


def rewrite_audit(connection: sa.Connection, change: Callable[[str], str]) -> None:
    """Apply a function to all text in audit notes and details; only a purge may call this."""
    for entry in audit_entries(connection):
        note, detail = change(entry.note), _changed(entry.detail, change)
        if (note, detail) != (entry.note, entry.detail):
            update = sa.update(AUDIT).where(AUDIT.c.number == entry.number)
            connection.execute(update.values(note=note, detail=detail))


def _changed(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {name: _changed(part, change) for name, part in value.items()}
    if isinstance(value, list):
        return [_changed(part, change) for part in value]
    return value


def audit_entries(connection: sa.Connection) -> list[AuditEntry]:
    """Return all audit entries, oldest first."""
    rows = connection.execute(sa.select(AUDIT).order_by(AUDIT.c.number)).mappings()
    return [AuditEntry(**in_utc(row)) for row in rows]
