"""Which nodes belong to which class: the only carrier of labels."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.errors import ClassNameError
from nodegraft.base.hashing import content_hash
from nodegraft.graph.keys import Key
from nodegraft.graph.matrix import IntArray

if TYPE_CHECKING:
    from nodegraft.graph.graph import Graph
    from nodegraft.graph.view import GraphView


class Labelled(Mapping[str, NDArray[np.int64]]):
    """Class name -> rows. A node has one class; classes and rows keep the order given.

    >>> labels = Labelled({"hats": [3, 1], "shoes": [2]})
    >>> labels.classes, labels.rows().tolist(), labels.targets(["shoes", "hats"]).tolist()
    (('hats', 'shoes'), [3, 1, 2], [1, 1, 0])
    """

    def __init__(self, rows: Mapping[str, IntArray | Sequence[int]]) -> None:
        self._rows = {
            str(name): np.array(members, dtype=np.int64) for name, members in rows.items()
        }
        every = self.rows()
        values, counts = np.unique(every, return_counts=True)
        if values.size < every.size:
            row = int(values[counts > 1][0])
            owners = [name for name, members in self.items() if row in members]
            raise ClassNameError(
                f"{every.size - values.size} nodes are listed more than once, "
                f"row {row} under {' and '.join(map(repr, owners))}: a node has one class."
            )

    @classmethod
    def by_key(cls, graph: "Graph | GraphView", keys: Mapping[str, Iterable[Key]]) -> "Labelled":
        """From the user's own node keys."""
        return cls({name: graph.rows_of(list(members)) for name, members in keys.items()})

    @classmethod
    def from_names(cls, names: Iterable[str | None]) -> "Labelled":
        """From one class name (or None) per row; classes come out sorted by name."""
        table = np.array(["" if name is None else str(name) for name in names], dtype=object)
        classes, column = np.unique(table, return_inverse=True)
        order = np.argsort(column, kind="stable")
        ends = pairwise(np.searchsorted(column[order], np.arange(classes.size + 1)))
        return cls({name: order[a:b] for name, (a, b) in zip(classes, ends, strict=True) if name})

    def __getitem__(self, name: str) -> NDArray[np.int64]:
        return self._rows[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def classes(self) -> tuple[str, ...]:
        """The class names, in order."""
        return tuple(self._rows)

    @property
    def num_nodes(self) -> int:
        """How many nodes carry a label."""
        return sum(members.size for members in self.values())

    def rows(self) -> NDArray[np.int64]:
        """All rows, one class after the other."""
        if not self._rows:
            return np.zeros(0, dtype=np.int64)
        return np.concatenate(list(self.values()))

    def targets(self, columns: Sequence[str]) -> NDArray[np.int64]:
        """For every row of :meth:`rows`, the position of its class in ``columns``."""
        position = {name: column for column, name in enumerate(columns)}
        sizes = [members.size for members in self.values()]
        return np.repeat(np.array([position[name] for name in self], dtype=np.int64), sizes)

    def lists(self) -> dict[str, list[int]]:
        """Plain JSON, from which the constructor makes it again."""
        return {name: members.tolist() for name, members in self.items()}

    def only(self, classes: Iterable[str]) -> "Labelled":
        """These classes, in this order."""
        return Labelled({name: self._rows[name] for name in classes})

    def __or__(self, other: "Labelled") -> "Labelled":
        """Both; a class on both sides gets the rows of both."""
        merged = dict(self._rows)
        for name, members in other.items():
            merged[name] = np.concatenate((merged[name], members)) if name in merged else members
        return Labelled(merged)

    @property
    def content_hash(self) -> str:
        """Depends on names, rows and their order."""
        return content_hash(list(self.classes), *self.values())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Labelled) and self.content_hash == other.content_hash

    def __hash__(self) -> int:
        return hash(self.content_hash)

    def __repr__(self) -> str:
        return f"Labelled({len(self)} classes, {self.num_nodes} nodes)"
