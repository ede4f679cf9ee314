"""Map that a layer of a network applies to each row, independent of the node's neighbours."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray

from nodegraft.base.hashing import HashPart, content_hash
from nodegraft.graph.edges.matrix import FloatArray, Matrix, is_sparse
from nodegraft.graph.edges.operator import multiply


@dataclass(frozen=True, eq=False)
class RowMap:
    r"""Map from a row :math:`h` to :math:`\max(h + b, 0) \, W`; each part is optional.

    >>> halved = RowMap(bias=np.array([-1.0], "f4"), relu=True, weight=np.array([[0.5]], "f4"))
    >>> halved(np.array([[3.0], [0.0]], "f4")).tolist()
    [[1.0], [0.0]]
    """

    bias: NDArray[np.float32] | None = None
    """What is added (:math:`b`)."""

    relu: bool = False
    """Whether negative numbers become 0."""

    weight: NDArray[np.float32] | None = None
    """What rows are multiplied by, inputs by outputs (:math:`W`)."""

    @torch.no_grad()
    def __call__(self, rows: Matrix) -> FloatArray:
        """Return the rows that come out; the last digits of one may depend on the others.

        Args:
            rows: Some rows, perhaps mapped; sparse ones only where a weight comes first.
        """
        if is_sparse(rows):
            product: FloatArray = multiply(rows, self.weight)
            return product
        batch = torch.from_numpy(np.array(rows, dtype=np.float32))
        if self.bias is not None:
            batch += torch.from_numpy(self.bias)
        if self.relu:
            batch.relu_()
        if self.weight is not None:
            batch = batch @ torch.from_numpy(self.weight)
        numbers: FloatArray = batch.numpy()
        return numbers

    @property
    def parts(self) -> list[HashPart]:
        """All that it is, for a hash."""
        arrays = (self.bias, self.weight)
        return [int(self.relu), *("none" if part is None else part for part in arrays)]


@dataclass(frozen=True, eq=False)
class RowNetwork:
    r"""A network whose layers only spread rows by :math:`S` and map each: features go through the
    first map, and what comes out is spread before each further one."""

    maps: tuple[RowMap, ...]
    """One more than there are hops."""

    features: int
    """How many columns the features have."""

    @cached_property
    def name(self) -> str:
        """Name that depends on the weights only."""
        return content_hash(*(part for row_map in self.maps for part in row_map.parts))

    @property
    def widths(self) -> tuple[int, ...]:
        """How many columns come out of each map."""
        widths = [self.features]
        for row_map in self.maps:
            weight = row_map.weight
            widths.append(widths[-1] if weight is None else weight.shape[1])
        return tuple(widths[1:])
