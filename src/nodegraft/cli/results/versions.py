"""Results of commands that make, list and promote versions."""

from dataclasses import dataclass
from typing import ClassVar

from nodegraft.analysis.results import versions
from nodegraft.analysis.results.result import Result


@dataclass(frozen=True, kw_only=True)
class NewVersion(versions.Changed):
    """New version of a store.

    Args:
        live: Number of the live version.
        candidate: Number of the version that waits for review; null without one.
        card: File of the model card of a version that is live; null without one.
    """

    live: int
    candidate: int | None
    card: str | None


@dataclass(frozen=True)
class History(Result):
    """Versions of a store.

    Args:
        live: Number of the live version.
        newest: Number of the newest version.
        candidate: Number of the version that waits for review; null without one.
        pruned: Numbers of the pruned versions.
        history: Changes, newest first.
    """

    TABLE: ClassVar[str] = "history"

    live: int
    newest: int
    candidate: int | None
    pruned: list[int]
    history: list[versions.HistoryEntry]


@dataclass(frozen=True, kw_only=True)
class Promoted(versions.Promoted):
    """The new live version.

    Args:
        card: File of its model card; null if it was not written.
    """

    card: str | None
