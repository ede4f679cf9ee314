"""What the first classes fix for all later ones: the centre of cosines, and a ridge regression."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.spread import SpreadFeatures, SpreadRows
from nodegraft.nn.linear.frozen_ridge import FrozenRidge
from nodegraft.nn.linear.primal_ridge import PrimalRidge

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FirstClasses:
    """The classes that a model started with, as those that came later see them."""

    centre: tuple[Floats, ...]
    """For each layer the mean of their mean rows."""

    regression: list[Floats] | None
    """For each of the layers X, SX, S²X a row for each class, later ones too: the products with a
    node's rows add up to its score. None where no regression is wanted."""


def regressed(
    ridge: FrozenRidge,
    features: SpreadFeatures,
    labels: SpreadRows,
    means: Sequence[Floats],
    first: NDArray[np.int64],
) -> list[Floats]:
    """The rows of :attr:`FirstClasses.regression`, on all layers side by side, of length 1.

    Args:
        ridge: The regression among the first classes' labels.
        features: The rows of all nodes.
        labels: Those of these labels.
        means: For each layer the mean row of every class; those of first classes play no part.
        first: Where the first classes stand among all.
    """
    hops = features.powers
    later = np.setdiff1d(np.arange(len(means[0])), first)
    joining = [means[hop][later] / len(hops) for hop in hops]
    across = np.zeros((len(ridge.coefficients), later.size))
    squares = np.zeros(later.size)
    for hop in hops:
        across += labels.times(hop, features.weighed(joining[hop]))
        squares += np.einsum("ij,ij->i", means[hop][later], joining[hop])
    shares = np.zeros((len(across), len(means[0])))
    shares[:, first] = ridge.coefficients
    shares[:, later], own = ridge.joined(across, squares)
    found = [labels.sums(hop, shares) / len(hops) for hop in hops]
    for hop in hops:
        found[hop][later] += own[:, None] * joining[hop]
    return found


def regressed_narrow(
    features: SpreadFeatures,
    labels: SpreadRows,
    owners: NDArray[np.int64],
    means: Sequence[Floats],
    first: NDArray[np.int64],
    penalty: float,
) -> list[Floats]:
    """The same as :func:`regressed`, of rows that are dense and narrow.

    Args:
        features: The rows of all nodes.
        labels: Those of the first classes' labels.
        owners: Which of the first classes each label is of.
        means: For each layer the mean row of every class.
        first: Where the first classes stand among all.
        penalty: Of the regression.
    """
    hops, root = features.powers, np.sqrt(len(features.powers))
    ridge = PrimalRidge.solved(
        np.hstack([labels.dense(hop) for hop in hops]) / root, owners, penalty
    )
    later = np.setdiff1d(np.arange(len(means[0])), first)
    weights = np.zeros((len(means[0]), ridge.weights.shape[1]))
    weights[first] = ridge.weights
    weights[later] = ridge.joined(np.hstack([means[hop][later] for hop in hops]) / root)
    return np.split(weights / root, len(hops), axis=1)
