"""What practice teaches a method without gradients: how to weigh its signals, how sure to be."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.events import SILENT, Listener
from nodegraft.nn.confidence import fit_calibration, fit_open_set
from nodegraft.nn.linear.loglinear import Signals, mixture_weights


@dataclass(frozen=True)
class PracticeRound:
    """What signals say in one episode made of known classes."""

    signals: Signals
    """Of the nodes asked about. The last signal is the evidence, the same for all nodes: the only
    one whose weight may be negative."""

    targets: NDArray[np.int64]
    """The column of each one's class."""

    evidence: NDArray[np.float64]
    """How few labels each class rests on."""

    unknown: Signals
    """Of nodes whose class is not in the episode."""


@dataclass(frozen=True)
class Calibration:
    """What practice found: weights, and coefficients that make scores mean something."""

    weights: NDArray[np.float64]
    """Of the signals."""

    confidence: NDArray[np.float64]
    """Of calibrated probabilities."""

    open_set: NDArray[np.float64]
    """Of the chance that a node is of a known class at all."""


def practise(rounds: Sequence[PracticeRound], listener: Listener = SILENT) -> Calibration:
    """Weights of the largest balanced likelihood; then confidence, with nodes as frequent as they
    are, and the open-set score, from the rounds that have nodes of unknown classes.

    Args:
        rounds: What was said in each episode.
        listener: Is told how far it is.
    """
    # Slow to import, and only a fit needs it.
    from scipy.special import softmax

    pairs = [(one.signals, one.targets) for one in rounds]
    weights = mixture_weights(pairs, may_be_negative=1, listener=listener)
    scores = [np.tensordot(weights, one.signals, 1) for one in rounds]
    shares = [softmax(score, axis=1) for score in scores]
    answers = [
        (share, one.evidence, share.argmax(axis=1) == one.targets)
        for share, one in zip(shares, rounds, strict=True)
    ]
    mixed = [one.unknown.size > 0 for one in rounds]
    known = [score.max(axis=1) for score in compress(scores, mixed)]
    unknown = [np.tensordot(weights, one.unknown, 1).max(axis=1) for one in compress(rounds, mixed)]
    return Calibration(
        weights,
        fit_calibration(answers),
        fit_open_set(np.concatenate(known), np.concatenate(unknown)),
    )
