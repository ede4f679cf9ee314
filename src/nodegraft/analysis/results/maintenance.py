"""Results of settings, verification and migration of a store."""

from dataclasses import dataclass
from typing import Any

from nodegraft.analysis.results.result import Result


@dataclass(frozen=True)
class SettingValue:
    """Setting of a store.

    Args:
        name: Name of the setting.
        value: Current value of the setting.
        default: Value in a store that never changed the setting.
        description: Effect of the setting, in one sentence.
    """

    name: str
    value: Any
    default: Any
    description: str


@dataclass(frozen=True)
class DamagedFile:
    """Damaged file of a store.

    Args:
        file: Path of the damaged file.
        problem: Description of the damage.
        advice: Advice on how to repair the file.
        blocks: Whether the store cannot be opened until the file is restored.
    """

    file: str
    problem: str
    advice: str
    blocks: bool


@dataclass(frozen=True)
class Migration(Result):
    """Migration of a store's database tables.

    Args:
        before: Revision of the tables before the migration.
        after: Revision of the tables after the migration; equal to `before` if they were up to
            date.
    """

    before: str
    after: str
