"""Nodes as a model sees them, in few dimensions."""

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.algebra.matrix import IntArray
from nodegraft.store.state import State

DIMENSIONS = 64
"""Distances are taken in so many: in thousands of words all nodes are far from each other."""


def vectors_of(state: State, rows: IntArray) -> NDArray[np.float64]:
    """The model's own vectors, in the dimensions in which these nodes differ most.

    Args:
        state: A version whose model can embed.
        rows: The nodes, by row.
    """
    # Slow to import, and only this needs it.
    from sklearn.decomposition import TruncatedSVD

    vectors = state.model.embed(state.graph, state.graph.keys_of(rows))
    reduction = TruncatedSVD(min(DIMENSIONS, *vectors.shape), random_state=0)
    reduced: NDArray[np.float64] = reduction.fit_transform(vectors)
    return reduced
