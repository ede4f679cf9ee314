"""Settings of a store: read, changed, and who changed them."""

from typing import Any

from nodegraft.base.tabular import Records
from nodegraft.store.intent import Intent
from nodegraft.store.reader import StoreReader
from nodegraft.store.settings.known_settings import (
    KNOWN_SETTINGS,
    WORLD,
    SettingValue,
    refuse_open_world,
    set_value,
    setting_value,
)
from nodegraft.store.versions.audit import AuditEntry, audit_entries


class StoreWithSettings(StoreReader):
    """A store whose settings can be read and changed."""

    def settings(self) -> Records[SettingValue]:
        """Return all settings with value, default and meaning."""
        return Records(
            [
                SettingValue(name, self.setting(name), one.default, one.description)
                for name, one in KNOWN_SETTINGS.items()
            ]
        )

    def setting(self, name: str) -> Any:
        """Return the value of one setting.

        Args:
            name: Name of the setting, for example ``max_removed_share``.
        """
        if name == WORLD.name:
            return self.world
        with self._journal.connection() as connection:
            return setting_value(connection, name)

    def set_setting(self, name: str, value: Any, *, intent: Intent = Intent()) -> Any:
        """Change a setting for all hosts that use this store; return the new value.

        The old and the new value, who changed it and why are in :meth:`settings_history`.

        Args:
            name: Name of the setting.
            value: The new value, or its text.
            intent: Author and note.
        """
        intent.refuse("set_setting", "override", "promote", "idempotency_key")
        if (name, value) == (WORLD.name, "open") and (method := self.closed_method):
            refuse_open_world(method)
        # Alone, so that of two writers each sees the value that it replaces.
        with self._journal.transaction(alone=True) as connection:
            return set_value(connection, name, value, intent)

    def settings_history(self) -> Records[AuditEntry]:
        """Return all changes of settings, oldest first."""
        with self._journal.connection() as connection:
            entries = audit_entries(connection)
        return Records([entry for entry in entries if entry.action == "set"])
