"""Settings of a store that are kept in its database, so that all hosts share them."""

from typing import Any

from sqlalchemy import JSON, Column, Connection, String, Table, delete, insert, select

from nodegraft.base.errors import StoreError
from nodegraft.store.intent import Intent
from nodegraft.store.versions.audit import add_audit_entry
from nodegraft.store.versions.journal import metadata

SETTINGS = Table(
    "settings",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("value", JSON, nullable=False),
)


def read_setting(connection: Connection, name: str, default: Any) -> Any:
    """Return the value of a setting, or `default` where it was never set.

    Args:
        connection: The database.
        name: Name of the setting.
        default: Value of a setting that was never set.
    """
    wanted = select(SETTINGS.c.value).where(SETTINGS.c.name == name)
    try:
        row = connection.execute(wanted).first()
        return default if row is None else row.value
    except (ValueError, TypeError) as error:
        raise StoreError(
            f"Setting {name} in the store's database cannot be read ({error}): restore the "
            "database from a backup, then run `nodegraft verify STORE`."
        ) from error


def write_setting(connection: Connection, name: str, value: Any, intent: Intent) -> None:
    """Set a value and add an audit entry with the old and the new one.

    Args:
        connection: The database, in a transaction.
        name: Name of the setting.
        value: The new value, as plain JSON.
        intent: Author and note.
    """
    before = read_setting(connection, name, None)
    connection.execute(delete(SETTINGS).where(SETTINGS.c.name == name))
    connection.execute(insert(SETTINGS).values(name=name, value=value))
    add_audit_entry(connection, "set", {"name": name, "before": before, "after": value}, intent)
