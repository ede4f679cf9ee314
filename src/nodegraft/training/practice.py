"""What practice teaches a method without gradients: how to weigh its signals, how sure to be."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from nodegraft.nn.confidence import fit_confidence
from nodegraft.nn.loglinear import Signals, mixture_weights


@dataclass(frozen=True)
class Round:
    """Signals of the nodes asked in an episode, their classes' columns, and each class's evidence.

    Evidence is the last signal too, the same for all nodes: the only one whose weight may be
    negative.
    """

    signals: Signals
    targets: NDArray[np.int64]
    evidence: NDArray[np.float64]


@dataclass(frozen=True)
class Judgement:
    """Weights of the signals, and coefficients of confidence."""

    weights: NDArray[np.float64]
    confidence: NDArray[np.float64]


def practise(rounds: Sequence[Round]) -> Judgement:
    """Weights of the largest balanced likelihood; then confidence, with nodes as frequent as they
    are."""
    weights = mixture_weights([(one.signals, one.targets) for one in rounds], may_be_negative=1)
    shares = [softmax(np.tensordot(weights, one.signals, 1), axis=1) for one in rounds]
    correct = [
        share.argmax(axis=1) == one.targets for share, one in zip(shares, rounds, strict=True)
    ]
    answers = [
        (share, one.evidence, right)
        for share, one, right in zip(shares, rounds, correct, strict=True)
    ]
    return Judgement(weights, fit_confidence(answers))
