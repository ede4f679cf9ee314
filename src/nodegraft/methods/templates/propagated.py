"""What methods without an encoder share: features spread along the edges, as they are."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from nodegraft.base.parameters.constraints import NonNegativeInt
from nodegraft.graph.algebra.matrix import Matrix, is_sparse, normalise_rows
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
        layers = [normalise_rows(layer) for layer in view.propagated(rows, self.hops)]
        joined = csr_array(hstack(layers)) if is_sparse(layers[0]) else np.hstack(layers)
        return normalise_rows(joined)
