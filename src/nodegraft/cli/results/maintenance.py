"""Results of maintenance commands and of API tokens."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from nodegraft.analysis.results.result import Result


@dataclass(frozen=True)
class DamagedFile:
    """File that is not as it was written.

    Args:
        file: The file.
        problem: What is wrong with it.
        advice: What to do.
        blocks: Whether the store is not opened until the file is restored.
    """

    file: str
    problem: str
    advice: str
    blocks: bool


@dataclass(frozen=True)
class Verified(Result):
    """Files compared with their checksums.

    Args:
        files: Number of files.
        unused: Number of files that no version uses.
        damaged: The damaged files.
        not_recorded: Why damage could not be recorded in the store; empty if it was.
    """

    TABLE: ClassVar[str] = "damaged"

    files: int
    unused: int
    damaged: list[DamagedFile]
    not_recorded: str


@dataclass(frozen=True)
class Setting:
    """Setting of a store.

    Args:
        name: Its name.
        value: Its value.
        default: Its value in a store that never set it.
        description: What it does.
    """

    name: str
    value: Any
    default: Any
    description: str


@dataclass(frozen=True)
class Settings(Result):
    """Settings of a store.

    Args:
        settings: The settings.
    """

    TABLE: ClassVar[str] = "settings"

    settings: list[Setting]


@dataclass(frozen=True)
class SettingChange:
    """Change of a setting.

    Args:
        name: Name of the setting.
        before: Value before; null for the default.
        after: Value after.
        by: Author.
        note: Reason.
        at: Time in UTC.
    """

    name: str
    before: Any
    after: Any
    by: str
    note: str
    at: datetime


@dataclass(frozen=True)
class SettingsHistory(Result):
    """Changes of settings (`--history`).

    Args:
        history: Changes, newest first.
    """

    TABLE: ClassVar[str] = "history"

    history: list[SettingChange]


@dataclass(frozen=True)
class ChangedSetting(Result):
    """New value of a setting (`NAME=VALUE`).

    Args:
        name: Name of the setting.
        before: Value before.
        after: Value after.
    """

    name: str
    before: Any
    after: Any


@dataclass(frozen=True)
class Pruned(Result):
    """Old versions whose files were deleted.

    Args:
        versions: Numbers of these versions.
        kept: Numbers of the versions that stay whole.
        files: Number of files.
        bytes: Their size.
        dry_run: Whether nothing was deleted.
    """

    versions: list[int]
    kept: list[int]
    files: int
    bytes: int
    dry_run: bool


@dataclass(frozen=True)
class Purged(Result):
    """Nodes that were deleted from all versions.

    Args:
        nodes: Number of nodes.
        live: Number of the live version, rebuilt without them.
        versions: Numbers of the versions that were deleted.
        rows: Number of rows of the history from which their keys were removed.
        files: Number of deleted files.
    """

    nodes: int
    live: int
    versions: list[int]
    rows: int
    files: int


@dataclass(frozen=True)
class Migrated(Result):
    """Update of a store's tables.

    Args:
        before: Revision before.
        after: Revision after; equal to `before` if there was nothing to do.
    """

    before: str
    after: str


@dataclass(frozen=True)
class Token:
    """API token, without its secret.

    Args:
        name: Name of its owner.
        scope: What it permits: `read`, `teach` or `admin`.
        created_at: Time of creation in UTC.
        last_used_at: Time of the last use; null for a token never used.
        expires_at: Time from which it is refused; null for never.
        expired: Whether it is refused because of its age.
    """

    name: str
    scope: str
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime | None
    expired: bool


@dataclass(frozen=True)
class Tokens(Result):
    """API tokens of a store.

    Args:
        required: Whether the service asks callers for a token.
        tokens: The tokens.
    """

    TABLE: ClassVar[str] = "tokens"

    required: bool
    tokens: list[Token]


@dataclass(frozen=True)
class AddedToken(Result):
    """New API token.

    Args:
        name: Name of its owner.
        scope: What it permits.
        expires_at: Time from which it is refused, in UTC; null for never.
        token: The token, which is shown only once.
    """

    name: str
    scope: str
    expires_at: datetime | None
    token: str


@dataclass(frozen=True)
class RevokedToken(Result):
    """API token that is refused from now on.

    Args:
        name: Name of its owner.
    """

    name: str


@dataclass(frozen=True)
class Check:
    """One check of `nodegraft doctor`.

    Args:
        name: What was checked.
        status: `ok`, `warning` or `error`.
        message: What was found.
        what_to_do: What to do about it; empty for `ok`.
    """

    name: str
    status: str
    message: str
    what_to_do: str = ""


@dataclass(frozen=True)
class Diagnosis(Result):
    """State of the installation and of a store.

    Args:
        status: The worst status: `ok`, `warning` or `error`; exit code 1 for `error`.
        checks: The checks.
    """

    TABLE: ClassVar[str] = "checks"

    status: str
    checks: list[Check]
