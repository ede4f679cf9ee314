"""Registry of the settings that a store keeps in its database: name, default, check, meaning."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import Connection

from nodegraft.base.errors import ParameterError, StoreError
from nodegraft.model.confidence import DEFAULT_WORLD, WORLDS, World
from nodegraft.store.intent import Intent
from nodegraft.store.settings.options import read_setting, write_setting


@dataclass(frozen=True)
class KnownSetting:
    """A setting that every store has."""

    name: str
    """Its name."""

    default: Any
    """Its value in a store that never set it."""

    description: str
    """What it does, in one sentence."""

    parse: Callable[[Any], Any]
    """Return the checked value, as plain JSON, from a value or its text; raise ValueError with
    what is allowed."""


@dataclass(frozen=True)
class SettingValue:
    """A setting of one store."""

    name: str
    """Its name."""

    value: Any
    """Its value."""

    default: Any
    """Its value in a store that never set it."""

    description: str
    """What it does, in one sentence."""


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

KNOWN_SETTINGS = {one.name: one for one in (MAX_REMOVED_SHARE, WORLD)}
"""All settings by name. To add a setting, write a :class:`KnownSetting` and list it here."""


def refuse_open_world(method: str) -> None:
    """Refuse an open world for a method that cannot tell nodes of unknown classes.

    Args:
        method: Name of the method.
    """
    raise ParameterError(
        f"The world cannot be open: {method} has no open-set score, so every node is assumed to "
        "belong to a known class. Use the method graft, or a closed world. Nothing was changed."
    )


def known_setting(name: str) -> KnownSetting:
    """Return the definition of a setting; refuse an unknown name.

    Args:
        name: Name of the setting.
    """
    if name not in KNOWN_SETTINGS:
        raise ParameterError(
            f"There is no setting {name!r}. Known settings: {', '.join(KNOWN_SETTINGS)}."
        )
    return KNOWN_SETTINGS[name]


def setting_value(connection: Connection, name: str) -> Any:
    """Return the value of a known setting, or its default; refuse a value that is not allowed.

    Args:
        connection: The database.
        name: Name of the setting.
    """
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

    A value that is the same as before leaves no entry.

    Args:
        connection: The database, in a transaction.
        name: Name of the setting.
        value: The new value, or its text.
        intent: Author and note.
    """
    setting = known_setting(name)
    try:
        checked = setting.parse(value)
    except ValueError as error:
        raise ParameterError(
            f"Setting {name} must be {error}; {value!r} was given. Nothing was changed."
        ) from None
    # Not `setting_value`: a value that is not allowed can be replaced.
    if checked != read_setting(connection, name, setting.default):
        write_setting(connection, name, checked, intent)
    return checked
