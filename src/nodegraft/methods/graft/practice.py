"""Weights and calibrated confidence from practice on known classes, without gradients."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.events import SILENT, Listener
from nodegraft.methods.graft.confidence import ALWAYS_KNOWN, fit_calibration, fit_open_set
from nodegraft.methods.linear.loglinear import (
    Signals,
    balanced_likelihood,
    label_noise,
    mixture_weights,
)

Floats = NDArray[np.float64]

STANDARD_ERRORS = 2.0
"""Signals whose gain is smaller, in standard errors, are left out."""

LEAST_NOISE = 0.05
"""A smaller share of labels that look random is not taken for wrong labels."""


@dataclass(frozen=True)
class PracticeRound:
    """What signals say in one episode made of known classes."""

    signals: Signals
    """The signals of the queries. The last one is the label scarcity, the same for all nodes: the
    only one whose weight may be negative."""

    targets: NDArray[np.int64]
    """The column of each query's class."""

    scarcity: Floats
    """How few labels each class has: larger for fewer, such as log(1 + 100 / labels)."""

    unknown: Signals
    """The signals of nodes whose class is not in the episode; empty where there are none."""


class Mixture(NamedTuple):
    """How signals become a score, and what the score says of nodes of no known class."""

    weights: Floats
    """One weight a signal: the score is their weighted sum."""

    open_set: Floats
    """Coefficients of :func:`~nodegraft.methods.graft.confidence.known_class_probability`."""


def fit_mixture(
    rounds: Sequence[PracticeRound], start: Floats | None = None, listener: Listener = SILENT
) -> Mixture:
    """Weights of the largest balanced likelihood, and the open-set score from the rounds that have
    nodes of unknown classes.

    Args:
        rounds: What signals say in each episode. Where none has nodes of unknown classes, every
            node is taken to be of a known one.
        start: Weights to start from.
        listener: Is told of every step.
    """
    pairs = [(one.signals, one.targets) for one in rounds]
    weights = mixture_weights(pairs, num_signed=1, start=start, listener=listener)
    mixed = [one for one in rounds if one.unknown.size]
    if not mixed:
        return Mixture(weights, ALWAYS_KNOWN)
    known = [np.tensordot(weights, one.signals, 1).max(axis=1) for one in mixed]
    unknown = [np.tensordot(weights, one.unknown, 1).max(axis=1) for one in mixed]
    return Mixture(weights, fit_open_set(np.concatenate(known), np.concatenate(unknown)))


def is_gain(
    rounds: Sequence[PracticeRound],
    mixture: Mixture,
    others: Sequence[PracticeRound],
    other: Mixture,
) -> bool:
    """Return whether some signals make answers more likely, by more than chance.

    The gain in balanced log-likelihood must be :data:`STANDARD_ERRORS` over the rounds.

    Args:
        rounds: What all signals say in each episode.
        mixture: What was fitted to them.
        others: The same rounds without the signals in question.
        other: What was fitted to these.
    """
    gains = np.array(
        [
            balanced_likelihood(mixture.weights, one.signals, one.targets)
            - balanced_likelihood(other.weights, less.signals, less.targets)
            for one, less in zip(rounds, others, strict=True)
        ]
    )
    error = gains.std(ddof=1) / np.sqrt(gains.size) if gains.size > 1 else np.inf
    return bool(gains.mean() > STANDARD_ERRORS * error)


def fit_confidence(
    rounds: Sequence[PracticeRound], weights: Floats, wrong_labels: bool = False
) -> Floats:
    """Return coefficients of
    :func:`~nodegraft.methods.graft.confidence.calibrated_probabilities`, with nodes as frequent as
    they are.

    Where labels are wrong, answers that disagree with them are not: labels may count by their
    chance to be right (:func:`~nodegraft.methods.linear.loglinear.label_noise`).

    Args:
        rounds: What signals say in each episode.
        weights: Of the signals.
        wrong_labels: Whether labels count by their chance to be right, where more than
            :data:`LEAST_NOISE` of them look wrong.
    """
    # Slow to import, and only a fit needs it.
    from scipy.special import softmax

    answers = []
    for one in rounds:
        probabilities = softmax(np.tensordot(weights, one.signals, 1), axis=1)
        right = probabilities.argmax(axis=1) == one.targets
        answers.append((probabilities, one.scarcity, right))
    if not wrong_labels:
        return fit_calibration(answers)
    pairs = [(one.signals, one.targets) for one in rounds]
    noise, trust = label_noise(pairs, weights, num_signed=1)
    return fit_calibration(answers, np.concatenate(trust) if noise > LEAST_NOISE else None)
