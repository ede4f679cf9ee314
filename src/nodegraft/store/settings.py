"""Settings of a store, stored in its database so that all hosts share them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import JSON, Column, Connection, String, Table, delete, insert, select

from nodegraft.analysis.results.maintenance import SettingValue
from nodegraft.base.errors import ParameterError, StoreError
from nodegraft.base.tabular import Records
from nodegraft.model.confidence import DEFAULT_WORLD, WORLDS, World
from nodegraft.store.intent import Intent
from nodegraft.store.objects.objects import Objects
from nodegraft.store.versions.audit import AuditEntry, add_audit_entry, audit_entries
from nodegraft.store.versions.journal import metadata
from nodegraft.store.versions.versions import Versions

SETTINGS = Table(
    "settings",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("value", JSON, nullable=False),
)


@dataclass(frozen=True)
class KnownSetting:
    """Definition of a setting that every store has."""

    name: str
    """Name of the setting."""

    default: Any
    """Default value, which applies until the setting is changed for the first time."""

    description: str
    """Effect of the setting, in one sentence."""

    parse: Callable[[Any], Any]
    """Function that checks or parses a value; its ValueError names the allowed values."""


def _share(value: Any) -> float:
    allowed = "a number from 0 to 1, for example 0.1"
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(allowed)
    try:
        share = float(value)
    except (ValueError, OverflowError):
        raise ValueError(allowed) from None
    if not 0.0 <= share <= 1.0:
        raise ValueError(allowed)
    return share


def _world(value: Any) -> World:
    if value not in WORLDS:
        raise ValueError(" or ".join(WORLDS))
    return cast("World", value)


MAX_REMOVED_SHARE = KnownSetting(
    "max_removed_share",
    0.1,
    "Largest share of all nodes, edges or labels that a sync may remove without an override.",
    _share,
)

WORLD = KnownSetting(
    "world",
    DEFAULT_WORLD,
    "Whether nodes may belong to unknown classes (open) or not (closed); it changes confidence, "
    "never a predicted class.",
    _world,
)

KNOWN_SETTINGS = {setting.name: setting for setting in (MAX_REMOVED_SHARE, WORLD)}
"""All settings by name. To add a setting, write a :class:`KnownSetting` and list it here."""


def refuse_open_world(method: str) -> None:
    """Raise an error for an open world with a method that has no open-set score."""
    raise ParameterError(
        f"The world cannot be open: {method} has no open-set score, so every node is assumed to "
        "belong to a known class. Use the method graft, or a closed world. Nothing was changed."
    )


def known_setting(name: str) -> KnownSetting:
    """Return the definition of a setting; raise an error if there is no setting of this name."""
    if name not in KNOWN_SETTINGS:
        raise ParameterError(
            f"There is no setting {name!r}. Known settings: {', '.join(KNOWN_SETTINGS)}."
        )
    return KNOWN_SETTINGS[name]


def read_setting(connection: Connection, name: str, default: Any) -> Any:
    """Return the value of a setting, or `default` if it was never set."""
    query = select(SETTINGS.c.value).where(SETTINGS.c.name == name)
    try:
        row = connection.execute(query).first()
        return default if row is None else row.value
    except (ValueError, TypeError) as error:
        raise StoreError(
            f"Setting {name} in the store's database cannot be read ({error}): restore the "
            "database from a backup, then run `nodegraft verify STORE`."
        ) from error


def write_setting(connection: Connection, name: str, value: Any, intent: Intent) -> None:
    """Write the value of a setting, and an audit entry with the old and the new value."""
    before = read_setting(connection, name, None)
    connection.execute(delete(SETTINGS).where(SETTINGS.c.name == name))
    connection.execute(insert(SETTINGS).values(name=name, value=value))
    add_audit_entry(connection, "set", {"name": name, "before": before, "after": value}, intent)


def setting_value(connection: Connection, name: str) -> Any:
    """Return the value of a known setting, or its default; raise an error if it is invalid."""
    setting = known_setting(name)
    value = read_setting(connection, name, setting.default)
    try:
        return setting.parse(value)
    except (ValueError, TypeError) as error:
        raise StoreError(
            f"Setting {name} in the store's database must be {error}; it is {value!r}. Set it with "
            f"`nodegraft settings STORE {name}=VALUE`."
        ) from None


def set_value(connection: Connection, name: str, value: Any, intent: Intent) -> Any:
    """Check and write the value of a known setting, with an audit entry; return the value.

    If the value does not change, nothing is written.
    """
    setting = known_setting(name)
    try:
        checked = setting.parse(value)
    except ValueError as error:
        raise ParameterError(
            f"Setting {name} must be {error}; {value!r} was given. Nothing was changed."
        ) from None
    # Use `read_setting`, because `setting_value` would raise an error for an invalid stored value,
    # which could then never be replaced.
    if checked != read_setting(connection, name, setting.default):
        write_setting(connection, name, checked, intent)
    return checked


class Settings:
    """Settings of one store.

    Args:
        versions: Versions of the store.
        objects: Files of the store's versions.
    """

    def __init__(self, versions: Versions, objects: Objects) -> None:
        self._versions, self._journal, self._objects = versions, versions.journal, objects

    def all(self) -> Records[SettingValue]:
        """Return all settings with their values, defaults and descriptions."""
        return Records(
            [
                SettingValue(name, self.value(name), known.default, known.description)
                for name, known in KNOWN_SETTINGS.items()
            ]
        )

    def value(self, name: str) -> Any:
        """Return the value of a setting."""
        return self.world if name == WORLD.name else self._stored(name)

    def set(self, name: str, value: Any, intent: Intent) -> Any:
        """Change a setting; return the new value."""
        intent.refuse("set_setting", "override", "promote", "idempotency_key")
        if (name, value) == (WORLD.name, "open") and (method := self.closed_method):
            refuse_open_world(method)
        # The transaction is exclusive: even with two concurrent writers, each audit entry contains
        # the value that was replaced.
        with self._journal.transaction(alone=True) as connection:
            return set_value(connection, name, value, intent)

    def history(self) -> Records[AuditEntry]:
        """Return all changes of settings, oldest first."""
        with self._journal.connection() as connection:
            entries = audit_entries(connection)
        return Records([entry for entry in entries if entry.action == "set"])

    @property
    def world(self) -> World:
        """Value of the setting ``world``; always ``closed`` if the method has no open-set score."""
        return "closed" if self.closed_method else self.declared_world

    @property
    def declared_world(self) -> World:
        """Stored value of ``world``, which a method without an open-set score ignores."""
        return cast("World", self._stored(WORLD.name))

    @property
    def closed_method(self) -> str | None:
        """Name of the live version's method if it has no open-set score; None if it has one."""
        from nodegraft.model.registry import has_open_set_score

        model = self._journal.version(self._versions.live).model
        method: str = self._objects.document(model)["method"]
        return None if has_open_set_score(method) else method

    def _stored(self, name: str) -> Any:
        with self._journal.connection() as connection:
            return setting_value(connection, name)
