"""Models that learned without a part of the labels, each of which is in one such part."""

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

import numpy as np

from nodegraft.base.events import SILENT, Listener
from nodegraft.graph.keyed_labels import KeyedLabels
from nodegraft.graph.view import GraphView

if TYPE_CHECKING:
    from nodegraft.model.method import Method

FOLDS = 5
"""Number of parts of the labels of a class; each is scored by a model that learned the others."""


def models_without_a_fold(
    model: "Method",
    view: GraphView,
    names: Collection[str],
    what: str,
    listener: Listener = SILENT,
) -> Iterator[tuple["Method", KeyedLabels]]:
    """Yield models that learned without a fifth of the labels of each class, and these labels.

    What a method fitted besides labels, such as weights, stays: nothing is trained.

    Args:
        model: A model that takes other labels; it is not changed.
        names: Classes with at least two labels; those of other classes are always learned.
    """
    for fold in range(FOLDS if names else 0):
        listener.step(what, fold, FOLDS)
        part = {name: model.labels_[name] for name in names if model.labels_[name].size > fold}
        left_out = {name: keys[fold::FOLDS] for name, keys in part.items()}
        kept = {name: np.delete(keys, slice(fold, None, FOLDS)) for name, keys in part.items()}
        other = model._with_labels(view, KeyedLabels({**model.labels_, **kept}))
        yield other, KeyedLabels(left_out)
    listener.step(what, FOLDS, FOLDS)
