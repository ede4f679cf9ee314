"""Log-linear mixture: combines several signals into one score by maximum-likelihood weights."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.events import SILENT, Listener

Signals = NDArray[np.floating[Any]]
"""Values of several signals: signal x node x class."""

SHRINKAGE = 1e-3
"""Penalty on squared weights, for signals scaled to standard deviation 1."""

MAX_STEPS = 15_000
"""Maximum number of times that the optimiser evaluates the cost; a few dozen are usual."""


def mixture_weights(
    rounds: Sequence[tuple[Signals, NDArray[np.int64]]],
    num_signed: int = 0,
    start: NDArray[np.float64] | None = None,
    listener: Listener = SILENT,
) -> NDArray[np.float64]:
    r"""Fit the weights :math:`w` of :math:`p(c \mid i) \propto \exp \sum_m w_m f_{mic}`.

    All classes have equal weight in the likelihood, however many queries they have. A small penalty
    splits the weight evenly between identical signals.

    >>> right = np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 0.0], [0.0, 2.0]])
    >>> noise = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> weights = mixture_weights([(np.stack((right, noise)), np.array([0, 1, 0, 1]))])
    >>> bool(weights[0] > 1.0), bool(abs(weights[1]) < 1e-3)
    (True, True)

    Args:
        rounds: For each round, signals of nodes and the class index of each node. Each round has
            its own classes, and all rounds have equal weight.
        num_signed: Number of signals at the end of the list whose weight may be negative.
        start: Initial weights, such as weights fitted to similar signals; None to start with
            weights of 1.
    """
    # These imports are slow, and only a fit needs them.
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
    result = minimize(cost, first, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    # Report the actual number of steps as the total, because the maximum is rarely reached.
    listener.step("fit signal weights", steps, steps)
    weights: NDArray[np.float64] = result.x / scale
    return weights


def label_noise(
    rounds: Sequence[tuple[Signals, NDArray[np.int64]]],
    start: NDArray[np.float64],
    num_signed: int = 0,
) -> tuple[float, list[NDArray[np.float64]]]:
    r"""Estimate the share of random labels, and the chance of each label to be right.

    The share :math:`e` and separate signal weights (see :func:`mixture_weights`) maximise the
    likelihood of the labels under :math:`(1 - e)\, p(c \mid i) + e / C`. A label that only a random
    draw explains is likely to be wrong; a label that is the second most probable class is not.

    Args:
        rounds: For each round, signals of nodes and the class index of each node's label.
        num_signed: Number of signals at the end of the list whose weight may be negative.
    """
    # These imports are slow, and only a fit needs them.
    from scipy.optimize import minimize
    from scipy.special import expit, logit, softmax

    scale, parts = _scaled(rounds)

    def likelihoods(
        weights: NDArray[np.float64], noise: float, signals: Signals, targets: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return class probabilities, and each label's likelihood and chance to be right."""
        shares = softmax((weights @ signals).reshape(targets.size, -1), axis=1)
        own = (1.0 - noise) * shares[np.arange(targets.size), targets]
        likelihood = own + noise / shares.shape[1]
        return shares, likelihood, own / likelihood

    def cost(parameters: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights, noise = parameters[:-1], expit(parameters[-1])
        total, slope = SHRINKAGE * float(weights @ weights), 2 * SHRINKAGE * parameters
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
    # Run the optimiser twice, from a low and from a high share of wrong labels, because weights
    # that fit wrong labels are a local optimum.
    best = min(
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
    weights, noise = best.x[:-1], float(expit(best.x[-1]))
    return noise, [
        likelihoods(weights, noise, signals, targets)[2] for signals, targets, _ in parts
    ]


def balanced_likelihood(
    weights: NDArray[np.float64], signals: Signals, targets: NDArray[np.int64]
) -> float:
    """Return the mean log-likelihood of the true classes, with equal weight for each class.

    Args:
        targets: Index of each node's true class.
    """
    from scipy.special import log_softmax

    logs = log_softmax(np.tensordot(weights, signals, 1), axis=1)
    own_logs = logs[np.arange(targets.size), targets]
    return float(_balance(targets, signals.shape[2]) @ own_logs)


def _scaled(
    rounds: Sequence[tuple[Signals, NDArray[np.int64]]],
) -> tuple[NDArray[np.float64], list[tuple[Signals, NDArray[np.int64], NDArray[np.float64]]]]:
    """Return the standard deviation of each signal, and the scaled data of each round.

    The data of a round are three arrays: the signals, centred for each node and divided by the
    standard deviation, with a column for each pair of a node and a class; the targets; and the
    weight of each node.
    """
    centred = [signals - signals.mean(axis=2, keepdims=True) for signals, _ in rounds]
    spread = np.sqrt(np.mean([(signals**2).mean(axis=(1, 2)) for signals in centred], axis=0))
    scale = np.where(spread > 0, spread, 1.0)
    parts = [
        (
            # Contiguous memory is faster, and the optimiser multiplies the array hundreds of times.
            np.ascontiguousarray(signals / scale[:, None, None]).reshape(scale.size, -1),
            targets,
            _balance(targets, signals.shape[2]) / len(rounds),
        )
        for signals, (_, targets) in zip(centred, rounds, strict=True)
    ]
    return scale, parts


def _bounds(count: int, num_signed: int) -> list[tuple[float | None, None]]:
    """Return bounds of the weights: at least 0, except for the last ``num_signed`` signals."""
    return [(0.0, None)] * (count - num_signed) + [(None, None)] * num_signed


def _balance(targets: NDArray[np.int64], classes: int) -> NDArray[np.float64]:
    counts = np.bincount(targets, minlength=classes)
    weights: NDArray[np.float64] = 1.0 / counts[targets]
    weights /= weights.sum()
    return weights
