"""Near-duplicates: nodes with exactly the features of a labelled node."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.graph.view import GraphView


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
