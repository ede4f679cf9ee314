"""Logistic regression on a few predictors, by Newton's method."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

PENALTY = 1e-4
"""On squared slopes: keeps them finite where predictors tell the answers apart without error."""

STEPS, HALVINGS = 100, 30
"""Largest number of Newton steps, and of attempts at each; fewer than ten steps are usual."""

CLOSE = 1e-9
"""Newton's method ends where a step promises to lower the cost by less, for each unit of weight."""


def logistic_coefficients(
    predictors: Floats, is_positive: NDArray[np.bool_], weights: Floats | None = None
) -> Floats:
    """Return the slope of each predictor, then the offset, of largest likelihood.

    >>> found = logistic_coefficients(np.arange(4.0)[:, None], np.array([False, True, False, True]))
    >>> bool(found[0] > 0), float(-found[1] / found[0]).__round__(2)
    (True, 1.5)

    Args:
        predictors: One row for each case.
        is_positive: The answer of each case; both answers must occur.
        weights: How much each case counts; None if all count 1.
    """
    # Imported late, because it is slow to import and only a fit needs it.
    from scipy.special import expit

    scale = predictors.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    centre = predictors.mean(axis=0)
    rows = np.column_stack(((predictors - centre) / scale, np.ones(len(predictors))))
    counts = np.ones(len(rows)) if weights is None else weights
    signs = np.where(is_positive, 1.0, -1.0)
    penalty = np.append(PENALTY / scale**2, 0.0)

    def cost(coefficients: Floats) -> float:
        loss = np.logaddexp(0.0, -signs * (rows @ coefficients))
        return float(counts @ loss + 0.5 * penalty @ coefficients**2)

    found, lowest = np.zeros(rows.shape[1]), cost(np.zeros(rows.shape[1]))
    for _ in range(STEPS):
        chances = expit(rows @ found)
        slope = rows.T @ (counts * (chances - is_positive)) + penalty * found
        curved = counts * chances * (1.0 - chances)
        # A little on the diagonal: of predictors that are the same, both get half.
        curvature = rows.T @ (curved[:, None] * rows) + np.diag(penalty + 1e-12 * counts.sum())
        step = np.linalg.solve(curvature, slope)
        if slope @ step < CLOSE * counts.sum():
            break
        for halving in range(HALVINGS):
            tried = found - step / 2.0**halving
            reached = cost(tried)
            if reached < lowest:
                break
        else:
            break
        found, lowest = tried, reached
    slopes = found[:-1] / scale
    return np.append(slopes, found[-1] - slopes @ centre)
