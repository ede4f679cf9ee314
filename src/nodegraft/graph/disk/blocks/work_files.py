"""A layer's work as a list of files, for processes that share a disk: nothing is sent to them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.graph.disk.blocks.executor import LayerWork
from nodegraft.graph.disk.blocks.layer_files import LayerFiles
from nodegraft.graph.disk.blocks.row_map import RowMap
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.matrix import Matrix, is_sparse

CSR = ("data", "indices", "indptr")


@dataclass(frozen=True)
class ArrayFile:
    """Where an array lies."""

    path: Path
    """The file."""

    dtype: np.dtype[Any]
    """The type of its numbers."""

    shape: tuple[int, ...]
    """How many there are."""

    offset: int
    """Where in the file they begin."""

    @classmethod
    def of(cls, array: NDArray[Any], otherwise: Path) -> "ArrayFile":
        """The file of an array that is mapped; one that is in memory is written out.

        Args:
            array: The array.
            otherwise: Where it is written to, if it is in no file.
        """
        mapped = array if isinstance(array, np.memmap) else array.base
        if not isinstance(mapped, np.memmap) or mapped.nbytes != array.nbytes:
            # What is there is of an earlier run that was cut, and the same.
            if not otherwise.exists():
                otherwise.parent.mkdir(parents=True, exist_ok=True)
                draft = otherwise.with_name(f".{uuid4().hex}.npy")
                np.save(draft, array)
                draft.replace(otherwise)
            mapped = np.load(otherwise, mmap_mode="r")
        return cls(Path(str(mapped.filename)), array.dtype, array.shape, mapped.offset)

    def open(self) -> NDArray[Any]:
        """The array, mapped."""
        return np.memmap(self.path, self.dtype, "r", self.offset, self.shape)


@dataclass(frozen=True)
class WorkFiles:
    """What :class:`LayerWork` holds, by the files it is in."""

    arrays: dict[str, ArrayFile]
    """Edges, roots and the layer before."""

    target: LayerFiles
    """Where the rows go."""

    columns: int
    """How many columns a row of the layer before has."""

    then: RowMap | None
    """What becomes of each row; small enough to be sent along."""

    @classmethod
    def of(cls, work: LayerWork, scratch: Path) -> "WorkFiles":
        """The files of a piece of work.

        Args:
            work: The work.
            scratch: Where arrays are written to that are in memory.
        """
        edges = work.adjacency
        arrays = {"indptr": edges.indptr, "indices": edges.indices, "roots": work.roots}
        if edges.weights is not None:
            arrays["weights"] = edges.weights
        if is_sparse(work.source):
            arrays |= {f"source.{part}": getattr(work.source, part) for part in CSR}
        else:
            arrays["source"] = work.source
        files = {name: ArrayFile.of(one, scratch / f"{name}.npy") for name, one in arrays.items()}
        return cls(files, work.target, int(work.source.shape[1]), work.then)

    def open(self) -> LayerWork:
        """The work, on mapped arrays."""
        arrays = {name: file.open() for name, file in self.arrays.items()}
        parts = arrays["indptr"], arrays["indices"], arrays.get("weights")
        edges = Adjacency(*parts, origin=str(self.arrays["indices"].path))
        source = self._source(arrays)
        return LayerWork(edges, arrays["roots"], source, self.target, then=self.then)

    def _source(self, arrays: dict[str, NDArray[Any]]) -> Matrix:
        if "source" in arrays:
            return arrays["source"]
        matrix = csr_array((arrays["roots"].size, self.columns), dtype=np.float32)
        for part in CSR:
            setattr(matrix, part, arrays[f"source.{part}"])
        return matrix
