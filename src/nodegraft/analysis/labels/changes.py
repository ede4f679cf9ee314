"""Label changes of a store as plain JSON, and class succession: old classes -> new classes.

A preview computes a change without storing it. To undo an older change, all later changes are
applied again to the labels before the undone change.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from nodegraft.analysis.labels.labels import StoreLabels
from nodegraft.base.counting import listed
from nodegraft.base.errors import (
    ClassNameError,
    NodegraftError,
    SeveralLabelsError,
    StoreError,
)

if TYPE_CHECKING:
    from nodegraft.methods.multi_label.labels import LabelSets

AnyLabels = TypeVar("AnyLabels", StoreLabels, "LabelSets")
"""Labels of a store: one label or several labels per node."""


class ClassSuccession:
    """Mapping of each class before a change to the classes that continue it after the change.

    >>> renamed = ClassSuccession({"hats": frozenset({"caps"})})
    >>> renamed.continues("hats", "caps"), renamed.continues("shoes", "caps")
    (True, False)

    Args:
        successors: Old class -> classes that continue it; a missing class continues itself.
    """

    def __init__(self, successors: Mapping[str, frozenset[str]] | None = None) -> None:
        self._successors = dict(successors or {})

    @classmethod
    def between(cls, before: "StoreLabels", after: "StoreLabels") -> "ClassSuccession":
        """Derive the succession from the labels of removed classes.

        A removed class is continued by each new class that has some of its labels, and by an old
        class that has all of its labels.
        """
        removed_classes = [name for name in before if name not in after]
        if not removed_classes:
            return cls()
        owners, successors = after.owners(), dict[str, frozenset[str]]()
        for name in removed_classes:
            label_owners = [owners.get(key) for key in before[name].all]
            successors[name] = frozenset(
                owner
                for owner in set(label_owners)
                if owner is not None
                and (owner not in before or label_owners.count(owner) == len(label_owners))
            )
        return cls({name: some for name, some in successors.items() if some})

    def of(self, name: str) -> frozenset[str]:
        """Return the classes that a class was renamed, merged or split into; else itself."""
        return self._successors.get(name, frozenset((name,)))

    def continues(self, old: str, new: str) -> bool:
        """Return whether a new class continues an old one, under any name."""
        return new in self.of(old)

    def is_split(self, name: str) -> bool:
        """Return whether several classes continue an old one."""
        return len(self.of(name)) > 1


WARNED_SHARE, WARNED_CLASSES = 0.1, 2.0
"""Warn about a changed class that is predicted for more than this share of all nodes, and for more
than this multiple of the mean share of a class."""


@dataclass(frozen=True)
class ChangedClass:
    """Prediction counts of a class that a change adds, or whose labels it changes."""

    examples: int
    """Number of training nodes after the change."""

    predicted: int
    """Number of compared nodes that are predicted to be of the class after the change."""

    gained: int
    """Number of these nodes that were predicted to be of another class before the change."""


def changed_classes(
    before: StoreLabels,
    after: StoreLabels,
    names: ClassSuccession,
    pairs: Mapping[tuple[str, str], int],
) -> dict[str, ChangedClass]:
    """Return the classes that are new or whose labels change, except renamed classes.

    Args:
        names: Mapping from classes before the change to classes after the change.
        pairs: (prediction before, prediction after) -> number of nodes.
    """
    unchanged = {
        new for old in before for new in names.of(old) if new in after and after[new] == before[old]
    }
    return {
        name: ChangedClass(
            len(own.training),
            sum(count for (_, new), count in pairs.items() if new == name),
            sum(
                count
                for (old, new), count in pairs.items()
                if new == name and not names.continues(old, new)
            ),
        )
        for name, own in after.items()
        if name not in unchanged
    }


def class_warnings(changed: Mapping[str, ChangedClass], num_classes: int, total: int) -> list[str]:
    """Return a warning for each class with a single example or with too many predictions."""
    warnings = [
        f"Class {name!r} has only 1 example: its predictions depend on that node alone. "
        "Add more examples."
        for name, counts in changed.items()
        if counts.examples == 1
    ]
    limit = max(WARNED_SHARE, WARNED_CLASSES / max(num_classes, 1))
    return warnings + [
        f"Class {name!r} would be predicted for {counts.predicted:,} of {total:,} nodes "
        f"({100 * counts.predicted / total:.1f} %, more than {100 * limit:.0f} %): check that its "
        "examples are typical of it."
        for name, counts in changed.items()
        if counts.gained and counts.predicted > limit * total
    ]


_ACTIONS: Mapping[str, str] = {
    "add": "added",
    "label": "labelled",
    "unlabel": "unlabelled",
    "relabel": "relabelled",
    "remove": "removed",
    "rename": "renamed",
    "merge": "merged",
    "split": "split",
    "move": "moved",
}
"""Name of a change -> method of the labels; :class:`LabelSets` has only some of them."""

_NAMING = ("add", "rename", "merge", "split", "move")


@dataclass(frozen=True)
class Change:
    """A change of labels: its name and arguments."""

    action: str
    """Name of the change; it equals the name of the command."""

    detail: dict[str, Any]
    """Arguments of the method of the labels, by name."""

    @classmethod
    def of(cls, action: str, force_name: bool = False, **detail: Any) -> "Change":
        """Return a change, converting the arguments of a user to plain JSON.

        Args:
            action: Name of the change.
            force_name: See :meth:`with_forced_name`.
            detail: Arguments of the change; labels may be a table or a Series.
        """
        plain = {name: _plain(name, value) for name, value in detail.items()}
        return cls(action, plain).with_forced_name(force_name)

    def applied(self, labels: AnyLabels) -> AnyLabels:
        """Return the labels after the change.

        Args:
            labels: Labels before the change.
        """
        method = getattr(labels, _ACTIONS[self.action], None)
        if method is None:
            raise SeveralLabelsError(f"The change {self.action!r}")
        changed: AnyLabels = method(**self.detail)
        return changed

    def replayed(self, labels: AnyLabels) -> AnyLabels:
        """Return the labels after a stored change that was accepted when it was made.

        Similar names and repeated keys are accepted again.

        Args:
            labels: Labels before the change.
        """
        unique = {
            key: list(dict.fromkeys(value))
            for key, value in self.detail.items()
            if isinstance(value, list)
        }
        change = replace(self, detail=self.detail | unique)
        return change.with_forced_name().applied(labels)

    @property
    def parents(self) -> list[str]:
        """Names of the parents that this change gives to classes."""
        parents = (self.detail.get("parent"), *self.detail.get("parents", {}).values())
        return [name for name in parents if name is not None]

    @property
    def new_nodes(self) -> list[Any]:
        """Keys of nodes that need not have a label yet, so that only the graph can check them."""
        if self.action not in ("add", "label", "split"):
            return []
        classes = next(part for part in self.detail.values() if isinstance(part, dict))
        # Skip a string in place of a list of keys: applying the change refuses it later.
        lists = (keys for keys in classes.values() if not isinstance(keys, str | bytes))
        return [key for keys in lists for key in keys]

    def succession(self) -> ClassSuccession:
        """Return the classes that this change renames, merges or splits, and their successors."""
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
        """Return a copy of this change that may use a class name similar to an existing class name.

        Args:
            force_name: Whether to give the permission; if not, return the change unmodified.
        """
        if not force_name or self.action not in _NAMING:
            return self
        return replace(self, detail={**self.detail, "force_name": True})


def _plain(name: str, value: Any) -> Any:
    if name in ("classes", "more", "parts", "labels"):
        from nodegraft.tables.labels import keys_by_class  # This import is slow.

        return {name: _plain("keys", keys) for name, keys in keys_by_class(value).items()}
    if name == "parents":
        from nodegraft.tables.class_parents import parents_by_class  # This import is slow.

        return parents_by_class(value)
    # Return a string in place of a list unmodified, so that applying the change refuses it.
    if name not in ("keys", "names") or (name == "keys" and isinstance(value, str | bytes)):
        return value
    # Convert NumPy scalars, which JSON cannot encode.
    return [item.item() if isinstance(item, np.generic) else item for item in value]


def changes_labels(action: str) -> bool:
    """Return whether an action changes labels, so that it can be replayed."""
    return action in _ACTIONS


def replay(
    labels: AnyLabels, changes: Mapping[int, Change], without: int, made_on: AnyLabels
) -> AnyLabels:
    """Apply several changes to labels, in order, without an earlier change.

    Args:
        labels: Labels before the earlier change.
        changes: Number of a version -> its change, in order.
        without: Number of the version that is undone, for the error message.
        made_on: Labels after the earlier change, on which the first of the changes was made.
    """
    for number, change in changes.items():
        try:
            # A parent that is gone would become a new group.
            missing_names = made_on.names - labels.names
            if missing := [name for name in change.parents if name in missing_names]:
                raise ClassNameError(f"Without it there is no class {listed(map(repr, missing))}.")
            labels, made_on = change.replayed(labels), change.replayed(made_on)
        except NodegraftError as error:
            raise StoreError(
                f"Version {without} cannot be undone by itself: version {number} ({change.action}) "
                f"builds on it. {error} Undo version {number} first."
            ) from error
    return labels
