"""Results of maintenance commands and of API tokens."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from nodegraft.analysis.results.maintenance import DamagedFile, SettingValue
from nodegraft.analysis.results.result import Result


@dataclass(frozen=True)
class Verified(Result):
    """Result of a checksum verification of a store.

    Args:
        files: Number of files that were compared with their checksums.
        unused: Number of files that no version uses.
        damaged: All damaged files.
        not_recorded: Reason why damage could not be recorded in the store; empty if it was
            recorded.
    """

    TABLE: ClassVar[str] = "damaged"

    files: int
    unused: int
    damaged: list[DamagedFile]
    not_recorded: str


@dataclass(frozen=True)
class Settings(Result):
    """List of all settings of a store.

    Args:
        settings: All settings of the store.
    """

    TABLE: ClassVar[str] = "settings"

    settings: list[SettingValue]


@dataclass(frozen=True)
class SettingChange:
    """Change of a setting.

    Args:
        name: Name of the setting.
        before: Value before the change; null for the default.
        after: Value after the change.
        by: Author of the change.
        note: Reason for the change.
        at: Time of the change in UTC.
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
        before: Value before the change.
        after: Value after the change.
    """

    name: str
    before: Any
    after: Any


@dataclass(frozen=True)
class Pruned(Result):
    """Result of a prune: old versions whose files were deleted.

    Args:
        versions: Numbers of the pruned versions.
        kept: Numbers of the versions that keep all their files.
        files: Number of deleted files.
        bytes: Total size of the deleted files in bytes.
        dry_run: Whether this was a dry run, which deletes nothing.
    """

    versions: list[int]
    kept: list[int]
    files: int
    bytes: int
    dry_run: bool


@dataclass(frozen=True)
class Purged(Result):
    """Result of a purge: nodes that were deleted from all versions.

    Args:
        nodes: Number of deleted nodes.
        live: Number of the live version, which was refitted without the deleted nodes.
        versions: Numbers of the versions that were deleted.
        rows: Number of history rows from which keys of deleted nodes were removed.
        files: Number of deleted files.
    """

    nodes: int
    live: int
    versions: list[int]
    rows: int
    files: int


@dataclass(frozen=True)
class Token:
    """API token, without its secret.

    Args:
        name: Name of the token's owner.
        scope: Permission of the token: `read`, `teach` or `admin`.
        created_at: Time of creation in UTC.
        last_used_at: Time of the last use in UTC; null if the token was never used.
        expires_at: Time from which the token is refused, in UTC; null if it does not expire.
        expired: Whether the token has expired.
    """

    name: str
    scope: str
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime | None
    expired: bool


@dataclass(frozen=True)
class Tokens(Result):
    """List of a store's API tokens.

    Args:
        required: Whether the service requires a token from callers.
        tokens: All API tokens of the store.
    """

    TABLE: ClassVar[str] = "tokens"

    required: bool
    tokens: list[Token]


@dataclass(frozen=True)
class AddedToken(Result):
    """New API token.

    Args:
        name: Name of the token's owner.
        scope: Permission of the token: `read`, `teach` or `admin`.
        expires_at: Time from which the token is refused, in UTC; null if it does not expire.
        token: Secret of the token, which is shown only once.
    """

    name: str
    scope: str
    expires_at: datetime | None
    token: str


@dataclass(frozen=True)
class RevokedToken(Result):
    """Revoked API token, which the service refuses.

    Args:
        name: Name of the token's owner.
    """

    name: str


@dataclass(frozen=True)
class Check:
    """Result of one check of `nodegraft doctor`.

    Args:
        name: Name of the check.
        status: `ok`, `warning` or `error`.
        message: Finding of the check.
        what_to_do: Advice on how to solve the problem; empty for `ok`.
    """

    name: str
    status: str
    message: str
    what_to_do: str = ""


@dataclass(frozen=True)
class Diagnosis(Result):
    """Result of all checks of the installation and, optionally, of a store.

    Args:
        status: Worst status of all checks: `ok`, `warning` or `error`. The exit code for `error` is
            1.
        checks: Results of all checks.
    """

    TABLE: ClassVar[str] = "checks"

    status: str
    checks: list[Check]
