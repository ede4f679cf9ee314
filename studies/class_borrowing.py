"""Ways in which a class with few labels borrows from the classes with the same parent.

A class with :math:`n` labels takes the share :math:`k / (n + k)` of something from its siblings,
with :math:`k` the strength. All ways use the weights that were fitted without the tree.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.propagation.set_mass import DiffusionTable
from nodegraft.methods.graft.classes import LabelledClasses
from nodegraft.methods.graft.evidence import Evidence

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NO_PARENT = -1
"""Number of the parent of a class without a parent."""


def sibling_shares(parents: Ints, counts: Ints, strength: float) -> Floats:
    """Return how much each class takes from itself and from each sibling: classes x classes.

    >>> sibling_shares(np.array([0, 0, 0, -1]), np.array([5, 100, 100, 5]), 5.0)[0].tolist()
    [0.5, 0.25, 0.25, 0.0]
    >>> sibling_shares(np.array([0, 0, 0, -1]), np.array([5, 100, 100, 5]), 5.0)[3].tolist()
    [0.0, 0.0, 0.0, 1.0]

    Args:
        parents: Number of each class's parent, or :data:`NO_PARENT`.
        counts: Number of labels of each class.
        strength: Number of labels that the siblings count for.
    """
    own = np.eye(parents.size)
    is_sibling = (parents[:, None] == parents) & (parents[:, None] != NO_PARENT) & (own == 0)
    siblings = is_sibling.sum(axis=1)
    borrowed = np.where(siblings > 0, strength / (counts + strength), 0.0)
    shares: Floats = (1.0 - borrowed)[:, None] * own
    shares += (borrowed / np.maximum(siblings, 1))[:, None] * is_sibling
    return shares


class BlendedHeat(DiffusionTable):
    """Heat of classes that is a weighted sum of the heat of several sets of nodes.

    Args:
        table: Heat of the sets.
        shares: Weight of each set in the heat of each class: classes x sets.
    """

    def __init__(self, table: DiffusionTable, shares: Floats) -> None:
        super().__init__([], table.num_nodes)
        self._table, self._shares = table, shares

    @cached_property
    def totals(self) -> Floats:
        """Sum of mass over all nodes for each diffusion time and class."""
        totals: Floats = self._table.totals @ self._shares.T
        return totals

    def of(self, columns: IntArray) -> "BlendedHeat":
        """Return a table of only some of the classes."""
        return BlendedHeat(self._table, self._shares[columns])

    def at(self, nodes: IntArray, times: slice = slice(None)) -> NDArray[np.float32]:
        """Return the mass of each class at the given nodes: classes x times x nodes."""
        return np.tensordot(self._shares.astype(np.float32), self._table.at(nodes, times), 1)


def parents_of_rows(labels: Mapping[str, Ints], parents: Mapping[str, str]) -> Ints:
    """Return the number of the parent of each node's class, or :data:`NO_PARENT`.

    >>> labels = {"boots": np.array([1]), "caps": np.array([0])}
    >>> parents_of_rows(labels, {"boots": "shoes"}).tolist()
    [-1, 0]

    Args:
        labels: Row numbers of the nodes of each class.
        parents: Parent of each class that has one.
    """
    numbers = {name: place for place, name in enumerate(dict.fromkeys(parents.values()))}
    found = np.full(1 + max(int(rows.max()) for rows in labels.values()), NO_PARENT)
    for name, rows in labels.items():
        if name in parents:
            found[rows] = numbers[parents[name]]
    return found


@contextmanager
def borrowing(what: str, strength: float, parent_of_row: Ints) -> Iterator[None]:
    """Let classes borrow from their siblings in all models that are computed inside.

    Args:
        what: What they take: ``means`` (for cosines and words), targets of ``regressions``,
            or ``heat``.
        strength: Number of labels that the siblings count for.
        parent_of_row: Number of the parent of each node's class; only those of labels are read.
    """
    plain_classes, plain_heat = Evidence.labelled, Evidence.heat

    def shares(labels: Sequence[IntArray], counts: Ints) -> Floats:
        return sibling_shares(parent_of_row[[rows[0] for rows in labels]], counts, strength)

    def labelled(
        self: Evidence,
        labels: Sequence[IntArray],
        counts: Ints,
        first: Ints,
        practice: bool = False,
    ) -> LabelledClasses:
        classes, taken = (
            plain_classes(self, labels, counts, first, practice),
            shares(labels, counts),
        )
        if what == "means":
            classes = replace(classes, means=tuple(taken @ rows for rows in classes.means))
        if what == "regressions":
            # A regression is linear in its targets, so this is the regression on blended targets.
            weights = [[taken @ rows for rows in layers] for layers in classes.regressions]
            classes = replace(classes, regressions=weights)
        return classes

    def heat(self: Evidence, starts: Sequence[IntArray], lasting: bool = False) -> DiffusionTable:
        table = plain_heat(self, starts, lasting)
        if what != "heat":
            return table
        return BlendedHeat(table, shares(starts, np.array([rows.size for rows in starts])))

    with patch.object(Evidence, "labelled", labelled), patch.object(Evidence, "heat", heat):
        yield


def merged_by_parent(labels: Mapping[str, Ints], parents: Mapping[str, str]) -> dict[str, Ints]:
    """Return the labels of each parent; a class without a parent keeps its own.

    >>> labels = {"boots": np.array([1]), "caps": np.array([2]), "clogs": np.array([3])}
    >>> merged = merged_by_parent(labels, {"boots": "shoes", "clogs": "shoes"})
    >>> {name: rows.tolist() for name, rows in merged.items()}
    {'shoes': [1, 3], 'caps': [2]}

    Args:
        labels: Labels of each class.
        parents: Parent of each class that has one.
    """
    merged: dict[str, list[Ints]] = {}
    for name, rows in labels.items():
        merged.setdefault(parents.get(name, name), []).append(rows)
    return {name: np.concatenate(parts) for name, parts in merged.items()}


def with_branch_scores(scores: Floats, branch: Ints, branch_scores: Floats, trust: float) -> Floats:
    r"""Return scores in which branches are partly weighed by the scores of parents as classes.

    The probability of a class is that of its parent times its own among its siblings. The second
    factor stays; the first becomes :math:`p^{1 - b} P^b`, with :math:`p` the sum over the
    classes of the branch, and :math:`P` the probability of the parent as a class of its own.

    >>> even, sure = np.zeros((1, 3)), np.log([[0.8, 0.2]])
    >>> np.exp(with_branch_scores(even, np.array([0, 0, 1]), sure, 1.0)).round(2).tolist()
    [[0.4, 0.4, 0.2]]

    Args:
        scores: Log-odds of each class: nodes x classes.
        branch: Column of each class's parent in ``branch_scores``.
        branch_scores: Log-odds of each parent, and of each class without a parent.
        trust: How much the parents' own scores count (:math:`b`), from 0 to 1.
    """
    leaves = scores - logsumexp(scores, axis=1, keepdims=True)
    own = branch_scores - logsumexp(branch_scores, axis=1, keepdims=True)
    found: Floats = leaves + trust * (own - _branch_sums(leaves, branch))[:, branch]
    return found


def of_best_branch(scores: Floats, branch: Ints) -> Floats:
    """Return scores in which only classes of the branch with the largest sum can be best.

    >>> scores = np.log([[0.3, 0.3, 0.4]])
    >>> of_best_branch(scores, np.array([0, 0, 1])).argmax(axis=1).tolist()
    [0]

    Args:
        scores: Log-odds of each class: nodes x classes.
        branch: Number of each class's branch.
    """
    best = _branch_sums(scores, branch).argmax(axis=1)
    return np.where(branch == best[:, None], scores, scores.min() - 1.0)


def _branch_sums(scores: Floats, branch: Ints) -> Floats:
    """Return the logarithm of the summed odds of each branch: nodes x branches."""
    branches = range(branch.max() + 1)
    sums = [logsumexp(scores[:, branch == place], axis=1) for place in branches]
    return np.stack(sums, axis=1)
