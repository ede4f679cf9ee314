"""What a closed-form model keeps of its classes: sums that add up exactly, and some of the rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack
from torch import Tensor

from nodegraft.base.errors import DataError
from nodegraft.graph.labels import Labelled
from nodegraft.graph.matrix import Matrix, is_sparse

UNIT = 2**32
"""Entries between -1 and 1 are counted in this many parts: integers add up in any order, a sum of
floating-point numbers does not. Room for 2^30 rows a class."""


@dataclass(frozen=True)
class ClassSums:
    """One row a class: the sum of its labelled nodes' vectors, how many they are, which they are.

    Of the nodes themselves at most ``limit`` a class are remembered, those with the lowest hash:
    a fair sample that is the same whether they came at once or bit by bit.

    >>> vectors = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, -1.0]])
    >>> sums = ClassSums.of(vectors, Labelled({"hats": [7, 8], "caps": [4]}), limit=9)
    >>> sums.means.tolist(), [rows.tolist() for rows in sums.rows]
    ([[0.75, 0.25], [0.0, -1.0]], [[7, 8], [4]])
    """

    sums: "csr_array[Any]"
    counts: NDArray[np.int64]
    rows: tuple[NDArray[np.int64], ...]
    limit: int

    @classmethod
    def of(cls, vectors: Matrix, labelled: Labelled, limit: int) -> "ClassSums":
        """From vectors between -1 and 1, in the order of ``labelled.rows()``."""
        counts = np.array([rows.size for rows in labelled.values()], dtype=np.int64)
        ends = np.concatenate(([0], np.cumsum(counts)))
        ones = np.ones(labelled.num_nodes, dtype=np.int64)
        members = csr_array((ones, np.arange(ones.size), ends), shape=(counts.size, ones.size))
        sums = csr_array(members @ _counted(vectors))
        sums.sort_indices()
        rows = tuple(lowest_hashes(one, limit) for one in labelled.values())
        return cls(sums, counts, rows, limit)

    @property
    def means(self) -> NDArray[np.float64]:
        """The mean vector of every class."""
        dense: NDArray[np.float64] = self.sums.toarray() / (self.counts[:, None] * float(UNIT))
        return dense

    def __or__(self, others: "ClassSums") -> "ClassSums":
        """With more classes behind."""
        sums = csr_array(vstack((self.sums, others.sums), format="csr"))
        counts = np.concatenate((self.counts, others.counts))
        return ClassSums(sums, counts, self.rows + others.rows, self.limit)

    def __add__(self, more: "ClassSums") -> "ClassSums":
        """With more nodes of the same classes."""
        again = sum(map(len, map(np.intersect1d, self.rows, more.rows)))
        if again:
            raise DataError(f"{again} of the nodes are labels of their class already.")
        sums = csr_array(self.sums + more.sums)
        sums.sort_indices()
        rows = tuple(
            lowest_hashes(np.union1d(old, new), self.limit)
            for old, new in zip(self.rows, more.rows, strict=True)
        )
        return ClassSums(sums, self.counts + more.counts, rows, self.limit)

    def take(self, columns: NDArray[np.int64]) -> "ClassSums":
        """Some classes, in this order."""
        rows = tuple(self.rows[column] for column in columns)
        return ClassSums(csr_array(self.sums[columns]), self.counts[columns], rows, self.limit)

    def to_tensors(self) -> dict[str, Tensor]:
        """As arrays that can be saved; entries with the narrowest integers that hold them."""
        sizes = [rows.size for rows in self.rows]
        arrays = {
            "values": self.sums.data,
            "columns": self.sums.indices.astype(np.int32),
            "ends": self.sums.indptr.astype(np.int64),
            "width": np.array(self.sums.shape[1]),
            "counts": self.counts,
            "rows": np.concatenate((np.zeros(0, dtype=np.int64), *self.rows)),
            "sizes": np.array(sizes, dtype=np.int64),
            "limit": np.array(self.limit),
        }
        return {name: torch.from_numpy(np.asarray(array)) for name, array in arrays.items()}

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, Tensor]) -> "ClassSums":
        """What :meth:`to_tensors` describes."""
        arrays = {name: tensor.numpy() for name, tensor in tensors.items()}
        shape = arrays["counts"].size, int(arrays["width"])
        entries = arrays["values"], arrays["columns"], arrays["ends"]
        rows = np.split(arrays["rows"], np.cumsum(arrays["sizes"]))[:-1]
        sums = csr_array(entries, shape=shape)
        return cls(sums, arrays["counts"], tuple(rows), int(arrays["limit"]))


def lowest_hashes(rows: NDArray[np.int64], limit: int) -> NDArray[np.int64]:
    """At most ``limit`` of the rows, ascending: those with the lowest hash.

    The lowest of two sets together are among the lowest of each, so sampling can be done in parts.

    >>> everyone = np.arange(100)
    >>> parts = np.union1d(lowest_hashes(everyone[:60], 9), lowest_hashes(everyone[60:], 9))
    >>> np.array_equal(lowest_hashes(everyone, 9), lowest_hashes(parts, 9))
    True
    """
    if rows.size <= limit:
        return np.sort(rows)
    # Rows times an odd number, modulo 2^64, mixed once more: neighbours end up far apart.
    mixed = rows.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return np.sort(rows[np.argsort(mixed, kind="stable")[:limit]])


def _counted(vectors: Matrix) -> Matrix:
    if is_sparse(vectors):
        values = np.rint(vectors.data.astype(np.float64) * UNIT).astype(np.int64)
        return csr_array((values, vectors.indices, vectors.indptr), shape=vectors.shape)
    return csr_array(np.rint(vectors.astype(np.float64) * UNIT).astype(np.int64))
