"""The classes a model knows: names, columns, when each was born and from how many labels."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.errors import ClassNameError


@dataclass(frozen=True)
class KnownClass:
    """One class: ``born`` is the session that brought it (0 for the base)."""

    name: str
    born: int
    shots: int


@dataclass(frozen=True)
class ClassTable:
    """Classes in column order: position in the table = column of the scores.

    >>> table = ClassTable().add({"hats": 3, "shoes": 5}, session=0)
    >>> table.names, table.remove(["hats"])[0].names
    (('hats', 'shoes'), ('shoes',))
    """

    classes: tuple[KnownClass, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All names, in column order."""
        return tuple(known.name for known in self.classes)

    def __len__(self) -> int:
        return len(self.classes)

    def add(self, shots: dict[str, int], session: int) -> "ClassTable":
        """With new classes after the old ones."""
        taken = [name for name in shots if name in self.names]
        if taken:
            raise ClassNameError(f"The model knows {taken[0]!r} already: choose another name.")
        empty = [name for name, count in shots.items() if count == 0]
        if empty or not shots:
            raise ClassNameError(
                f"Class {empty[0]!r} has no nodes." if empty else "No class given."
            )
        new = (KnownClass(name, session, count) for name, count in shots.items())
        return ClassTable((*self.classes, *new))

    def extend(self, shots: dict[str, int]) -> tuple["ClassTable", NDArray[np.int64]]:
        """With more labels for known classes, and the columns of those."""
        columns = self._columns(shots)
        more = dict(zip(columns, shots.values(), strict=True))
        classes = tuple(
            replace(known, shots=known.shots + more.get(column, 0))
            for column, known in enumerate(self.classes)
        )
        return ClassTable(classes), np.array(columns, dtype=np.int64)

    def remove(self, names: Iterable[str]) -> tuple["ClassTable", NDArray[np.int64]]:
        """Without some classes, and the columns that stay."""
        gone = self._columns(names)
        columns = [column for column in range(len(self)) if column not in gone]
        kept = ClassTable(tuple(self.classes[column] for column in columns))
        return kept, np.array(columns, dtype=np.int64)

    def _columns(self, names: Iterable[str]) -> list[int]:
        column = {name: place for place, name in enumerate(self.names)}
        asked = list(names)
        unknown = [name for name in asked if name not in column]
        if unknown:
            raise ClassNameError(f"The model knows no class {unknown[0]!r}.")
        return [column[name] for name in asked]

    def to_json(self) -> list[dict[str, Any]]:
        """A list of plain objects."""
        return [vars(known).copy() for known in self.classes]

    @classmethod
    def from_json(cls, rows: list[dict[str, Any]]) -> "ClassTable":
        """The table :meth:`to_json` describes."""
        return cls(tuple(KnownClass(**row) for row in rows))
