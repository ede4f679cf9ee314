"""Predictions that back off to an ancestor of the best class, and measures of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from studies.record_file import Record, rounded

from nodegraft.evaluation.metrics import expected_calibration_error
from nodegraft.model.confidence import WORLDS, confidence

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

NO_ANSWER = -1
"""Number that stands for no answer."""

LEVELS = (0.8, 0.9, 0.95)


@dataclass(frozen=True)
class Branches:
    """Classes and their ancestors, with the classes below each of them.

    Args:
        names: Names of the classes, in the order of the columns of scores, then of the ancestors.
        paths: For each class, its place and those of its ancestors in ``names``, upwards.
        below: Whether a class is a name or is below it: names x classes.
        depths: Number of ancestors of each name.
    """

    names: list[str]
    paths: list[list[int]]
    below: Bools
    depths: Ints

    @classmethod
    def of(cls, classes: Sequence[str], parents: Mapping[str, str]) -> "Branches":
        """Create the branches of some classes.

        >>> branches = Branches.of(["boots", "caps"], {"boots": "shoes", "shoes": "wear"})
        >>> branches.names, branches.paths, branches.depths.tolist()
        (['boots', 'caps', 'shoes', 'wear'], [[0, 2, 3], [1]], [2, 0, 1, 0])

        Args:
            classes: Names of the classes.
            parents: Parent of each name that has one.
        """
        by_class = []
        for name in classes:
            path = [name]
            while path[-1] in parents:
                path.append(parents[path[-1]])
            by_class.append(path)
        names = list(dict.fromkeys([*classes, *(name for path in by_class for name in path)]))
        paths = [[names.index(name) for name in path] for path in by_class]
        below, depths = np.zeros((len(names), len(classes)), dtype=bool), np.zeros(len(names), int)
        for column, path_places in enumerate(paths):
            below[path_places, column] = True
            depths[path_places] = np.arange(len(path_places))[::-1]
        return cls(names, paths, below, depths)

    @property
    def tops(self) -> Ints:
        """Place of the highest ancestor of each class; of the class itself, if it has no parent."""
        return np.array([path[-1] for path in self.paths])

    def sums(self, confidence: Floats) -> Floats:
        """Return the confidence of each name, summed over the classes below it: nodes x names.

        Args:
            confidence: Confidence of each class: nodes x classes.
        """
        sums: Floats = confidence @ self.below.T.astype(np.float64)
        return sums


def best_class(sums: Floats, branches: Branches, level: float) -> Ints:
    """Return the best class of each node if its confidence suffices, otherwise no answer.

    Args:
        sums: Confidence of each name: nodes x names.
        branches: The names.
        level: The least confidence of an answer.
    """
    best = sums[:, : len(branches.paths)].argmax(axis=1)
    return np.where(sums[np.arange(len(sums)), best] >= level, best, NO_ANSWER)


def up_from_the_best_class(sums: Floats, branches: Branches, level: float) -> Ints:
    """Return, for each node, the lowest of its best class and the ancestors that suffices.

    Args:
        sums: Confidence of each name: nodes x names.
        branches: The names.
        level: The least confidence of an answer.
    """
    best = sums[:, : len(branches.paths)].argmax(axis=1)
    answers = [
        next((place for place in branches.paths[column] if row[place] >= level), NO_ANSWER)
        for row, column in zip(sums, best.tolist(), strict=True)
    ]
    return np.array(answers, dtype=np.int64)


def deepest_in_any_branch(sums: Floats, branches: Branches, level: float) -> Ints:
    """Return, for each node, the deepest name that suffices; of several, the most confident one.

    Args:
        sums: Confidence of each name: nodes x names.
        branches: The names.
        level: The least confidence of an answer.
    """
    # Confidence is at most 1, so that it only decides among names of one depth.
    value = np.where(sums >= level, 2.0 * branches.depths + sums, -1.0)
    return np.where(value.max(axis=1) >= 0.0, value.argmax(axis=1), NO_ANSWER)


def is_right(answers: Ints, targets: Ints, branches: Branches) -> Bools:
    """Return whether each answer is the class of the node or above it; False for no answer.

    Args:
        answers: Place of each answer among the names.
        targets: Column of each node's class.
        branches: The names.
    """
    return np.where(answers == NO_ANSWER, False, branches.below[answers, targets])


BACK_OFFS: Mapping[str, Callable[[Floats, Branches, float], Ints]] = {
    "abstain": best_class,
    "up": up_from_the_best_class,
    "any": deepest_in_any_branch,
}
"""Ways to choose an answer from the confidence of each name."""


def answered(sums: Floats, targets: Ints, branches: Branches, level: float, way: str) -> Record:
    """Measure the answers that have at least some confidence.

    ``coverage`` is the share of nodes with an answer, ``precision`` the share of right answers,
    and ``promised`` their mean confidence. ``above`` has the same for answers that are ancestors.

    Args:
        sums: Confidence of each name: nodes x names.
        targets: Column of each node's class.
        branches: The names.
        level: The least confidence of an answer.
        way: One of :data:`BACK_OFFS`.
    """
    answers = BACK_OFFS[way](sums, branches, level)
    right = is_right(answers, targets, branches)
    promised = sums[np.arange(len(sums)), answers]

    def measures(some: Bools) -> dict[str, float | None]:
        is_any = bool(some.any())
        return {
            "coverage": rounded(float(some.mean())),
            "precision": rounded(float(right[some].mean())) if is_any else None,
            "promised": rounded(float(promised[some].mean())) if is_any else None,
        }

    is_answer = answers != NO_ANSWER
    return {**measures(is_answer), "above": measures(answers >= len(branches.paths))}


def measured_branches(
    shares: Floats, known: Floats, targets: Ints, is_new: Bools, branches: Branches
) -> Record:
    """Measure accuracy and calibration of classes and their highest ancestors, and the answers.

    Args:
        shares: Calibrated probability of each class: nodes x classes.
        known: Chance that each node belongs to a known class.
        targets: Column of each node's class.
        is_new: Whether each node is of a new class.
        branches: The classes and their ancestors.
    """
    sums, best, nodes = branches.sums(shares), shares.argmax(axis=1), np.arange(len(shares))
    tops = branches.tops
    is_branch = tops[best] != best
    best_top = np.unique(tops)[sums[:, np.unique(tops)].argmax(axis=1)]
    top_right = tops[best] == tops[targets]
    record: Record = {
        "class_accuracy": rounded(float((best == targets).mean())),
        "top_accuracy": rounded(float(top_right.mean())),
        "top_accuracy_of_sums": rounded(float((best_top == tops[targets]).mean())),
        "class_calibration": calibration(sums[nodes, best], best == targets),
        "top_calibration": calibration(sums[nodes, tops[best]][is_branch], top_right[is_branch]),
    }
    for world in WORLDS:
        trusted = confidence(np.ones(len(shares)), known, world)[:, None] * sums
        record[world] = {
            f"{level:.2f}": {
                way: {
                    group: answered(trusted[some], targets[some], branches, level, way)
                    for group, some in (("all", np.ones_like(is_new)), ("new", is_new))
                }
                for way in BACK_OFFS
            }
            for level in LEVELS
        }
    return record


def calibration(probability: Floats, right: Bools) -> dict[str, float | None]:
    """Return the expected calibration error, and the two means that show its direction."""
    return {
        "error": rounded(expected_calibration_error(probability, right)),
        "probability": rounded(float(probability.mean())),
        "accuracy": rounded(float(right.mean())),
    }
