"""World of a store: a setting in its database that decides what confidence means.

Changing it changes the confidence of predictions, and with it which ones are withheld; never a
class, and no version is made.
"""

from typing import cast

from sqlalchemy import Connection

from nodegraft.base.parameters.validate import validate_value
from nodegraft.model.confidence import DEFAULT_WORLD, World
from nodegraft.store.options import read_setting, write_setting

WORLD = "world"
"""Name of the setting."""


def read_world(connection: Connection) -> World:
    """Return the world of a store.

    Args:
        connection: The database.
    """
    return cast("World", read_setting(connection, WORLD, DEFAULT_WORLD))


def write_world(connection: Connection, world: World, by: str, note: str = "") -> None:
    """Set the world of a store and add an audit entry; nothing is written if it is unchanged.

    Args:
        connection: The database, in a transaction.
        world: ``open`` or ``closed``.
        by: Who does it.
        note: Why.
    """
    validate_value(WORLD, world, World)
    if read_world(connection) != world:
        write_setting(connection, WORLD, world, by, note)
