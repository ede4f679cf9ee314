"""Learning curve of a version: accuracy of its method, fitted on fewer of its labels."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nodegraft.analysis.accuracy import predict_labelled
from nodegraft.analysis.labels.labels import StoreLabels
from nodegraft.analysis.snapshot import State
from nodegraft.analysis.version import AccuracyCount
from nodegraft.base.errors import ParameterError
from nodegraft.base.events import SILENT, Listener
from nodegraft.base.parameters.constraints import PositiveInt
from nodegraft.base.parameters.validate import validate_value
from nodegraft.graph.keys import several

SIZES = (2, 5, 10, 20, 50, 100, 200, 500, 1000)
"""Numbers of labels of a class, of which those smaller than the largest class are measured."""


@dataclass(frozen=True)
class CurvePoint:
    """Accuracy of a method that was fitted on some of the labels."""

    labels_of_a_class: int
    """Largest number of training labels of a class."""

    labels: int
    """Number of training labels of all classes."""

    asked: int
    """Number of held-out nodes."""

    right: int
    """Number of held-out nodes that are predicted correctly."""

    @property
    def count(self) -> AccuracyCount:
        """Correct predictions, with their share and its interval."""
        return AccuracyCount(self.asked, self.right)


def learning_curve(
    state: State, sizes: Sequence[int] | None = None, listener: Listener = SILENT
) -> list[CurvePoint]:
    """Fit the method on a few labels of each class, then on more; measure on the held-out nodes.

    The labels of a class are chosen by the hashes of their keys, so a larger number contains a
    smaller one. Each point is one fit from scratch.

    Args:
        sizes: Largest numbers of training labels of a class; None for 2, 5, 10, 20 … and all.
    """
    largest = max(len(one.taught) for one in state.labels.values())
    chosen = (
        [size for size in SIZES if size < largest] + [largest]
        if sizes is None
        else several(sizes, "sizes")
    )
    validate_value("sizes", chosen, list[PositiveInt])
    if not chosen:
        raise ParameterError("sizes must be numbers of labels, at least 1; none was given.")
    points = []
    for size in sorted({min(size, largest) for size in chosen}):
        some = {name: replace(one, taught=one.taught[:size]) for name, one in state.labels.items()}
        labels = StoreLabels(some)
        fitted = replace(state, labels=labels).refitted(listener)
        right = predict_labelled(fitted, None).is_right
        points.append(CurvePoint(size, labels.num_teaching, right.size, int(right.sum())))
    return points
