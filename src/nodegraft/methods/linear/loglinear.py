"""One score from several: a log-linear mixture with weights of largest likelihood."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.events import SILENT, Listener

Signals = NDArray[np.floating[Any]]
"""Scores of several kinds: signal x node x class."""

SHRINKAGE = 1e-3
"""The penalty on squared weights, measured in standard deviations of their signal."""

MAX_STEPS = 15_000
"""The optimiser stops after so many evaluations at the latest; some dozens are usual."""


def mixture_weights(
    rounds: Sequence[tuple[Signals, NDArray[np.int64]]],
    num_signed: int = 0,
    start: NDArray[np.float64] | None = None,
    listener: Listener = SILENT,
) -> NDArray[np.float64]:
    r"""Return weights :math:`w` of :math:`p(c \mid i) \propto \exp \sum_m w_m f_{mic}`.

    Each class counts alike, however many of its nodes are queried. Weights are shrunk a little: of
    two signals that say the same, both get half.

    >>> right = np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 0.0], [0.0, 2.0]])
    >>> noise = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> weights = mixture_weights([(np.stack((right, noise)), np.array([0, 1, 0, 1]))])
    >>> bool(weights[0] > 1.0), bool(abs(weights[1]) < 1e-3)
    (True, True)

    Args:
        rounds: Signals of some nodes, and the column of each one's class; every round has classes
            of its own. All rounds count alike.
        num_signed: How many signals, counted from the last, may get a weight of either sign; the
            weights of the others are not negative.
        start: Weights to start from, such as those of signals that were much alike.
    """
    # Imported late, because they are slow to import and only a fit needs them.
    from scipy.optimize import minimize
    from scipy.special import log_softmax

    scale, parts = _scaled(rounds)
    steps = 0

    def cost(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        nonlocal steps
        total, slope = SHRINKAGE * float(weights @ weights), 2 * SHRINKAGE * weights
        for signals, targets, balance in parts:
            logs = log_softmax((weights @ signals).reshape(targets.size, -1), axis=1)
            nodes = np.arange(targets.size)
            total -= float(balance @ logs[nodes, targets])
            errors = np.exp(logs)
            errors[nodes, targets] -= 1.0
            slope = slope + signals @ (errors * balance[:, None]).ravel()
        steps += 1
        listener.step("fit signal weights", steps, MAX_STEPS, loss=total)
        return total, slope

    bounds = _bounds(scale.size, num_signed)
    first = np.ones(scale.size) if start is None else start * scale
    options = {"maxfun": MAX_STEPS}
    found = minimize(cost, first, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    # The limit was no forecast.
    listener.step("fit signal weights", steps, steps)
    weights: NDArray[np.float64] = found.x / scale
    return weights


def label_noise(
    rounds: Sequence[tuple[Signals, NDArray[np.int64]]],
    start: NDArray[np.float64],
    num_signed: int = 0,
) -> tuple[float, list[NDArray[np.float64]]]:
    r"""Return the share of labels that look drawn at random, and the chance of each to be right.

    Labels are most likely under :math:`(1 - e)\, p(c \mid i) + e / C` with weights of
    :func:`mixture_weights` of their own: a label that only a random draw explains is taken for a
    wrong one, a label that is the second guess is not.

    Args:
        rounds: Signals of some nodes, and the column of each one's class, as labelled.
    """
    # Imported late, because they are slow to import and only a fit needs them.
    from scipy.optimize import minimize
    from scipy.special import expit, logit, softmax

    scale, parts = _scaled(rounds)

    def likelihoods(
        weights: NDArray[np.float64], noise: float, signals: Signals, targets: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return shares (node x class), and each label's likelihood and chance to be right."""
        shares = softmax((weights @ signals).reshape(targets.size, -1), axis=1)
        own = (1.0 - noise) * shares[np.arange(targets.size), targets]
        likelihood = own + noise / shares.shape[1]
        return shares, likelihood, own / likelihood

    def cost(found: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights, noise = found[:-1], expit(found[-1])
        total, slope = SHRINKAGE * float(weights @ weights), 2 * SHRINKAGE * found
        slope[-1] = 0.0
        for signals, targets, balance in parts:
            shares, likelihood, right = likelihoods(weights, noise, signals, targets)
            total -= float(balance @ np.log(likelihood))
            errors = shares * right[:, None]
            errors[np.arange(targets.size), targets] -= right
            slope[:-1] += signals @ (errors * balance[:, None]).ravel()
            slope[-1] += float(balance @ (right - (1.0 - noise)))
        return total, slope

    bounds = [*_bounds(scale.size, num_signed), (-9.0, 2.0)]
    # From few and from many wrong labels: weights that follow wrong ones are an optimum, too.
    found = min(
        (
            minimize(
                cost,
                np.append(start * scale, logit(noise)),
                jac=True,
                method="L-BFGS-B",
                bounds=bounds,
            )
            for noise in (0.02, 0.25)
        ),
        key=lambda result: float(result.fun),
    )
    weights, noise = found.x[:-1], float(expit(found.x[-1]))
    return noise, [
        likelihoods(weights, noise, signals, targets)[2] for signals, targets, _ in parts
    ]


def balanced_likelihood(
    weights: NDArray[np.float64], signals: Signals, targets: NDArray[np.int64]
) -> float:
    """Return the mean log-likelihood of the true classes, each class counting alike."""
    from scipy.special import log_softmax

    logs = log_softmax(np.tensordot(weights, signals, 1), axis=1)
    chosen = logs[np.arange(targets.size), targets]
    return float(_balance(targets, signals.shape[2]) @ chosen)


def _scaled(
    rounds: Sequence[tuple[Signals, NDArray[np.int64]]],
) -> tuple[NDArray[np.float64], list[tuple[Signals, NDArray[np.int64], NDArray[np.float64]]]]:
    """Return the spread of each signal, and of each round the signals divided by it (signal x
    pair), the targets and the weight of each node."""
    centred = [signals - signals.mean(axis=2, keepdims=True) for signals, _ in rounds]
    spread = np.sqrt(np.mean([(signals**2).mean(axis=(1, 2)) for signals in centred], axis=0))
    scale = np.where(spread > 0, spread, 1.0)
    parts = [
        (
            # Side by side in memory: products over them are made some hundred times.
            np.ascontiguousarray(signals / scale[:, None, None]).reshape(scale.size, -1),
            targets,
            _balance(targets, signals.shape[2]) / len(rounds),
        )
        for signals, (_, targets) in zip(centred, rounds, strict=True)
    ]
    return scale, parts


def _bounds(count: int, num_signed: int) -> list[tuple[float | None, None]]:
    """Return bounds of weights: not negative but for the last ``num_signed``."""
    return [(0.0, None)] * (count - num_signed) + [(None, None)] * num_signed


def _balance(targets: NDArray[np.int64], classes: int) -> NDArray[np.float64]:
    counts = np.bincount(targets, minlength=classes)
    weights: NDArray[np.float64] = 1.0 / counts[targets]
    weights /= weights.sum()
    return weights
