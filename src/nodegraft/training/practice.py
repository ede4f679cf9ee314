"""Weights and calibrated confidence from practice on known classes, without gradients."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.events import SILENT, Listener
from nodegraft.nn.confidence import ALWAYS_KNOWN, fit_calibration, fit_open_set
from nodegraft.nn.linear.loglinear import Signals, mixture_weights


@dataclass(frozen=True)
class PracticeRound:
    """What signals say in one episode made of known classes."""

    signals: Signals
    """The signals of the queries. The last one is the label scarcity, the same for all nodes: the
    only one whose weight may be negative."""

    targets: NDArray[np.int64]
    """The column of each query's class."""

    scarcity: NDArray[np.float64]
    """How few labels each class has: larger for fewer, such as log(1 + 100 / labels)."""

    unknown: Signals
    """The signals of nodes whose class is not in the episode; empty where there are none."""


class Calibration(NamedTuple):
    """How signals become a score, and the score becomes probabilities that come true."""

    weights: NDArray[np.float64]
    """One weight a signal: the score is their weighted sum."""

    confidence: NDArray[np.float64]
    """Coefficients of :func:`~nodegraft.nn.confidence.calibrated_probabilities`."""

    open_set: NDArray[np.float64]
    """Coefficients of :func:`~nodegraft.nn.confidence.known_class_probability`."""


def calibrate(
    rounds: Sequence[PracticeRound],
    start: NDArray[np.float64] | None = None,
    listener: Listener = SILENT,
) -> Calibration:
    """Weights of the largest balanced likelihood; then confidence, with nodes as frequent as they
    are, and the open-set score, from the rounds that have nodes of unknown classes.

    Args:
        rounds: What signals say in each episode. Where none has nodes of unknown classes, every
            node is taken to be of a known one.
        start: Weights to start from.
        listener: Is told of every step.
    """
    # Slow to import, and only a fit needs it.
    from scipy.special import softmax

    pairs = [(one.signals, one.targets) for one in rounds]
    weights = mixture_weights(pairs, num_signed=1, start=start, listener=listener)
    scores = [np.tensordot(weights, one.signals, 1) for one in rounds]
    probabilities = [softmax(score, axis=1) for score in scores]
    answers = [
        (some, one.scarcity, some.argmax(axis=1) == one.targets)
        for some, one in zip(probabilities, rounds, strict=True)
    ]
    mixed = [one.unknown.size > 0 for one in rounds]
    known = [score.max(axis=1) for score in compress(scores, mixed)]
    unknown = [np.tensordot(weights, one.unknown, 1).max(axis=1) for one in compress(rounds, mixed)]
    open_set = ALWAYS_KNOWN
    if unknown:
        open_set = fit_open_set(np.concatenate(known), np.concatenate(unknown))
    return Calibration(weights, fit_calibration(answers), open_set)
