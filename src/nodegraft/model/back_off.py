"""Back-off: predictions that lack confidence become an ancestor in the class tree.

The probability of an ancestor is the sum of the calibrated probabilities of all classes below it
and of its own, if it has labels. A prediction goes up from the most probable class and stops at the
first name that reaches the asked confidence, so a tree never changes a prediction that has enough
confidence without it. Scores do not use the tree.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nodegraft.model.class_tree import ClassTree
from nodegraft.model.confidence import World, confidence

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ROUNDING = 1e-9
"""How much less than asked the confidence of an ancestor may be: a sum of probabilities is rounded,
depending on which other nodes are predicted with it."""

NOTHING = -1
"""Place that stands for no parent, or for a withheld prediction."""


class TreeAnswers(NamedTuple):
    """Answer for each node: a class, an ancestor or nothing."""

    places: Ints
    """Place of each answer in the names of :class:`Ancestors`; :data:`NOTHING` for no answer."""

    probability: Floats
    """Probability of each answer; that of the most probable class if the answer is withheld."""


@dataclass(frozen=True)
class Ancestors:
    """Places of classes, in the order of their scores, and then of all classes that have children.

    A class with labels and children has two places: as a class, and as the ancestor that contains
    its own nodes and those of the classes below it.
    """

    names: tuple[str, ...]
    """Names of the classes, then of the ancestors."""

    num_classes: int
    """Number of classes with scores."""

    up: Ints
    """Place of the next ancestor of each name; :data:`NOTHING` at the top."""

    below: tuple[Ints, ...]
    """Columns of the classes of each ancestor."""

    depths: Ints
    """Number of names above each name in the class tree."""

    tops: Ints
    """Place of the highest ancestor of each class; of the class itself if it has no tree."""

    @classmethod
    def of(cls, classes: Sequence[str], tree: ClassTree) -> "Ancestors":
        """Return the ancestors of classes.

        >>> ancestors = Ancestors.of(["caps", "boots"], ClassTree({"boots": "shoes"}))
        >>> ancestors.names, ancestors.up.tolist(), ancestors.depths.tolist()
        (('caps', 'boots', 'shoes'), [-1, 2, -1], [0, 1, 0])
        """
        parents = list(dict.fromkeys(name for own in classes for name in tree.path(own)[1:]))
        place = {name: len(classes) + number for number, name in enumerate(parents)}
        names = (*classes, *parents)
        above = [place.get(tree.get(name, ""), NOTHING) for name in names]
        up = [place.get(name, above[column]) for column, name in enumerate(classes)]
        up += above[len(classes) :]
        below: list[list[int]] = [[] for _ in parents]
        tops = list(range(len(classes)))
        for column in range(len(classes)):
            while (ancestor := up[tops[column]]) != NOTHING:
                below[ancestor - len(classes)].append(column)
                tops[column] = ancestor
        return cls(
            names,
            len(classes),
            np.array(up, dtype=np.int64),
            tuple(np.array(columns, dtype=np.int64) for columns in below),
            np.array([tree.depth(name) for name in names], dtype=np.int64),
            np.array(tops, dtype=np.int64),
        )

    def contains(self, answers: Ints, targets: Ints) -> NDArray[np.bool_]:
        """Return whether each answer is the class of the node or an ancestor of it.

        Args:
            answers: Place of each answer; False for :data:`NOTHING`.
            targets: Column of each node's class.
        """
        right = np.zeros(targets.size, dtype=bool)
        current = targets.copy()
        while (is_left := current != NOTHING).any():
            right |= is_left & (current == answers)
            current = np.where(is_left, self.up[current], NOTHING)
        return right


def back_off(
    probabilities: Floats,
    best: Ints,
    known: Floats,
    world: World,
    ancestors: Ancestors,
    min_confidence: float | None,
) -> TreeAnswers:
    """Return the most probable class of each node, or the lowest ancestor with enough confidence.

    Args:
        probabilities: Calibrated probability of each class: nodes x classes.
        best: Column of each node's most probable class.
        known: P(the node belongs to any known class); NaN without an estimate.
        min_confidence: The least confidence of an answer; None to answer with a class always.
    """
    nodes = np.arange(len(probabilities))
    places, own = best.copy(), probabilities[nodes, best]
    answers = TreeAnswers(places, own.copy())
    if min_confidence is None:
        return answers
    left = nodes[confidence(own, known, world) < min_confidence]
    while left.size:
        places[left] = ancestors.up[places[left]]
        for place in np.unique(places[left]):
            some = left[places[left] == place]
            if place == NOTHING:
                answers.probability[some] = own[some]
            else:
                columns = ancestors.below[place - ancestors.num_classes]
                total = probabilities[np.ix_(some, columns)].sum(axis=1)
                answers.probability[some] = np.minimum(total, 1.0)
        left = left[places[left] != NOTHING]
        share = confidence(answers.probability[left], known[left], world)
        left = left[share < min_confidence - ROUNDING]
    return answers


@dataclass(frozen=True)
class TreeMeasures:
    """Accuracy of predictions that back off, as shares between 0 and 1."""

    leaf_accuracy: float
    """Share of nodes whose most probable class is their class."""

    wrong_branch: float
    """Share of nodes whose most probable class has another highest ancestor than their class."""

    coverage: float | None
    """Share of nodes with an answer; None without calibrated confidence, as the next value."""

    ancestor_accuracy: float | None
    """Share of answers that are the class of the node or an ancestor of it; None without one."""


def measure(best: Ints, answers: Ints | None, targets: Ints, ancestors: Ancestors) -> TreeMeasures:
    """Return the accuracy of predictions and of answers that back off.

    Args:
        best: Column of each node's most probable class.
        answers: Place of each node's answer; None if the method cannot back off.
        targets: Column of each node's class.
    """
    coverage = accuracy = None
    if answers is not None:
        given = answers != NOTHING
        coverage = float(given.mean())
        if given.any():
            accuracy = float(ancestors.contains(answers, targets)[given].mean())
    tops = ancestors.tops
    return TreeMeasures(
        float((best == targets).mean()),
        float((tops[best] != tops[targets]).mean()),
        coverage,
        accuracy,
    )
