"""Five random-walk filters of features, a least-squares fit on each, and their differences."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.graph.edges.matrix import Matrix, is_sparse
from nodegraft.graph.view import GraphView
from nodegraft.methods.linear.dual import dual_ridge

Floats: TypeAlias = NDArray[np.float64]

CHANNELS = ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, -1, 0), (1, -2, 1))
r"""Each channel as a polynomial of :math:`P`: :math:`1, P, P^2, 1 - P, (1 - P)^2`."""


def walk_matrix(view: GraphView) -> "csr_array[Any]":
    r"""Return :math:`P = D^{-1}A` of the visible graph; rows of nodes without edges are zero."""
    counts, neighbours = view.neighbours(view.rows)
    entries = np.repeat(1.0 / np.maximum(counts, 1), counts)
    starts = np.concatenate(([0], np.cumsum(counts)))
    shape = (view.num_nodes, view.num_nodes)
    return csr_array((entries, view.positions(neighbours), starts), shape=shape)


def channel_rows(view: GraphView, places: NDArray[np.int64]) -> list[Matrix]:
    """Return the filtered features of nodes for each channel."""
    walk, features = walk_matrix(view), view.features(view.rows).astype(np.float64)
    once = walk @ features
    powers = features[places], once[places], walk[places] @ once
    return [_combined(channel, powers) for channel in CHANNELS]


def channel_predictions(view: GraphView, weights: Sequence[Floats]) -> Floats:
    """Return the linear predictions of each channel for all visible nodes: nodes x 5 x classes.

    Args:
        weights: For each channel, a weight matrix: features x classes.
    """
    walk, features = walk_matrix(view), view.features(view.rows).astype(np.float64)
    predictions = []
    for channel, own in zip(CHANNELS, weights, strict=True):
        own_features = np.asarray(features @ own)
        once = walk @ own_features
        predictions.append(_combined(channel, (own_features, once, walk @ once)))
    return np.stack(predictions, axis=1)


def _combined(channel: tuple[int, ...], powers: Sequence[Any]) -> Any:
    used = [factor * power for factor, power in zip(channel, powers, strict=True) if factor]
    total = used[0]
    for more in used[1:]:
        total = total + more
    return csr_array(total) if is_sparse(total) else total


def least_squares(gram: Floats, counts: NDArray[np.int64], penalty: float) -> Floats:
    r"""Return the coefficients of labelled rows in a fit to one-hot targets.

    Without a penalty it is the minimum-norm fit :math:`Z^+ Y = Z^\top (Z Z^\top + \epsilon I)^{-1}
    Y`, with :math:`\epsilon` so small that it only selects one of several equal solutions. With a
    penalty it is class-balanced ridge regression.

    >>> rows = np.array([[2.0, 0.0], [0.0, 1.0]])
    >>> fit = least_squares(rows @ rows.T, np.array([1, 1]), penalty=0.0)
    >>> (rows.T @ fit).round(6).tolist()
    [[0.5, 0.0], [0.0, 1.0]]

    Args:
        gram: Inner products of the labelled rows, ordered by class.
        counts: Number of labelled rows of each class.
        penalty: Strength of L2 regularisation, relative to the mean squared length of a row.
    """
    from scipy.linalg import solve

    scale = np.trace(gram) / len(gram) or 1.0
    if penalty:
        return dual_ridge(gram / scale, counts, penalty).coefficients / scale
    one_hot = np.repeat(np.eye(counts.size), counts, axis=0)
    system = gram / scale + 1e-8 * np.eye(len(gram))
    weights: Floats = solve(system, one_hot, assume_a="pos") / scale
    return weights


def similarities(predictions: Floats, entropy: float) -> Floats:
    r"""Return similarities :math:`p_{j|i} \propto \exp(-\beta_i d_{ij}^2)` of pairs of channels.

    :math:`\beta_i` is chosen so that :math:`p_{\cdot|i}` has the given entropy, or the nearest
    possible entropy if some distances are equal.

    Args:
        predictions: Predictions of each channel: nodes x channels x classes.
        entropy: Entropy in bits, between 0 and the binary logarithm of the number of other
            channels.

    Returns:
        One row per node: for each channel, its similarities to the other channels, in order.
    """
    count = predictions.shape[1]
    others = np.array([[j for j in range(count) if j != i] for i in range(count)])
    far = np.stack(
        [
            [np.square(predictions[:, i] - predictions[:, j]).sum(axis=1) for j in others[i]]
            for i in range(count)
        ]
    ).transpose(2, 0, 1)
    far = far / np.maximum(far.mean(axis=2, keepdims=True), np.finfo(np.float64).tiny)
    far -= far.min(axis=2, keepdims=True)
    # Find the logarithm of beta by bisection: entropy falls as beta grows.
    low, high = np.full(far.shape[:2], -7.0), np.full(far.shape[:2], 7.0)
    for _ in range(50):
        middle = (low + high) / 2
        wide = _entropy(_shares(far, middle)) > entropy
        low, high = np.where(wide, middle, low), np.where(wide, high, middle)
    return _shares(far, (low + high) / 2).reshape(len(predictions), -1)


def _shares(far: Floats, exponents: Floats) -> Floats:
    powers = np.exp(-(10.0**exponents)[:, :, None] * far)
    shares: Floats = powers / powers.sum(axis=2, keepdims=True)
    return shares


def _entropy(shares: Floats) -> Floats:
    logs = np.log2(np.maximum(shares, np.finfo(np.float64).tiny))
    bits: Floats = -(shares * logs).sum(axis=2)
    return bits
