"""When the method of a store was last fitted, and whether another fit may pay."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nodegraft.analysis.version import Version
from nodegraft.store.versions.lineage import lineage

if TYPE_CHECKING:
    from nodegraft.analysis.labels.labels import StoreLabels

FITTED = ("init", "refit")
"""Actions that fit a method from the start."""

WORTH_ANOTHER = 2.0
"""How many times the labels of the last fit there must be for another to be worth a try."""


@dataclass(frozen=True)
class LastFit:
    """The fit behind the newest version."""

    labels: int
    """How many labels taught then."""

    labels_now: int
    """How many teach now."""

    seconds: float
    """How long it took."""

    @property
    def is_dated(self) -> bool:
        """Whether there are so many more labels now that another fit may pay."""
        return self.labels_now >= WORTH_ANOTHER * self.labels


def fit_measures(labels: "StoreLabels", seconds: float) -> dict[str, Any]:
    """What is written down of a fit.

    Args:
        labels: Those it was fitted on.
        seconds: How long it took.
    """
    return {"labels": labels.num_teaching, "seconds": round(seconds, 1)}


def fitted_in(versions: Sequence[Version]) -> Version:
    """The version whose fit the newest one still has.

    Args:
        versions: All of them, oldest first.
    """
    return next(one for one in reversed(lineage(versions)) if one.action in FITTED)
