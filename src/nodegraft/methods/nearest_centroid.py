"""Nearest centroid: the nearest class mean of unpropagated features."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.edges.matrix import row_norms
from nodegraft.graph.view import GraphView
from nodegraft.methods.sgc_mean import SGCMean


@dataclass(kw_only=True)
class NearestCentroid(SGCMean):
    r"""Nearest class mean of the features, without edges: :math:`s_k = -\lVert x - p_k \rVert^2`.

    Feature rows have length 1. This is a simple baseline; scikit-learn's ``NearestCentroid``
    predicts the same classes, but has no scores.
    """

    # ``hops`` is a constant and not a parameter here, because this baseline must not use edges.
    hops: ClassVar[int] = 0  # type: ignore[misc]

    name: ClassVar[str] = "nearest-centroid"
    summary: ClassVar[str] = "features without edges, Euclidean distance to class means"
    citation: ClassVar[str] = ""

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return minus the squared distance of each node's features to each class mean."""
        vectors, means = self.embedding(view, rows), self.prototypes_.astype(np.float64)
        squares = row_norms(vectors)[:, None] ** 2 + row_norms(means)[None, :] ** 2
        return np.asarray(2.0 * (vectors @ means.T) - squares, dtype=np.float64)
