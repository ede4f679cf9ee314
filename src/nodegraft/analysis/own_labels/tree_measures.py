"""Accuracy of a method in the class tree of a store."""

import numpy as np

from nodegraft.analysis.drift import CONFIDENT
from nodegraft.model.back_off import Ancestors, Floats, TreeMeasures, back_off, measure
from nodegraft.model.class_tree import ClassTree
from nodegraft.model.hooks import Capability
from nodegraft.model.method import Method
from nodegraft.streams.stream import ClassStream


def measure_in_tree(model: Method, stream: ClassStream, tree: ClassTree) -> TreeMeasures:
    """Measure predictions and answers that back off, for the query nodes of the last session.

    Answers have a confidence of at least :data:`nodegraft.analysis.drift.CONFIDENT`, in a closed
    world, because all query nodes belong to known classes.

    Args:
        model: Method that was trained on the whole stream.
        stream: Stream of sessions.
        tree: Parents of the classes.
    """
    *_, session = stream
    rows, ancestors = np.sort(session.query.rows()), Ancestors.of(model.classes_, tree)
    scores = model.score_rows(session.view, rows)
    best = scores.argmax(axis=1)
    answers = None
    if Capability.CALIBRATED in model.capabilities():
        shares: Floats = model.probabilities(session.view, scores)
        known = np.full(rows.size, np.nan)
        answers = back_off(shares, best, known, "closed", ancestors, CONFIDENT).places
    targets = session.query.targets(model.classes_)[np.argsort(session.query.rows())]
    return measure(best, answers, targets, ancestors)
