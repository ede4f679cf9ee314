"""Cosines of rows and class means, relative to a centre."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.edges.matrix import FloatArray, Matrix, is_sparse, row_norms


def centred_cosines(vectors: Matrix, means: FloatArray, centre: FloatArray) -> NDArray[np.float64]:
    r"""Return :math:`\cos(z - \mu, p_k - \mu)` for every row :math:`z` and mean :math:`p_k`.

    Sparse rows stay sparse, because the products are expanded and :math:`z - \mu` is never
    computed.

    >>> rows, means = np.array([[2.0, 1.0]]), np.array([[1.0, 3.0], [5.0, 1.0]])
    >>> centred_cosines(rows, means, centre=np.array([1.0, 1.0])).round(3).tolist()
    [[0.0, 1.0]]

    Args:
        vectors: Rows to compare (:math:`z`).
        means: Class means (:math:`p_k`).
        centre: Row that is subtracted from both (:math:`\mu`), such as the mean of class means.
    """
    # Use double precision, because differences close to the centre are small.
    centre = centre.astype(np.float64)
    directions: NDArray[Any] = means - centre
    along = vectors @ np.vstack((directions, centre)).T
    products = along[:, :-1] - (directions * centre).sum(axis=1)
    squares = row_norms(vectors) ** 2 - 2 * along[:, -1] + centre @ centre
    lengths = np.sqrt(np.maximum(squares, 1e-12))[:, None] * (row_norms(directions) + 1e-12)
    return np.asarray(products / lengths, dtype=np.float64)


def cosine_contributions(
    vector: Matrix, examples: Matrix, mean: FloatArray, centre: FloatArray
) -> NDArray[np.float64]:
    r"""Return each example's contribution to a row's cosine with their mean, times their number.

    .. math:: \frac{(z - \mu)^\top (z_j - \mu)}{\lVert z - \mu \rVert \lVert p - \mu \rVert}

    The mean contribution over all examples :math:`z_j` is the centred cosine.

    >>> row, examples = np.array([[2.0, 1.0]]), np.array([[4.0, 0.0], [0.0, 2.0]])
    >>> mean, centre = examples.mean(axis=0), np.array([1.0, 0.0])
    >>> cosine_contributions(row, examples, mean, centre).round(3).tolist()
    [1.5, 0.5]

    Args:
        vector: Matrix with the row that is compared (:math:`z`).
        examples: One row for each labelled node of a class (:math:`z_j`).
        mean: Mean of the examples (:math:`p`).
        centre: Row that is subtracted from all others (:math:`\mu`).
    """
    direction = (vector.toarray() if is_sparse(vector) else vector)[0] - centre
    length = np.linalg.norm(direction) * np.linalg.norm(mean - centre)
    contributions = (examples @ direction - direction @ centre) / max(float(length), 1e-12)
    return np.asarray(contributions, dtype=np.float64)
