"""How well a version answers about nodes whose class is known."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from nodegraft.analysis.snapshot import State
from nodegraft.graph.keys import Key


@dataclass(frozen=True)
class RightAnswers:
    """How many nodes of each class were answered rightly."""

    asked: dict[str, int]
    """Class name -> how many of its nodes were asked about."""

    right: dict[str, int]
    """Class name -> how many of them were answered rightly."""

    @property
    def nodes(self) -> int:
        """All nodes asked about."""
        return sum(self.asked.values())

    @property
    def accuracy(self) -> float | None:
        """The share of right answers; None where nobody was asked about."""
        return sum(self.right.values()) / self.nodes if self.nodes else None

    def recall(self, name: str) -> float:
        """The share of right answers about one class.

        Args:
            name: A class that was asked about.
        """
        return self.right[name] / self.asked[name]

    def renamed(self, names: Mapping[str, str]) -> "RightAnswers":
        """Return the counts under other class names; classes that get the same name are added up.

        Args:
            names: Class name -> its other name.
        """
        asked, right = Counter[str](), Counter[str]()
        for name in self.asked:
            asked[names[name]] += self.asked[name]
            right[names[name]] += self.right[name]
        return RightAnswers(dict(asked), dict(right))

    def to_json(self) -> dict[str, Any]:
        """As plain JSON."""
        return {"asked": self.asked, "right": self.right, "accuracy": self.accuracy}


def right_answers(
    state: State,
    nodes: Mapping[str, tuple[Key, ...]],
    accepted: Mapping[str, Collection[str]] | None = None,
) -> RightAnswers:
    """Count the right predictions of a version for nodes whose class is known.

    Args:
        state: The version.
        nodes: Class name -> nodes of it.
        accepted: Class name -> predictions that count as right; None for the class name alone.
    """
    asked = {name: len(keys) for name, keys in nodes.items()}
    keys = [key for some in nodes.values() for key in some]
    if not keys:
        return RightAnswers({}, {})
    predictions = iter(state.model.predict(state.graph, keys))
    right = {}
    for name, count in asked.items():
        names = (name,) if accepted is None else accepted[name]
        right[name] = sum(one in names for one in islice(predictions, count))
    return RightAnswers(asked, right)


def recognised_by_halves(before: State, new: Mapping[str, tuple[Key, ...]]) -> RightAnswers:
    """How many labels of a new class are recognised by the other half of them.

    Each class is taught as two, one of every other label; a node is right if the half it does not
    teach scores above every class that was there before. Labels of several known classes, mixed,
    are recognised by those instead. One version is made for all of them.

    Args:
        before: The version without these classes.
        new: Class name -> nodes that teach it; those with a single one are left out, and all where
            a method would have to be fitted again.
    """
    taken = {*before.labels, *new}
    halves = {
        _unused(name, half, taken): keys[half::2]
        for name, keys in new.items()
        if len(keys) > 1
        for half in (0, 1)
    }
    if not halves or before.needs_fit(before.labels):
        return RightAnswers({}, {})
    state = before.relabelled(before.labels.added(halves))
    columns = list(state.model.classes_)
    known = [columns.index(name) for name in before.labels]
    asked, right = dict[str, int](), dict[str, int]()
    for name, keys in new.items():
        for half in (0, 1) if len(keys) > 1 else ():
            rows = state.graph.rows_of(keys[half::2])
            scores = state.model.score_rows(state.graph, rows)
            other = scores[:, columns.index(_unused(name, 1 - half, taken))]
            asked[name] = asked.get(name, 0) + rows.size
            right[name] = right.get(name, 0) + int((other > scores[:, known].max(axis=1)).sum())
    return RightAnswers(asked, right)


def _unused(name: str, half: int, taken: set[str]) -> str:
    """What a half is called: nothing that is a class."""
    called = f"{name} {half}"
    while called in taken:
        called += "'"
    return called
