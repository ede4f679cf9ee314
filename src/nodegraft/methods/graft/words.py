"""How much more likely a row is in a class than anywhere: linear in the row."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def word_log_ratios(means: Floats, background: Floats) -> Floats:
    r""":math:`\log \frac{q_c + b}{2b}`: what each word says for each class.

    The product with a row of word weights is the log-likelihood ratio of a multinomial naive
    Bayes, smoothed by the background itself: a word that a class's few labels do not have is held
    against it no more than chance would.

    >>> word_log_ratios(np.array([[0.3, 0.1]]), np.array([0.1, 0.1])).round(3).tolist()
    [[0.693, 0.0]]

    Args:
        means: The mean row of each class (:math:`q_c`); what is negative counts as nothing.
        background: The mean row of all nodes (:math:`b`), positive.
    """
    # Rows that came after the background was taken may be negative, which no frequency is.
    ratios: Floats = np.log((np.maximum(means, 0.0) + background) / (2.0 * background))
    return ratios
