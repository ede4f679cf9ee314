"""Products with an adjacency or with sparse features, and their gradients.

torch multiplies CSR matrices quickly, but its own autograd for them is an order of magnitude
slower and takes indices in 64 bits. So the gradient is written out here: for ``y = A x`` with a
constant ``A`` it is ``A^T dy``, one more product with the stored transpose (``A`` itself where it
is symmetric), on 32-bit indices wherever they fit.
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

with warnings.catch_warnings():
    # torch says once per process that CSR tensors are in beta, and that it cannot keep anybody
    # from writing into a mapped file; here is where it is heard.
    warnings.simplefilter("ignore", UserWarning)
    torch.from_numpy(np.frombuffer(bytes(1), dtype=np.uint8))
    torch.sparse_csr_tensor(
        torch.tensor([0, 1]), torch.tensor([0]), torch.tensor([1.0]), (1, 1), check_invariants=False
    )


class _ConstantTimes(torch.autograd.Function):
    """``matrix @ dense`` where only ``dense`` has a gradient.

    The gradient is a product of the same kind, so gradients of gradients come for free.
    """

    @staticmethod
    def forward(ctx: Any, operator: "Operator", dense: Tensor) -> Tensor:
        ctx.operator = operator
        return operator.forward_matrix @ dense

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor]:
        return None, ctx.operator.transposed @ gradients[0].contiguous()


class Operator:
    """A constant matrix that multiplies trainable tensors: ``operator @ tensor``.

    >>> operator = Operator(csr_array(np.array([[0.0, 2.0], [1.0, 0.0]], dtype=np.float32)))
    >>> weight = torch.ones(2, 1, requires_grad=True)
    >>> (operator @ weight).sum().backward(); weight.grad.flatten().tolist()
    [1.0, 2.0]

    Args:
        matrix: Dense or sparse; it has no gradient.
        symmetric: Whether it is its own transpose, which then need not be stored.
    """

    def __init__(self, matrix: Matrix, symmetric: bool = False) -> None:
        self.shape: tuple[int, int] = (int(matrix.shape[0]), int(matrix.shape[1]))
        self._matrix = matrix
        self._symmetric = symmetric
        self._forward: Tensor | None = None
        self._backward: Tensor | None = None

    @property
    def matrix(self) -> Matrix:
        """The matrix as it was given."""
        return self._matrix

    @property
    def forward_matrix(self) -> Tensor:
        """The matrix as a torch tensor, dense or CSR."""
        if self._forward is None:
            self._forward = _as_tensor(self._matrix)
        return self._forward

    @property
    def backward_matrix(self) -> Tensor:
        """Its transpose, made when the first gradient asks for it."""
        if self._backward is None:
            if self._symmetric or not is_sparse(self._matrix):
                self._backward = self.forward_matrix if self._symmetric else self.forward_matrix.T
            else:
                self._backward = _as_tensor(csr_array(self._matrix.T))
        return self._backward

    @property
    def transposed(self) -> "Operator":
        """The transpose as an operator, on the same stored matrices."""
        other = copy(self)
        other.shape = self.shape[::-1]
        other._forward, other._backward = self.backward_matrix, self.forward_matrix
        return other

    @property
    def coordinates(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Row and column of every stored entry, row by row."""
        matrix = csr_array(self._matrix)
        rows = np.repeat(np.arange(self.shape[0]), np.diff(matrix.indptr))
        return rows, matrix.indices.astype(np.int64)

    def __matmul__(self, dense: Tensor) -> Tensor:
        product: Tensor = _ConstantTimes.apply(self, dense)  # type: ignore[no-untyped-call]
        return product


def multiply(left: "csr_array[Any]", right: Matrix) -> Matrix:
    """``left @ right`` for constants: the fast kernel for dense, SciPy's for sparse ones.

    A row of more than :data:`CHUNK_ENTRIES` entries is the sum of chunks of so many, in order:
    no bit of it depends on how a kernel divides long rows among threads.
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
    """Return the same entries with a row for each chunk of a long row."""
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
    """Return the sums of groups of consecutive rows."""
    first = np.cumsum(chunks) - chunks
    sums: FloatArray = parts[first]
    for row in np.flatnonzero(chunks > 1):
        for part in parts[first[row] + 1 : first[row] + chunks[row]]:
            sums[row] += part
    return sums


def _as_tensor(matrix: Matrix) -> Tensor:
    if not is_sparse(matrix):
        return torch.from_numpy(np.ascontiguousarray(matrix, dtype=np.float32))
    return torch.sparse_csr_tensor(
        torch.from_numpy(matrix.indptr),
        torch.from_numpy(matrix.indices),
        torch.from_numpy(matrix.data.astype(np.float32, copy=False)),
        size=matrix.shape,
        check_invariants=False,
    )


@dataclass(frozen=True)
class Neighbourhood:
    """All that a network of ``len(hops)`` layers needs to see to embed some nodes.

    So one forward pass is the same code for the whole graph and for three nodes of it:

        hidden = neighbourhood.features @ first_weight
        hidden = neighbourhood.hops[0] @ hidden
    """

    features: Operator
    """Feature rows of the outermost nodes."""

    hops: tuple[Operator, ...]
    """Slices of the normalised adjacency: ``hops[0]`` takes a tensor on the outermost nodes one
    step inwards, the last one arrives at the nodes that were asked for."""

    rings: tuple[IntArray, ...]
    """The nodes themselves, outermost first: ``hops[i]`` leads from ``rings[i]`` to
    ``rings[i + 1]``, which is part of it."""
