"""Computation of a layer in blocks, in this process or in workers that share its folder."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.base.errors import NodegraftError
from nodegraft.base.hashing import HashPart, content_hash
from nodegraft.graph.disk.blocks.layer_rows import CSR, LayerFiles
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.matrix import FloatArray, Matrix, is_sparse
from nodegraft.graph.edges.operator import multiply
from nodegraft.graph.edges.row_blocks import spread_rows


@dataclass(frozen=True, eq=False)
class RowMap:
    r"""Map from a row :math:`h` to :math:`\max(h + b, 0) \, W`; each part is optional.

    >>> halved = RowMap(bias=np.array([-1.0], "f4"), relu=True, weight=np.array([[0.5]], "f4"))
    >>> halved(np.array([[3.0], [0.0]], "f4")).tolist()
    [[1.0], [0.0]]
    """

    bias: NDArray[np.float32] | None = None
    """Vector that is added to each row (:math:`b`); None for no bias."""

    relu: bool = False
    """Whether negative numbers are replaced by 0."""

    weight: NDArray[np.float32] | None = None
    """Matrix that rows are multiplied by (:math:`W`), inputs x outputs; None for no product."""

    @torch.no_grad()
    def __call__(self, rows: Matrix) -> FloatArray:
        """Apply the map to rows; the last digits of a result may depend on the other rows.

        Args:
            rows: Some rows, perhaps memory-mapped; sparse only if the map is a product alone.
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
        """All parts of the map, as input of a hash."""
        arrays = (self.bias, self.weight)
        return [int(self.relu), *("none" if part is None else part for part in arrays)]


@dataclass(frozen=True, eq=False)
class RowNetwork:
    r"""Network that applies maps of single rows, and multiplies by :math:`S` before each map except
    the first."""

    maps: tuple[RowMap, ...]
    """Maps in order of application; one more than there are hops."""

    features: int
    """Number of feature columns."""

    @cached_property
    def name(self) -> str:
        """Hash of all maps, as the name of a cache folder."""
        return content_hash(*(part for row_map in self.maps for part in row_map.parts))

    @property
    def widths(self) -> tuple[int, ...]:
        """Number of output columns of each map."""
        widths = [self.features]
        for row_map in self.maps:
            weight = row_map.weight
            widths.append(widths[-1] if weight is None else weight.shape[1])
        return tuple(widths[1:])


SCRATCH = "scratch"
"""Folder, inside the folder of a layer, for arrays that workers need but that are in no file."""


@dataclass(frozen=True)
class LayerWork:
    """Layer to compute: S times the previous layer, with an optional map of each row."""

    adjacency: Adjacency
    """Edges of the graph."""

    roots: NDArray[np.float32]
    """Inverse square roots of the degrees of all nodes."""

    source: Matrix
    """Previous layer, sparse or in float32; perhaps memory-mapped."""

    target: LayerFiles
    """Files that the rows are written to."""

    blocks: tuple[int, ...] = ()
    """Numbers of the missing blocks."""

    then: RowMap | None = None
    """Map that is applied to each row of the product; None for no map."""

    def compute(self, block: int) -> int:
        """Compute a block and write it to disk; return its number."""
        start, stop = self.target.between(block)
        rows = spread_rows(self.adjacency, self.roots, self.source, start, stop)
        return self.target.put(block, rows if self.then is None else self.then(rows))


class BlockExecutor(Protocol):
    """Interface for computing blocks; implementations are in :mod:`nodegraft.runners`."""

    def run(self, work: LayerWork) -> Iterator[int]:
        """Compute all missing blocks of a layer; yield each number when its rows are on disk.

        Args:
            work: The layer to compute.
        """


class ThisProcess(BlockExecutor):
    """Executor that computes blocks one after the other in this process."""

    def run(self, work: LayerWork) -> Iterator[int]:
        """Compute all missing blocks of a layer."""
        return map(work.compute, work.blocks)


@dataclass(frozen=True)
class SharedWork:
    """:class:`LayerWork` with file names instead of arrays, for workers on a shared file system."""

    arrays: dict[str, tuple[Path, np.dtype[Any], tuple[int, ...], int]]
    """Path, type, shape and offset of each array, by name."""

    target: LayerFiles
    """Files that the rows are written to."""

    width: int
    """Number of columns of the previous layer."""

    then: RowMap | None
    """Map that is applied to each row of the product; None for no map."""

    @classmethod
    def of(cls, work: LayerWork) -> "SharedWork":
        """Find the files of all arrays; arrays in memory are written to :data:`SCRATCH`."""
        edges = work.adjacency
        arrays = {"indptr": edges.indptr, "indices": edges.indices, "roots": work.roots}
        if edges.weights is not None:
            arrays["weights"] = edges.weights
        if is_sparse(work.source):
            arrays |= {f"source.{part}": getattr(work.source, part) for part in CSR}
        else:
            arrays["source"] = work.source
        # Relative paths would fail on other machines, where the working directory differs.
        place = work.target.place.absolute()
        target = replace(work.target, rows=replace(work.target.rows, place=place))
        files = {name: _file_of(array, place / SCRATCH / name) for name, array in arrays.items()}
        return cls(files, target, int(work.source.shape[1]), work.then)

    def compute(self, block: int) -> int:
        """Compute a block in a worker, with one thread, and write it; return its number."""
        torch.set_num_threads(1)
        try:
            return self._open().compute(block)
        except Exception as error:
            # Not every exception can be sent to another process.
            text = f"Block {block} could not be computed. {type(error).__name__}: {error}"
            raise NodegraftError(text) from None

    def _open(self) -> LayerWork:
        """Return the work with memory-mapped arrays."""
        arrays = {
            name: np.memmap(path, dtype, "r", offset, shape)
            for name, (path, dtype, shape, offset) in self.arrays.items()
        }
        parts = arrays["indptr"], arrays["indices"], arrays.get("weights")
        edges = Adjacency(*parts, origin=str(self.arrays["indices"][0]))
        source: Matrix
        if "source" in arrays:
            source = arrays["source"]
        else:
            source = csr_array((arrays["roots"].size, self.width), dtype=np.float32)
            for part in CSR:
                setattr(source, part, arrays[f"source.{part}"])
        return LayerWork(edges, arrays["roots"], source, self.target, then=self.then)


def _file_of(
    array: NDArray[Any], scratch: Path
) -> tuple[Path, np.dtype[Any], tuple[int, ...], int]:
    """Return path, type, shape and offset of an array; write it to a file if it is in none."""
    mapped = array if isinstance(array, np.memmap) else array.base
    if not isinstance(mapped, np.memmap) or mapped.nbytes != array.nbytes:
        # If the file exists, an interrupted run wrote it, for the same array.
        if not scratch.exists():
            scratch.parent.mkdir(parents=True, exist_ok=True)
            draft = scratch.with_name(f".{uuid4().hex}.npy")
            np.save(draft, array)
            draft.replace(scratch)
        mapped = np.load(scratch, mmap_mode="r")
    return Path(str(mapped.filename)).absolute(), array.dtype, array.shape, mapped.offset
