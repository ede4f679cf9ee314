"""Near-duplicates: nodes whose features are those of a labelled node."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.graph.view import GraphView


def same_as_labelled(
    view: GraphView, rows: NDArray[np.int64], labelled: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return whether each row has exactly the features of a labelled row.

    Datasets without texts can be compared, too, and equal texts give equal features. Rows without
    any feature are equal to no other.

    Args:
        rows: Rows to compare.
        labelled: Rows of labelled nodes.
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
