"""Rarity of feature columns: inverse document frequency over visible nodes."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.graph.view import GraphView

BLOCK_ROWS = 65_536


class ColumnSummary(NamedTuple):
    """Result of one pass over the features of all visible nodes."""

    rarity: NDArray[np.float32]
    """The weight of each column, as :func:`column_rarity` has it."""

    are_counts: bool
    """Whether features are sparse and none is negative."""


def summarise_columns(view: GraphView) -> ColumnSummary:
    """Read the features of all visible nodes, in blocks of rows."""
    if not view.has_sparse_features:
        return ColumnSummary(np.ones(view.num_features, dtype=np.float32), are_counts=False)
    found, are_counts = np.zeros(view.num_features, dtype=np.int64), True
    for start in range(0, view.num_nodes, BLOCK_ROWS):
        counts = csr_array(view.features(view.rows[start : start + BLOCK_ROWS]))
        found += np.bincount(counts.indices[counts.data != 0], minlength=found.size)
        are_counts = are_counts and bool((counts.data >= 0).all())
    rarity: NDArray[np.float64] = np.log((1 + view.num_nodes) / (1 + found)) + 1
    return ColumnSummary(rarity.astype(np.float32), are_counts)


def column_rarity(view: GraphView) -> NDArray[np.float32]:
    r"""Return the inverse document frequency :math:`\ln \frac{1 + n}{1 + n_j} + 1` of each column.

    :math:`n_j` of the :math:`n` visible nodes have a non-zero entry in column :math:`j`. Columns of
    dense features all get 1.
    """
    return summarise_columns(view).rarity
