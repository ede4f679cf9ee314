"""Age prior: what the session in which a node appeared says about its class."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.view import GraphView

ROUNDS = 10
"""Rounds of estimating shares and predictions from each other."""

POWERS: tuple[float, ...] = tuple((2.0 ** np.arange(-3, 8.25, 0.25)).tolist())
"""Powers that :func:`fit_power` chooses from."""

SMOOTHING = 1.0
"""Nodes of the average age that every class is given beside its own."""

_TINY = 1e-12


def first_sessions(views: Sequence[GraphView]) -> NDArray[np.int64]:
    """Return the session in which each visible node of the last view appeared.

    Args:
        views: The view of each session so far, in their order.
    """
    hidden = [~np.isin(views[-1].rows, view.rows) for view in views]
    sessions: NDArray[np.int64] = np.sum(hidden, axis=0, dtype=np.int64)
    return sessions


def fit_power(probabilities: NDArray[np.float64], targets: NDArray[np.int64]) -> float:
    """Return the power of predicted probabilities that fits labels best, by likelihood.

    A method whose probabilities are too flat would follow any prior; with the power (the inverse of
    a temperature) its own evidence keeps the weight that it deserves.

    Args:
        probabilities: Predicted probabilities, nodes x classes, of labelled nodes.
        targets: Column of the class of each of these nodes.
    """

    def likelihood(power: float) -> float:
        own = raised(probabilities, power)[np.arange(targets.size), targets]
        return float(np.log(own.clip(_TINY)).mean())

    return max(POWERS, key=likelihood)


def raised(probabilities: NDArray[np.float64], power: float) -> NDArray[np.float64]:
    """Return probabilities to a power, divided by their sum."""
    logarithms = power * np.log(probabilities.clip(_TINY))
    exponentials = np.exp(logarithms - logarithms.max(axis=1, keepdims=True))
    return _normalised(exponentials)


def with_age_prior(
    probabilities: NDArray[np.float64],
    ages: NDArray[np.int64],
    arrived: NDArray[np.int64],
    lead: int,
) -> NDArray[np.float64]:
    r"""Return probabilities that use the age of nodes, estimated without the labels of these nodes.

    With the share of a class's nodes that appeared in session :math:`a` as :math:`P(a \mid c)`,
    :math:`P'(c \mid x, a) \propto P(c \mid x) P(a \mid c)`. The shares are means over the nodes,
    weighted by :math:`P'`, in :data:`ROUNDS` rounds. Before the first, classes are excluded that
    arrived more than ``lead`` sessions after the node.

    Args:
        probabilities: Predicted probabilities, nodes x classes, of all nodes without a label.
        ages: Session in which each of these nodes appeared.
        arrived: Session in which each class arrived.
        lead: Largest number of sessions by which a labelled node appeared before its class.
    """
    average = np.bincount(ages) / ages.size
    members = np.eye(average.size)[ages]
    possible = arrived[None, :] <= ages[:, None] + lead
    adjusted = _normalised(probabilities * possible)
    for _ in range(ROUNDS):
        shares = members.T @ adjusted + SMOOTHING * average[:, None]
        shares /= shares.sum(axis=0)
        adjusted = _normalised(probabilities * possible * shares[ages])
    return adjusted


def with_true_ages(
    probabilities: NDArray[np.float64],
    ages: NDArray[np.int64],
    targets: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Like :func:`with_age_prior`, with the true shares of ages, which no method may know.

    Args:
        targets: Column of the class of each node.
    """
    shares = np.zeros((int(ages.max()) + 1, probabilities.shape[1]))
    np.add.at(shares, (ages, targets), 1.0)
    shares /= shares.sum(axis=0).clip(1.0)
    return _normalised(probabilities * shares[ages])


def _normalised(values: NDArray[np.float64]) -> NDArray[np.float64]:
    normalised: NDArray[np.float64] = values / values.sum(axis=1, keepdims=True).clip(_TINY)
    return normalised
