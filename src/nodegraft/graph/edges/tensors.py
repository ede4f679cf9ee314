"""Torch tensors of constant matrices, and the gradient of products with them."""

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from nodegraft.graph.edges.matrix import FloatArray, Matrix, is_sparse

if TYPE_CHECKING:
    from nodegraft.graph.edges.operator import Operator

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


class ConstantTimes(torch.autograd.Function):
    """Autograd function for ``matrix @ dense``, in which only ``dense`` has a gradient.

    Second-order gradients work, too, because the gradient is a product of the same form.
    """

    @staticmethod
    def forward(ctx: Any, operator: "Operator", dense: Tensor) -> Tensor:
        """Return the product."""
        ctx.operator = operator
        return operator.forward_matrix @ dense

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor]:
        """Return the gradients of both arguments; the operator has none."""
        return None, ctx.operator.transposed @ gradients[0].contiguous()


def product(left: Matrix, right: Matrix) -> FloatArray:
    """Return ``left @ right`` for constant matrices, in single precision."""
    with torch.no_grad():
        numbers: FloatArray = (as_tensor(left) @ as_tensor(right)).numpy()
    return numbers


def as_tensor(matrix: Matrix, device: torch.device | None = None) -> Tensor:
    """Return a matrix as a tensor in single precision, dense or CSR.

    Args:
        matrix: Dense or sparse matrix.
        device: Device of the tensor; None for the CPU.
    """
    place = device or CPU
    if not is_sparse(matrix):
        return torch.from_numpy(np.ascontiguousarray(matrix, dtype=np.float32)).to(place)
    return torch.sparse_csr_tensor(
        torch.from_numpy(matrix.indptr).to(place),
        torch.from_numpy(matrix.indices).to(place),
        torch.from_numpy(matrix.data.astype(np.float32, copy=False)).to(place),
        size=matrix.shape,
        device=place,
        check_invariants=False,
    )
