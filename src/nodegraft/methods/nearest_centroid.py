"""Nearest centroid: the features as they are, and the class mean that is nearest."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.edges.matrix import row_norms
from nodegraft.graph.view import GraphView
from nodegraft.methods.sgc_mean import SGCMean


@dataclass(kw_only=True)
class NearestCentroid(SGCMean):
    r"""Minus the squared distance to each class mean, :math:`s_k = -\lVert x - p_k \rVert^2`, with
    rows of length 1 and without a single edge.

    What a user would do without a library; scikit-learn's estimator of that name says the same
    without scores.
    """

    # A constant here rather than a field: with a hop it would not be this baseline any more.
    hops: ClassVar[int] = 0  # type: ignore[misc]

    name: ClassVar[str] = "nearest-centroid"
    summary: ClassVar[str] = "features without edges, Euclidean distance to class means"
    citation: ClassVar[str] = ""

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return minus the squared distance to each mean."""
        vectors, means = self.embedding(view, rows), self.prototypes_.astype(np.float64)
        squares = row_norms(vectors)[:, None] ** 2 + row_norms(means)[None, :] ** 2
        return np.asarray(2.0 * (vectors @ means.T) - squares, dtype=np.float64)
