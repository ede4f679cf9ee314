"""Changes of the labels of a store, each a name with plain JSON, so that it can be applied again.

A preview is the same computation without its last step. An older change is undone by applying the
later changes again to the labels before it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

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
    """Name of the change, which is that of the command."""

    detail: dict[str, Any]
    """Arguments of the method of :class:`StoreLabels`, by name."""

    @classmethod
    def of(cls, action: str, force_name: bool = False, **detail: Any) -> "Change":
        """Return a change with plain JSON from arguments as a user gives them.

        Args:
            action: Name of the change.
            force_name: See :meth:`with_forced_name`.
            detail: Arguments of the change; labels may be a table or a Series.
        """
        plain = {name: _plain(name, value) for name, value in detail.items()}
        return cls(action, plain).with_forced_name(force_name)

    def applied(self, labels: StoreLabels) -> StoreLabels:
        """Return the labels after the change.

        Args:
            labels: Labels before the change.
        """
        return _ACTIONS[self.action](labels, **self.detail)

    @property
    def new_nodes(self) -> list[Any]:
        """Keys of nodes that need not have a label yet, so that only the graph can know them."""
        if self.action not in ("add", "label", "split"):
            return []
        classes = next(part for part in self.detail.values() if isinstance(part, dict))
        return [key for keys in classes.values() for key in keys]

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

    def without_repeats(self) -> "Change":
        """Return a change that lists each key or class name once."""
        lists = {key: value for key, value in self.detail.items() if isinstance(value, list)}
        unique = {name: list(dict.fromkeys(values)) for name, values in lists.items()}
        return replace(self, detail=self.detail | unique)

    def with_forced_name(self, force_name: bool = True) -> "Change":
        """Return a change that may use a class name similar to another one.

        Args:
            force_name: Whether it may; if not, the change is returned unchanged.
        """
        if not force_name or self.action not in _NAMING:
            return self
        return replace(self, detail={**self.detail, "force_name": True})


def _plain(name: str, value: Any) -> Any:
    if name in ("classes", "more", "parts"):
        from nodegraft.tables.labels import keys_by_class  # slow to import

        return {name: _plain("keys", keys) for name, keys in keys_by_class(value).items()}
    # A single text is passed on, so that the change refuses it.
    if name not in ("keys", "names") or (name == "keys" and isinstance(value, str)):
        return value
    # JSON has no NumPy numbers.
    return [item.item() if isinstance(item, np.generic) else item for item in value]


def changes_labels(action: str) -> bool:
    """Return whether an action of a version is a change of labels, which can be applied again."""
    return action in _ACTIONS


def replay(labels: StoreLabels, changes: Mapping[int, Change], without: int) -> StoreLabels:
    """Apply changes again to other labels.

    Args:
        changes: Number of a version -> its change, in order.
        without: Number of the version that is undone, for the error.
    """
    for number, change in changes.items():
        try:
            # Similar names and repeated keys that were accepted once are accepted again.
            labels = change.without_repeats().with_forced_name().applied(labels)
        except NodegraftError as error:
            raise StoreError(
                f"Version {without} cannot be undone by itself: version {number} ({change.action}) "
                f"builds on it. {error} Undo version {number} first."
            ) from error
    return labels
