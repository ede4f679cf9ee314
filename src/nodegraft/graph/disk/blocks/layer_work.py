"""Computation of a layer in blocks, by this process or by workers that share the layer's folder."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.base.errors import NodegraftError
from nodegraft.base.files.bundle import prefixed
from nodegraft.base.hashing import HashPart, content_hash
from nodegraft.graph.disk.blocks.layer_rows import LayerFiles
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.matrix import CSR, FloatArray, Matrix, csr_arrays, is_sparse
from nodegraft.graph.edges.operator import multiply
from nodegraft.graph.edges.row_blocks import spread_rows


@dataclass(frozen=True, eq=False)
class RowMap:
    r"""Transformation of a row :math:`h` to :math:`\max(h + b, 0) \, W`; each step is optional.

    >>> halved = RowMap(bias=np.array([-1.0], "f4"), relu=True, weight=np.array([[0.5]], "f4"))
    >>> halved(np.array([[3.0], [0.0]], "f4")).tolist()
    [[1.0], [0.0]]
    """

    bias: NDArray[np.float32] | None = None
    """Vector :math:`b` that is added to each row; None to add nothing."""

    relu: bool = False
    """Whether negative numbers in a row are replaced by 0."""

    weight: NDArray[np.float32] | None = None
    """Matrix :math:`W` that rows are multiplied by, inputs x outputs; None for no product."""

    def __call__(self, rows: Matrix) -> FloatArray:
        """Apply the map to each row of a matrix.

        The last digits of a result may depend on the batch.

        Args:
            rows: Matrix of rows, possibly memory-mapped. It may be sparse only if the map has no
                bias and no ReLU.
        """
        if is_sparse(rows):
            product: FloatArray = multiply(rows, self.weight)
            return product
        import torch  # This import takes seconds, and only processes that compute need it.

        with torch.no_grad():
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
        """Bias, ReLU flag and weight of the map, as input of a hash function."""
        arrays = (self.bias, self.weight)
        return [int(self.relu), *("none" if part is None else part for part in arrays)]


@dataclass(frozen=True, eq=False)
class RowNetwork:
    """Network of row maps; between two maps is a product with the normalised adjacency S.

    The first step is a row map.
    """

    maps: tuple[RowMap, ...]
    """Row maps in order of application: one more than the number of hops."""

    features: int
    """Number of feature columns, which are the input of the first map."""

    @cached_property
    def name(self) -> str:
        """Hash of all maps, used as the name of a cache folder."""
        return content_hash(*(part for row_map in self.maps for part in row_map.parts))

    @property
    def widths(self) -> tuple[int, ...]:
        """Number of output columns of each row map."""
        widths = [self.features]
        for row_map in self.maps:
            weight = row_map.weight
            widths.append(widths[-1] if weight is None else weight.shape[1])
        return tuple(widths[1:])


SCRATCH = "scratch"
"""Name of a subfolder of a layer's folder, for arrays that are in no file but that workers need."""


@dataclass(frozen=True)
class LayerWork:
    """Description of a layer to compute: S times the previous layer, then optionally a row map."""

    adjacency: Adjacency
    """Edges of the graph."""

    roots: NDArray[np.float32]
    """Diagonal of :math:`D^{-1/2}`, with the degrees of the nodes in A + I."""

    source: Matrix
    """Previous layer, sparse or dense float32; possibly memory-mapped."""

    target: LayerFiles
    """Files to which the rows of the layer are written."""

    blocks: tuple[int, ...] = ()
    """Numbers of the blocks to compute."""

    then: RowMap | None = None
    """Map that is applied to each row after the product with S; None for no map."""

    def compute(self, block: int) -> int:
        """Compute a block of the layer and write it to disk; return the number of the block."""
        start, stop = self.target.between(block)
        rows = spread_rows(self.adjacency, self.roots, self.source, start, stop)
        return self.target.put(block, rows if self.then is None else self.then(rows))


class BlockExecutor(Protocol):
    """Interface of executors that compute blocks; see :mod:`nodegraft.runners`."""

    def run(self, work: LayerWork) -> Iterator[int]:
        """Compute the blocks of a layer; yield the number of each block when it is on disk.

        Args:
            work: Layer and the numbers of the blocks to compute.
        """


class ThisProcess(BlockExecutor):
    """Executor that computes blocks one after the other in the current process."""

    def run(self, work: LayerWork) -> Iterator[int]:
        """Compute the blocks of a layer one after the other; yield their numbers."""
        return map(work.compute, work.blocks)


@dataclass(frozen=True)
class SharedWork:
    """Description of a layer to compute, with file names instead of arrays.

    It can be sent to worker processes that have access to the same file system.
    """

    arrays: dict[str, tuple[Path, np.dtype[Any], tuple[int, ...], int]]
    """Mapping from array name to path, number type, shape and offset in the file."""

    target: LayerFiles
    """Files to which the rows of the layer are written."""

    width: int
    """Number of columns of the previous layer."""

    then: RowMap | None
    """Map that is applied to each row after the product with S; None for no map."""

    @classmethod
    def of(cls, work: LayerWork) -> "SharedWork":
        """Convert a :class:`LayerWork`; write arrays that are in no file to :data:`SCRATCH`."""
        edges = work.adjacency
        arrays = {"indptr": edges.indptr, "indices": edges.indices, "roots": work.roots}
        if edges.weights is not None:
            arrays["weights"] = edges.weights
        if is_sparse(work.source):
            arrays |= prefixed("source.", csr_arrays(work.source))
        else:
            arrays["source"] = work.source
        # Use an absolute path, because workers on other machines have another working directory.
        place = work.target.place.absolute()
        target = replace(work.target, rows=replace(work.target.rows, place=place))
        files = {name: _file_of(array, place / SCRATCH / name) for name, array in arrays.items()}
        return cls(files, target, int(work.source.shape[1]), work.then)

    def compute(self, block: int) -> int:
        """Compute a block with one thread and write it to disk; return the block's number."""
        import torch  # See RowMap.__call__.

        torch.set_num_threads(1)
        try:
            return self._open().compute(block)
        except Exception as error:
            # Raise a plain NodegraftError, because some exceptions cannot be sent to another
            # process.
            text = f"Block {block} could not be computed. {type(error).__name__}: {error}"
            raise NodegraftError(text) from None

    def _open(self) -> LayerWork:
        """Memory-map all arrays; return the :class:`LayerWork` that uses them."""
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
    """Return path, number type, shape and offset of an array.

    If the array is in no file, it is first written to `scratch`.
    """
    mapped = array if isinstance(array, np.memmap) else array.base
    if not isinstance(mapped, np.memmap) or mapped.nbytes != array.nbytes:
        # Use an existing file: an interrupted run wrote it for the same array.
        if not scratch.exists():
            scratch.parent.mkdir(parents=True, exist_ok=True)
            draft = scratch.with_name(f".{uuid4().hex}.npy")
            np.save(draft, array)
            draft.replace(scratch)
        mapped = np.load(scratch, mmap_mode="r")
    return Path(str(mapped.filename)).absolute(), array.dtype, array.shape, mapped.offset
