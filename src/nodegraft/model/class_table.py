"""Table of the known classes: name, score column, session and number of labels of each class."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.counting import listed
from nodegraft.base.errors import CheckpointError, ClassNameError, NodegraftError
from nodegraft.base.parameters.constraints import NonNegativeInt, PositiveInt
from nodegraft.base.parameters.validate import validate
from nodegraft.graph.labels import class_name


@dataclass(frozen=True)
class KnownClass:
    """Known class: one row of the class table."""

    name: str
    """Name of the class."""

    session: NonNegativeInt
    """Number of the session that added the class; 0 for the classes of ``fit``."""

    labels: PositiveInt
    """Number of training labels of the class."""

    def __post_init__(self) -> None:
        class_name(self.name)
        validate(self)


@dataclass(frozen=True)
class ClassTable:
    """Known classes in column order: the position in the table is the column of the scores.

    >>> table = ClassTable().add({"hats": 3, "shoes": 5}, session=0)
    >>> table.names, table.remove(["hats"])[0].names
    (('hats', 'shoes'), ('shoes',))
    """

    classes: tuple[KnownClass, ...] = ()
    """All classes of the table, in column order."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all classes, in column order."""
        return tuple(known.name for known in self.classes)

    @property
    def session(self) -> int:
        """Number of the latest session of which at least one class is still known."""
        return max((known.session for known in self.classes), default=0)

    def counts(self) -> dict[str, int]:
        """Return the number of labels of each class."""
        return {known.name: known.labels for known in self.classes}

    def __len__(self) -> int:
        return len(self.classes)

    def add(self, labels: dict[str, int], session: int) -> "ClassTable":
        """Return a table with new classes appended.

        Args:
            labels: New class -> number of its labels.
        """
        known = set(self.names)
        repeated = [name for name in labels if name in known]
        if repeated:
            names = listed(map(repr, repeated))
            raise ClassNameError(f"The model already has the class {names}: rename one.")
        empty = [name for name, count in labels.items() if count == 0]
        if empty or not labels:
            raise ClassNameError(
                f"Class {empty[0]!r} has no nodes." if empty else "No class given."
            )
        new = (KnownClass(name, session, count) for name, count in labels.items())
        return ClassTable((*self.classes, *new))

    def extend(self, labels: dict[str, int]) -> tuple["ClassTable", NDArray[np.int64]]:
        """Return a table with increased label counts, and the columns of the changed classes.

        Args:
            labels: Known class -> number of its additional labels.
        """
        columns = self._columns(labels)
        more = dict(zip(columns, labels.values(), strict=True))
        classes = tuple(
            replace(known, labels=known.labels + more.get(column, 0))
            for column, known in enumerate(self.classes)
        )
        return ClassTable(classes), np.array(columns, dtype=np.int64)

    def rename(self, names: Mapping[str, str]) -> "ClassTable":
        """Return a table with renamed classes in the same columns.

        Args:
            names: Known class -> its new name. After renaming, all names must be different.
        """
        self._columns(names)
        classes = tuple(
            replace(known, name=names.get(known.name, known.name)) for known in self.classes
        )
        twice = [entry.name for entry in classes if entry.name in names.values()]
        if len(set(twice)) < len(twice):
            raise ClassNameError(f"The model already has the class {twice[0]!r}: rename one.")
        return ClassTable(classes)

    def remove(self, names: Iterable[str]) -> tuple["ClassTable", NDArray[np.int64]]:
        """Return a table without the named classes, and the old columns of the other classes."""
        removed_columns = set(self._columns(names))
        columns = [column for column in range(len(self)) if column not in removed_columns]
        table = ClassTable(tuple(self.classes[column] for column in columns))
        return table, np.array(columns, dtype=np.int64)

    def _columns(self, names: Iterable[str]) -> list[int]:
        column = {name: place for place, name in enumerate(self.names)}
        listed_names = list(names)
        unknown = [name for name in listed_names if name not in column]
        if unknown:
            raise ClassNameError(f"The model has no class {listed(map(repr, unknown))}.")
        return [column[name] for name in listed_names]

    def to_json(self) -> list[dict[str, Any]]:
        """Return the table as a list of plain JSON objects."""
        return [vars(known).copy() for known in self.classes]

    @classmethod
    def from_json(cls, rows: list[dict[str, Any]]) -> "ClassTable":
        """Read a table that :meth:`to_json` wrote; raise an error for other content."""
        try:
            table = cls(tuple(KnownClass(**row) for row in rows))
        except (TypeError, NodegraftError) as error:
            raise CheckpointError(f"This is no table of classes: {error}") from error
        if len(set(table.names)) < len(table):
            raise CheckpointError("The table of classes has a name twice.")
        return table
