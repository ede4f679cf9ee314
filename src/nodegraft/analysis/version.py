"""What is written down of every change of a store, and of which version answers."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

PRUNING = ("prune", "purge")
"""Actions after which versions that they list have no objects any more."""


@dataclass(frozen=True)
class StateNames:
    """The objects that a version is kept in."""

    graph: str
    """Of the graph."""

    labels: str
    """Of the labels."""

    model: str
    """Of the model."""

    texts: str | None
    """Of the texts that people read; None where there are none."""

    @property
    def all(self) -> tuple[str, ...]:
        """The names of all there are."""
        found = (self.graph, self.labels, self.model, self.texts)
        return tuple(name for name in found if name is not None)


@dataclass(frozen=True)
class Version:
    """What a store was after one change."""

    number: int
    """1 for the first."""

    parent: int | None
    """The version that was changed; None for the first."""

    action: str
    """What was done: ``init``, ``add``, ``undo`` …"""

    detail: dict[str, Any]
    """With what, as plain JSON: enough to do it again."""

    by: str
    """Who did it."""

    note: str
    """Why, in their words."""

    at: datetime
    """When, in UTC."""

    graph: str
    """The object that holds the graph."""

    labels: str
    """The object that holds the labels."""

    model: str
    """The object that holds the model."""

    measures: dict[str, Any]
    """What was measured before and after."""

    texts: str | None
    """The object that holds the texts of nodes; None where there are none."""

    @property
    def names(self) -> StateNames:
        """The objects that it is kept in."""
        return StateNames(self.graph, self.labels, self.model, self.texts)


@dataclass(frozen=True)
class Promotion:
    """One change of the version that answers."""

    number: int
    """1 for the first."""

    version: int
    """The version that answers from then on."""

    action: str
    """``init``, ``promote`` or ``rollback``."""

    by: str
    """Who did it."""

    note: str
    """Why, in their words."""

    at: datetime
    """When, in UTC."""


def now() -> datetime:
    """This moment, in UTC."""
    return datetime.now(UTC)
