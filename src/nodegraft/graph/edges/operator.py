"""Products of trainable tensors with a constant matrix, and their gradients.

The matrix is an adjacency or sparse features.

torch multiplies CSR matrices quickly, but its own gradient of such a product is an order of
magnitude slower and needs 64-bit indices. Therefore this module implements the gradient: for ``y =
A x`` with a constant ``A`` it is ``A^T dy``, a product with the stored transpose (``A`` itself if
it is symmetric), with 32-bit indices if they fit.
"""

import warnings
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor

from nodegraft.graph.edges.matrix import FloatArray, IntArray, Matrix, is_sparse

CHUNK_ENTRIES = 1 << 16

CPU = torch.device("cpu")

with warnings.catch_warnings():
    # Trigger and suppress two warnings here that torch gives once per process: CSR tensors are in
    # beta, and arrays are read-only.
    warnings.simplefilter("ignore", UserWarning)
    torch.from_numpy(np.frombuffer(bytes(1), dtype=np.uint8))
    torch.sparse_csr_tensor(
        torch.tensor([0, 1], device=CPU),
        torch.tensor([0], device=CPU),
        torch.tensor([1.0], device=CPU),
        size=(1, 1),
        device=CPU,
        check_invariants=False,
    )


class _ConstantTimes(torch.autograd.Function):
    """Autograd function for ``matrix @ dense``, in which only ``dense`` has a gradient.

    Second-order gradients work, too, because the gradient is a product of the same form.
    """

    @staticmethod
    def forward(ctx: Any, operator: "Operator", dense: Tensor) -> Tensor:
        ctx.operator = operator
        return operator.forward_matrix @ dense

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor]:
        return None, ctx.operator.transposed @ gradients[0].contiguous()


class Operator:
    """Constant matrix for products with trainable tensors: ``operator @ tensor``.

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
        self._device = CPU
        self._forward: Tensor | None = None
        self._backward: Tensor | None = None
        self._elsewhere: Operator | None = None

    @property
    def matrix(self) -> Matrix:
        """Matrix as given to the constructor."""
        return self._matrix

    @property
    def forward_matrix(self) -> Tensor:
        """Matrix as a torch tensor, dense or CSR."""
        if self._forward is None:
            self._forward = _as_tensor(self._matrix, self._device)
        return self._forward

    @property
    def backward_matrix(self) -> Tensor:
        """Transpose of the matrix as a torch tensor, created for the first gradient."""
        if self._backward is None:
            if self._symmetric or not is_sparse(self._matrix):
                self._backward = self.forward_matrix if self._symmetric else self.forward_matrix.T
            else:
                self._backward = _as_tensor(csr_array(self._matrix.T), self._device)
        return self._backward

    @property
    def transposed(self) -> "Operator":
        """Transpose as an operator, which shares the stored tensors with this one."""
        other = copy(self)
        other.shape = self.shape[::-1]
        other._forward, other._backward = self.backward_matrix, self.forward_matrix
        other._elsewhere = None
        return other

    def on(self, device: torch.device) -> "Operator":
        """Return this operator with its tensors on a device; one such copy is cached."""
        if device == self._device:
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

    def __matmul__(self, dense: Tensor) -> Tensor:
        own = self.on(dense.device)
        product: Tensor = _ConstantTimes.apply(own, dense)  # type: ignore[no-untyped-call]
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
    with torch.no_grad():
        product: FloatArray = (_as_tensor(left) @ _as_tensor(right)).numpy()
    return product


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


def _as_tensor(matrix: Matrix, device: torch.device = CPU) -> Tensor:
    if not is_sparse(matrix):
        return torch.from_numpy(np.ascontiguousarray(matrix, dtype=np.float32)).to(device)
    return torch.sparse_csr_tensor(
        torch.from_numpy(matrix.indptr).to(device),
        torch.from_numpy(matrix.indices).to(device),
        torch.from_numpy(matrix.data.astype(np.float32, copy=False)).to(device),
        size=matrix.shape,
        device=device,
        check_invariants=False,
    )


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
