"""Changes of the labels of a store, each a name with plain JSON, so that it can be applied again.

A preview is the same computation without its last step. An older change is undone by applying the
later changes again to the labels before it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from nodegraft.analysis.labels.labels import StoreLabels
from nodegraft.analysis.labels.succession import ClassSuccession
from nodegraft.base.errors import NodegraftError, StoreError

_ACTIONS: Mapping[str, Callable[..., StoreLabels]] = {
    "add": StoreLabels.added,
    "label": StoreLabels.labelled,
    "unlabel": StoreLabels.unlabelled,
    "relabel": StoreLabels.relabelled,
    "remove": StoreLabels.removed,
    "rename": StoreLabels.renamed,
    "merge": StoreLabels.merged,
    "split": StoreLabels.split,
}

_NAMING = ("add", "rename", "merge", "split")


@dataclass(frozen=True)
class Change:
    """One change of labels."""

    action: str
    """What is done, as the command is called."""

    detail: dict[str, Any]
    """With what: the arguments of the method of :class:`StoreLabels`, by name."""

    def applied(self, labels: StoreLabels) -> StoreLabels:
        """The labels after it.

        Args:
            labels: The labels before.
        """
        return _ACTIONS[self.action](labels, **self.detail)

    def succession(self) -> ClassSuccession:
        """Return which classes it renames, merges or splits into which."""
        detail = self.detail
        match self.action:
            case "rename":
                return ClassSuccession({detail["old"]: frozenset((detail["new"],))})
            case "merge":
                into = frozenset((detail["into"],))
                return ClassSuccession(dict.fromkeys(detail["names"], into))
            case "split":
                return ClassSuccession({detail["name"]: frozenset(detail["parts"])})
        return ClassSuccession()

    def with_forced_name(self, force_name: bool = True) -> "Change":
        """Return a change that may name a class almost as another one is named.

        Args:
            force_name: Whether it may; if not, the change stays as it is.
        """
        if not force_name or self.action not in _NAMING:
            return self
        return replace(self, detail={**self.detail, "force_name": True})


def changes_labels(action: str) -> bool:
    """Whether an action of a version is a change of labels, which can be done again.

    Args:
        action: Of a version.
    """
    return action in _ACTIONS


def replay(labels: StoreLabels, changes: Mapping[int, Change], without: int) -> StoreLabels:
    """Labels after some changes.

    Args:
        labels: Before the first.
        changes: The number of each one's version -> the change, in order.
        without: The version that is undone, for the error.
    """
    for number, change in changes.items():
        try:
            # Similar names that were accepted once are accepted again.
            labels = change.with_forced_name().applied(labels)
        except NodegraftError as error:
            raise StoreError(
                f"Version {without} cannot be undone by itself: version {number} ({change.action}) "
                f"builds on it. {error} Undo version {number} first."
            ) from error
    return labels
