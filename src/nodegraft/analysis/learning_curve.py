"""Learning curve of a version: held-out accuracy by number of training labels."""

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
"""Default numbers of training labels per class, up to the size of the largest class."""


@dataclass(frozen=True)
class CurvePoint:
    """Held-out accuracy of a method that was fitted on a subset of the labels."""

    labels_of_a_class: int
    """Maximum number of training labels per class."""

    labels: int
    """Total number of training labels."""

    total: int
    """Number of held-out nodes."""

    right: int
    """Number of held-out nodes that are predicted correctly."""

    @property
    def count(self) -> AccuracyCount:
        """Number of held-out nodes and of correct predictions, with accuracy and its interval."""
        return AccuracyCount(self.total, self.right)


def learning_curve(
    state: State, sizes: Sequence[int] | None = None, listener: Listener = SILENT
) -> list[CurvePoint]:
    """Measure held-out accuracy of the method for increasing numbers of training labels per class.

    For each point, the method is fitted from scratch. Labels of a class are ordered by key hash, so
    that a larger subset contains every smaller subset.

    Args:
        sizes: Maximum numbers of training labels per class; None for 2, 5, 10, 20 … and all.
    """
    largest = max(len(own.training) for own in state.labels.values())
    limits = (
        [size for size in SIZES if size < largest] + [largest]
        if sizes is None
        else several(sizes, "sizes")
    )
    validate_value("sizes", limits, list[PositiveInt])
    if not limits:
        raise ParameterError("sizes must be numbers of labels, at least 1; none was given.")
    points = []
    for size in sorted({min(size, largest) for size in limits}):
        some = {
            name: replace(own, training=own.training[:size]) for name, own in state.labels.items()
        }
        labels = StoreLabels(some)
        new_state = replace(state, labels=labels).refitted(listener)
        right = predict_labelled(new_state, None).is_right
        points.append(CurvePoint(size, labels.num_training, right.size, int(right.sum())))
    return points
