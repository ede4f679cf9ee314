"""Age prior (the session in which a node appeared), and nodes with features of a labelled node."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.graph.view import GraphView

ROUNDS = 10
"""Number of rounds; each estimates shares from predictions, then predictions from shares."""

POWERS: tuple[float, ...] = tuple((2.0 ** np.arange(-3, 8.25, 0.25)).tolist())
"""Candidate powers for :func:`fit_power`."""

SMOOTHING = 1.0
"""Number of nodes with the average distribution of ages that are added to each class."""

_TINY = 1e-12


def first_sessions(views: Sequence[GraphView]) -> NDArray[np.int64]:
    """Return the session in which each visible node of the last view appeared.

    Args:
        views: Views of all sessions so far, in order.
    """
    hidden = [~np.isin(views[-1].rows, view.rows) for view in views]
    sessions: NDArray[np.int64] = np.sum(hidden, axis=0, dtype=np.int64)
    return sessions


def fit_power(probabilities: NDArray[np.float64], targets: NDArray[np.int64]) -> float:
    """Return the power of predicted probabilities that maximises the likelihood of the labels.

    The power is the inverse of a temperature. Without it, an age prior would have too much weight
    if the probabilities of a method are too flat.

    Args:
        probabilities: Predicted probabilities, nodes x classes, of labelled nodes.
        targets: Column of the true class of each of these nodes.
    """

    def likelihood(power: float) -> float:
        own = raised(probabilities, power)[np.arange(targets.size), targets]
        return float(np.log(own.clip(_TINY)).mean())

    return max(POWERS, key=likelihood)


def raised(probabilities: NDArray[np.float64], power: float) -> NDArray[np.float64]:
    """Raise probabilities to a power and normalise each row to sum 1."""
    logarithms = power * np.log(probabilities.clip(_TINY))
    exponentials = np.exp(logarithms - logarithms.max(axis=1, keepdims=True))
    return _normalised(exponentials)


def with_age_prior(
    probabilities: NDArray[np.float64],
    ages: NDArray[np.int64],
    arrived: NDArray[np.int64],
    lead: int,
) -> NDArray[np.float64]:
    r"""Return probabilities updated with an age prior, which is estimated without labels.

    :math:`P'(c \mid x, a) \propto P(c \mid x) P(a \mid c)`, where :math:`P(a \mid c)` is the share
    of the nodes of class :math:`c` that appeared in session :math:`a`. The shares are means over
    the nodes, weighted by :math:`P'`, and are updated in :data:`ROUNDS` rounds. Before the first
    round, a class that arrived more than ``lead`` sessions after a node is excluded for this node.

    Args:
        probabilities: Predicted probabilities, nodes x classes, of all unlabelled nodes.
        ages: Session in which each of these nodes appeared.
        arrived: Session in which each class arrived.
        lead: Maximum number of sessions by which a labelled node appeared before its class.
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
    """Like :func:`with_age_prior`, but use the true shares of ages, which no method may know.

    Args:
        probabilities: Predicted probabilities, nodes x classes.
        ages: Session in which each node appeared.
        targets: Column of the true class of each node.
    """
    shares = np.zeros((int(ages.max()) + 1, probabilities.shape[1]))
    np.add.at(shares, (ages, targets), 1.0)
    shares /= shares.sum(axis=0).clip(1.0)
    return _normalised(probabilities * shares[ages])


def _normalised(values: NDArray[np.float64]) -> NDArray[np.float64]:
    normalised: NDArray[np.float64] = values / values.sum(axis=1, keepdims=True).clip(_TINY)
    return normalised


def same_as_labelled(
    view: GraphView, rows: NDArray[np.int64], labelled: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return whether each row has exactly the features of a labelled row.

    This function compares features instead of texts, because some datasets have no texts, and equal
    texts have equal features. A row without features is never a duplicate.

    Args:
        rows: Row numbers of the nodes to compare.
    """
    known = set(_features(view, labelled)) - {b""}
    return np.array([features in known for features in _features(view, rows)], dtype=bool)


def _features(view: GraphView, rows: NDArray[np.int64]) -> list[bytes]:
    features = csr_array(view.features(rows))
    features.eliminate_zeros()
    features.sort_indices()
    ends = features.indptr.tolist()
    return [
        features.indices[start:end].tobytes() + features.data[start:end].tobytes()
        for start, end in pairwise(ends)
    ]
