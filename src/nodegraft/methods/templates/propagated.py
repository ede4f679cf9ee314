"""What methods without an encoder share: features spread along the edges, as they are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from nodegraft.base.parameters.constraints import NonNegativeInt
from nodegraft.graph.edges.matrix import Matrix, is_sparse, normalise_rows
from nodegraft.graph.view import GraphView
from nodegraft.model.method import Method


@dataclass(kw_only=True)
class Propagated(Method):
    r"""Stands on :math:`z = [X, SX, S^2X]`, each part and then the whole of length 1."""

    hops: NonNegativeInt = 2
    """How far features are spread along edges."""

    block_rows: ClassVar[int] = 4096

    def embedding(self, view: GraphView, rows: NDArray[np.int64]) -> Matrix:
        """The propagated rows side by side, of length 1 together; sparse ones stay sparse."""
        return normalise_rows(side_by_side(view.propagated(rows, self.hops)))


def side_by_side(blocks: Sequence[Matrix]) -> Matrix:
    """Return the blocks of columns as one matrix, every row of each block of length 1.

    Args:
        blocks: Matrices with the same rows, all dense or all sparse; at least one.
    """
    parts = [normalise_rows(block) for block in blocks]
    return csr_array(hstack(parts)) if is_sparse(parts[0]) else np.hstack(parts)
