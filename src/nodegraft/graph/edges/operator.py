"""Products of trainable tensors with a constant matrix, and their gradients.

The matrix is an adjacency or sparse features.

torch multiplies CSR matrices quickly, but its own gradient of such a product is an order of
magnitude slower and needs 64-bit indices. Therefore :mod:`nodegraft.graph.edges.tensors` implements
the gradient: for ``y = A x`` with a constant ``A`` it is ``A^T dy``, a product with the stored
transpose (``A`` itself if it is symmetric), with 32-bit indices if they fit.

Torch takes seconds to import, so it is imported for the first product that is large or trainable.
"""

from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.graph.edges.matrix import FloatArray, IntArray, Matrix, is_sparse

if TYPE_CHECKING:
    import torch
    from torch import Tensor

CHUNK_ENTRIES = 1 << 16

SMALL_PRODUCT = 1 << 24
"""Number of multiplications below which SciPy computes a product of constant matrices.

It needs up to twice the time of torch, at most some ten milliseconds more.
"""


class Operator:
    """Constant matrix for products with trainable tensors: ``operator @ tensor``.

    >>> import torch
    >>> operator = Operator(csr_array(np.array([[0.0, 2.0], [1.0, 0.0]], dtype=np.float32)))
    >>> weight = torch.ones(2, 1, requires_grad=True)
    >>> (operator @ weight).sum().backward(); weight.grad.flatten().tolist()
    [1.0, 2.0]

    Args:
        matrix: Dense or sparse matrix; it has no gradient.
        symmetric: Whether the matrix is symmetric; its transpose is then not stored.
    """

    def __init__(self, matrix: Matrix, symmetric: bool = False) -> None:
        self.shape: tuple[int, int] = (int(matrix.shape[0]), int(matrix.shape[1]))
        self._matrix = matrix
        self._symmetric = symmetric
        self._device: torch.device | None = None  # None stands for the CPU.
        self._forward: Tensor | None = None
        self._backward: Tensor | None = None
        self._elsewhere: Operator | None = None

    @property
    def matrix(self) -> Matrix:
        """Matrix as given to the constructor."""
        return self._matrix

    @property
    def forward_matrix(self) -> "Tensor":
        """Matrix as a torch tensor, dense or CSR."""
        from nodegraft.graph.edges.tensors import as_tensor

        if self._forward is None:
            self._forward = as_tensor(self._matrix, self._device)
        return self._forward

    @property
    def backward_matrix(self) -> "Tensor":
        """Transpose of the matrix as a torch tensor, created for the first gradient."""
        from nodegraft.graph.edges.tensors import as_tensor

        if self._backward is None:
            if self._symmetric or not is_sparse(self._matrix):
                self._backward = self.forward_matrix if self._symmetric else self.forward_matrix.T
            else:
                self._backward = as_tensor(csr_array(self._matrix.T), self._device)
        return self._backward

    @property
    def transposed(self) -> "Operator":
        """Transpose as an operator, which shares the stored tensors with this one."""
        other = copy(self)
        other.shape = self.shape[::-1]
        other._forward, other._backward = self.backward_matrix, self.forward_matrix
        other._elsewhere = None
        return other

    def on(self, device: "torch.device") -> "Operator":
        """Return this operator with its tensors on a device; one such copy is cached."""
        if device == self._device or (self._device is None and device.type == "cpu"):
            return self
        other = self._elsewhere
        if other is None or other._device != device:
            other = Operator(self._matrix, self._symmetric)
            other._device, self._elsewhere = device, other
        return other

    @property
    def coordinates(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Row number and column number of every stored entry, row by row."""
        matrix = csr_array(self._matrix)
        rows = np.repeat(np.arange(self.shape[0]), np.diff(matrix.indptr))
        return rows, matrix.indices.astype(np.int64)

    def __matmul__(self, dense: "Tensor") -> "Tensor":
        from nodegraft.graph.edges.tensors import ConstantTimes

        own = self.on(dense.device)
        product: Tensor = ConstantTimes.apply(own, dense)  # type: ignore[no-untyped-call]
        return product


def multiply(left: "csr_array[Any]", right: Matrix) -> Matrix:
    """Return ``left @ right`` for constant matrices.

    A row with more than :data:`CHUNK_ENTRIES` entries is computed in chunks of that size, which are
    summed in order, because results would otherwise depend on how a kernel divides long rows among
    threads.
    """
    if is_sparse(right):
        return csr_array(left @ right)
    chunks = -(-np.diff(left.indptr) // CHUNK_ENTRIES)
    if chunks.max(initial=0) <= 1:
        return _product(left, right)
    return _added_up(_product(_in_chunks(left, chunks), right), np.maximum(chunks, 1))


def _product(left: "csr_array[Any]", right: FloatArray) -> FloatArray:
    if left.nnz * right.shape[1] < SMALL_PRODUCT:
        numbers: FloatArray = left.astype(np.float32, copy=False) @ np.asarray(right, np.float32)
        return numbers
    from nodegraft.graph.edges.tensors import product

    return product(left, right)


def _in_chunks(matrix: "csr_array[Any]", chunks: IntArray) -> "csr_array[Any]":
    """Return a matrix in which each long row is split into several rows, one for each chunk."""
    long = np.flatnonzero(chunks > 1)
    cuts = [
        np.arange(matrix.indptr[row] + CHUNK_ENTRIES, matrix.indptr[row + 1], CHUNK_ENTRIES)
        for row in long
    ]
    behind = np.repeat(long + 1, [cut.size for cut in cuts])
    ends = np.insert(matrix.indptr, behind, np.concatenate(cuts))
    shape = (ends.size - 1, matrix.shape[1])
    return csr_array((matrix.data, matrix.indices, ends), shape=shape)


def _added_up(parts: FloatArray, chunks: IntArray) -> FloatArray:
    """Add up groups of consecutive rows; ``chunks`` has the number of rows of each group."""
    first = np.cumsum(chunks) - chunks
    sums: FloatArray = parts[first]
    for row in np.flatnonzero(chunks > 1):
        for part in parts[first[row] + 1 : first[row] + chunks[row]]:
            sums[row] += part
    return sums


@dataclass(frozen=True)
class Neighbourhood:
    """Input of a network for some nodes: the part of the graph that is needed to embed them.

    A network with ``len(hops)`` layers uses the same code for the whole graph and for a few nodes:

        hidden = neighbourhood.features @ first_weight
        hidden = neighbourhood.hops[0] @ hidden
    """

    features: Operator
    """Features of the outermost nodes, ``rings[0]``, with a row for each of them."""

    hops: tuple[Operator, ...]
    """Parts of the normalised adjacency: ``hops[i]`` maps ``rings[i]`` to ``rings[i + 1]``."""

    rings: tuple[IntArray, ...]
    """Nodes of each ring: the requested nodes are last; earlier rings add neighbours."""
