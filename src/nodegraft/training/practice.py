"""What practice teaches a method without gradients: how to weigh its signals, how sure to be."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from nodegraft.nn.confidence import fit_confidence, fit_familiarity
from nodegraft.nn.loglinear import Signals, mixture_weights


@dataclass(frozen=True)
class Round:
    """Signals of the nodes asked in an episode, their classes' columns, and each class's evidence;
    then signals of strangers, nodes of no class in it.

    Evidence is the last signal too, the same for all nodes: the only one whose weight may be
    negative.
    """

    signals: Signals
    targets: NDArray[np.int64]
    evidence: NDArray[np.float64]
    strangers: Signals


@dataclass(frozen=True)
class Judgement:
    """Weights of the signals, coefficients of confidence and of familiarity."""

    weights: NDArray[np.float64]
    confidence: NDArray[np.float64]
    familiarity: NDArray[np.float64]


def practise(rounds: Sequence[Round]) -> Judgement:
    """Weights of the largest balanced likelihood; then confidence, with nodes as frequent as they
    are, and familiarity, from the rounds that have strangers.
    """
    weights = mixture_weights([(one.signals, one.targets) for one in rounds], may_be_negative=1)
    scores = [np.tensordot(weights, one.signals, 1) for one in rounds]
    shares = [softmax(score, axis=1) for score in scores]
    answers = [
        (share, one.evidence, share.argmax(axis=1) == one.targets)
        for share, one in zip(shares, rounds, strict=True)
    ]
    mixed = [one.strangers.size > 0 for one in rounds]
    known = [score.max(axis=1) for score in compress(scores, mixed)]
    strange = [
        np.tensordot(weights, one.strangers, 1).max(axis=1) for one in compress(rounds, mixed)
    ]
    return Judgement(
        weights,
        fit_confidence(answers),
        fit_familiarity(np.concatenate(known), np.concatenate(strange)),
    )
