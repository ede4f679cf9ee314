"""What a closed-form model keeps of its classes: sums that add up exactly."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack
from torch import Tensor

from nodegraft.graph.algebra.matrix import Matrix, is_sparse

FIXED_POINT_SCALE = 2**32
"""Entries between -1 and 1 are multiplied by this and kept as integers: those add up exactly in any
order, which floating-point numbers do not. There is room for 2^30 rows a class."""


@dataclass(frozen=True)
class ClassSums:
    """One row a class: the sum of its labelled nodes' vectors, and how many they are.

    >>> vectors = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, -1.0]])
    >>> ClassSums.of(vectors, np.array([2, 1])).means.tolist()
    [[0.75, 0.25], [0.0, -1.0]]
    """

    sums: "csr_array[Any]"
    """Sums in parts of 1 / 2^32, one row a class."""

    counts: NDArray[np.int64]
    """How many nodes each class has."""

    @classmethod
    def of(cls, vectors: Matrix, counts: NDArray[np.int64]) -> "ClassSums":
        """From the vectors of labelled nodes, one class after the other.

        Args:
            vectors: Numbers between -1 and 1, a row for each node; sparse or dense.
            counts: How many of these rows each class has.
        """
        ends = np.concatenate(([0], np.cumsum(counts)))
        ones = np.ones(int(ends[-1]), dtype=np.int64)
        members = csr_array((ones, np.arange(ones.size), ends), shape=(counts.size, ones.size))
        sums = csr_array(members @ _to_fixed_point(vectors))
        sums.sort_indices()
        return cls(sums, counts)

    @property
    def means(self) -> NDArray[np.float64]:
        """The mean vector of every class."""
        divisors = self.counts[:, None] * float(FIXED_POINT_SCALE)
        dense: NDArray[np.float64] = self.sums.toarray() / divisors
        return dense

    def __or__(self, others: "ClassSums") -> "ClassSums":
        """With more classes behind the ones here."""
        sums = csr_array(vstack((self.sums, others.sums), format="csr"))
        return ClassSums(sums, np.concatenate((self.counts, others.counts)))

    def __add__(self, more: "ClassSums") -> "ClassSums":
        """With more nodes of the same classes."""
        sums = csr_array(self.sums + more.sums)
        sums.sort_indices()
        return ClassSums(sums, self.counts + more.counts)

    def take(self, columns: NDArray[np.int64]) -> "ClassSums":
        """Some classes, in this order.

        Args:
            columns: The positions of the classes, from 0.
        """
        return ClassSums(csr_array(self.sums[columns]), self.counts[columns])

    def to_tensors(self) -> dict[str, Tensor]:
        """As arrays that can be saved; entries with the narrowest integers that hold them."""
        arrays = {
            "values": self.sums.data,
            "columns": self.sums.indices.astype(np.int32),
            "ends": self.sums.indptr.astype(np.int64),
            "width": np.array(self.sums.shape[1]),
            "counts": self.counts,
        }
        return {name: torch.from_numpy(np.asarray(array)) for name, array in arrays.items()}

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, Tensor]) -> "ClassSums":
        """What :meth:`to_tensors` describes.

        Args:
            tensors: Arrays by the names it gives them.
        """
        arrays = {name: tensor.numpy() for name, tensor in tensors.items()}
        shape = arrays["counts"].size, int(arrays["width"])
        entries = arrays["values"], arrays["columns"], arrays["ends"]
        return cls(csr_array(entries, shape=shape), arrays["counts"])

    def check(self, classes: int, width: int) -> None:
        """Raise a ValueError where the arrays are no sums of so many classes.

        Kernels would read beyond arrays that come from a damaged file.

        Args:
            classes: How many classes there are.
            width: How many numbers each sum has.
        """
        self.sums.check_format(full_check=True)
        if self.sums.shape != (classes, width) or (self.counts < 1).any():
            raise ValueError(f"these are no sums of {classes} classes and {width} numbers each")


def _to_fixed_point(vectors: Matrix) -> Matrix:
    if is_sparse(vectors):
        values = np.rint(vectors.data.astype(np.float64) * FIXED_POINT_SCALE).astype(np.int64)
        return csr_array((values, vectors.indices, vectors.indptr), shape=vectors.shape)
    return csr_array(np.rint(vectors.astype(np.float64) * FIXED_POINT_SCALE).astype(np.int64))
