"""Top classes of many nodes, computed in blocks so that memory stays bounded."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.parameters.constraints import PositiveInt
from nodegraft.base.parameters.validate import validate_value
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.view import GraphView
from nodegraft.model.back_off import Ancestors, TreeAnswers, back_off
from nodegraft.model.confidence import World, confidence

if TYPE_CHECKING:
    from nodegraft.model.method import Method

BLOCK_ROWS, BLOCK_SCORES = 65_536, 2**21
"""Maximum number of nodes and of scores (16 megabytes) in a block.

Passes over larger arrays take more time, because the memory allocator returns arrays above 32
megabytes to the system and must clear new ones."""

SEARCHED = 8
"""Maximum number of top classes found by repeated argmax; for more, scores are sorted."""


@dataclass(frozen=True)
class BestClasses:
    """Top classes of each node in a block."""

    rows: IntArray
    """Row numbers of the nodes."""

    columns: NDArray[np.int64]
    """Top classes of each node, as indices into ``names``, likeliest first."""

    names: tuple[str, ...]
    """Names of all classes of the model."""

    probabilities: NDArray[np.float64]
    """P(class | the node belongs to a known class) of each top class: nodes x top classes."""

    known: NDArray[np.float64]
    """P(the node belongs to any known class) of each node."""

    world: World
    """World of the model: whether nodes may belong to unknown classes."""

    sets: list[tuple[str, ...]] | None = None
    """Prediction set of each node; None if no thresholds were given."""

    answers: TreeAnswers | None = None
    """Class or ancestor of each node; None without a class tree."""

    @property
    def confidence(self) -> NDArray[np.float64]:
        """Confidence of each node's likeliest class."""
        return confidence(self.probabilities[:, 0], self.known, self.world)


def best_classes(
    model: "Method",
    view: GraphView,
    rows: IntArray,
    top: int,
    thresholds: NDArray[np.float64] | None = None,
    ancestors: Ancestors | None = None,
    min_confidence: float | None = None,
) -> BestClasses:
    """Return the top classes of a single block of nodes.

    Args:
        rows: Row numbers of the nodes, in any order.
        top: Number of classes for each node; all classes if the model has fewer.
        thresholds: Minimum probability of each class to be in a prediction set; None for no sets.
        ancestors: Ancestors of the classes in the class tree; None for no tree.
        min_confidence: Confidence below which a prediction backs off to an ancestor.
    """
    scores = model.score_rows(view, rows)
    columns = best_columns(scores, top)
    probabilities = model.probabilities(view, scores)
    shares = np.take_along_axis(probabilities, columns, axis=1)
    known = model.known_class_probability(view, scores)
    names = model.classes_
    sets = None if thresholds is None else classes_above(probabilities, thresholds, names)
    answers = None
    if ancestors is not None:
        best = columns[:, 0]
        answers = back_off(probabilities, best, known, model.world, ancestors, min_confidence)
    return BestClasses(rows, columns, names, shares, known, model.world, sets, answers)


def best_in_blocks(
    model: "Method", view: GraphView, rows: IntArray, top: int
) -> Iterator[BestClasses]:
    """Yield the top classes of any number of nodes, in blocks; without nodes, one empty block.

    Args:
        rows: Row numbers of the nodes, in any order.
        top: Number of classes for each node; all classes if the model has fewer.
    """
    validate_value("top", top, PositiveInt)
    step = rows_in_block(model)
    parts = (rows[start : start + step] for start in range(0, max(1, rows.size), step))
    return (best_classes(model, view, part, top) for part in parts)


def rows_in_block(model: "Method") -> int:
    """Return the number of nodes in a block: a multiple of the model's ``block_rows``."""
    blocks = max(1, min(BLOCK_ROWS, BLOCK_SCORES // len(model.classes_)) // model.block_rows)
    return blocks * model.block_rows


def best_columns(scores: NDArray[np.float64], top: int) -> NDArray[np.int64]:
    """Return the columns of the `top` largest scores in each row, best first.

    Equal scores are in column order.

    >>> best_columns(np.array([[1.0, 3.0, 3.0, 2.0]]), 2).tolist()
    [[1, 2]]
    """
    if top > min(SEARCHED, scores.shape[1]):
        return np.argsort(-scores, axis=1, kind="stable")[:, :top]
    remaining, nodes, columns = scores.copy(), np.arange(len(scores)), []
    for _ in range(top):
        columns.append(remaining.argmax(axis=1))
        remaining[nodes, columns[-1]] = -np.inf
    return np.stack(columns, axis=1)


def classes_above(
    probabilities: NDArray[np.float64], thresholds: NDArray[np.float64], names: Sequence[str]
) -> list[tuple[str, ...]]:
    """Return, for each row, the classes whose probability reaches their threshold, best first.

    The likeliest class is always included.

    >>> classes_above(np.array([[0.2, 0.7, 0.1]]), np.array([0.2, 0.3, 0.2]), ["a", "b", "c"])
    [('b', 'a')]
    """
    if not len(probabilities):
        return []
    inside = probabilities >= thresholds
    inside[np.arange(len(inside)), probabilities.argmax(axis=1)] = True
    rows, columns = np.nonzero(inside)
    best_first = np.lexsort((-probabilities[rows, columns], rows))
    best_names = np.array(names, dtype=object)[columns[best_first]]
    return [tuple(part) for part in np.split(best_names, np.cumsum(inside.sum(axis=1))[:-1])]


def recalls(targets: IntArray, predicted: IntArray, num_classes: int) -> NDArray[np.float64]:
    """Return the recall of each class: the share of its nodes predicted correctly, or NaN.

    >>> recalls(np.array([0, 0, 1]), np.array([0, 1, 1]), 2).tolist()
    [0.5, 1.0]

    Args:
        targets: Number of each node's true class, from 0.
        predicted: Number of each node's predicted class.
        num_classes: Number of classes, including classes without nodes, whose recall is NaN.
    """
    right = np.bincount(targets[targets == predicted], minlength=num_classes)
    counts = np.bincount(targets, minlength=num_classes)
    shares: NDArray[np.float64] = np.divide(
        right, counts, out=np.full(num_classes, np.nan), where=counts > 0
    )
    return shares
