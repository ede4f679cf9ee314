"""Which classes of a version continue those of an earlier one: renamed, merged or split."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nodegraft.analysis.labels.labels import StoreLabels


class ClassSuccession:
    """Old class name -> names of the classes that continue it.

    >>> renamed = ClassSuccession({"hats": frozenset({"caps"})})
    >>> renamed.continues("hats", "caps"), renamed.continues("shoes", "caps")
    (True, False)

    Args:
        successors: Old class -> the classes that continue it; all others continue themselves.
    """

    def __init__(self, successors: Mapping[str, frozenset[str]] | None = None) -> None:
        self._successors = dict(successors or {})

    @classmethod
    def between(cls, before: "StoreLabels", after: "StoreLabels") -> "ClassSuccession":
        """Work out the succession from who owns the labels of classes that are gone.

        A class that is gone is continued by new classes that have some of its labels, and by an
        old class that has all of them.

        Args:
            before: Labels of the earlier version.
            after: Labels of the later version.
        """
        gone = [name for name in before if name not in after]
        if not gone:
            return cls()
        owners, successors = after.owners(), dict[str, frozenset[str]]()
        for name in gone:
            found = [owners.get(key) for key in before[name].all]
            successors[name] = frozenset(
                owner
                for owner in set(found)
                if owner is not None and (owner not in before or found.count(owner) == len(found))
            )
        return cls({name: some for name, some in successors.items() if some})

    def of(self, name: str) -> frozenset[str]:
        """Return the classes that continue an old class; its own name where nothing is known.

        Args:
            name: The old class.
        """
        return self._successors.get(name, frozenset((name,)))

    def continues(self, old: str, new: str) -> bool:
        """Return whether a new class is an old one, under the same name or another.

        Args:
            old: The old class.
            new: The new class.
        """
        return new in self.of(old)

    def is_split(self, name: str) -> bool:
        """Return whether several classes continue an old one.

        Args:
            name: The old class.
        """
        return len(self.of(name)) > 1
