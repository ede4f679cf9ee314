r"""Folder on disk with the layers :math:`SX, S^2X, \ldots` for one normalised adjacency S."""

import json
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from nodegraft.base.errors import CheckpointError
from nodegraft.base.files.array_file import write_sidecar
from nodegraft.base.files.folder import WriteOnceFolder
from nodegraft.base.hashing import content_hash
from nodegraft.graph.disk.blocks import layer_rows
from nodegraft.graph.disk.blocks.layer_work import RowNetwork
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.matrix import Matrix, is_sparse

LAYOUT = "layout.json"
ROOTS = "roots.npy"
ROOTS_AT_ONCE = 1 << 20

FORMAT = 1
"""Format version of layer files. Increase it to make old files be ignored."""


@dataclass(frozen=True)
class OperatorFolder:
    """Folder on disk with the layers of a graph, for given weights of its edge types."""

    place: Path
    """Path of the folder, which may not exist yet."""

    shape: tuple[int, int]
    """Number of rows and number of columns of every layer."""

    sparse: bool
    """Whether the rows of layers are sparse."""

    @classmethod
    def of(
        cls, folder: Path, fingerprint: str, weights: tuple[float, ...] | None, features: Matrix
    ) -> "OperatorFolder":
        """Return the layer folder of a graph for given weights of its edge types.

        Args:
            folder: Parent folder of the layer folders for all graphs and weights.
            fingerprint: Hash of the graph's content.
            weights: Weight of each edge type; None if all types are merged without such weights.
            features: Feature matrix that is propagated.
        """
        name = content_hash(FORMAT, fingerprint, [] if weights is None else [list(weights)])
        shape = int(features.shape[0]), int(features.shape[1])
        return cls(folder / name, shape, is_sparse(features))

    def layer(self, power: int) -> Matrix | None:
        """Return the layer for one power of S, memory-mapped; None while it is incomplete.

        Args:
            power: Power of S, at least 1; or 0 for a float32 copy of the features, which exists
                only if the features have another number type.
        """
        return self._rows(power).matrix()

    def files(self, power: int, bounds: list[int]) -> layer_rows.LayerFiles:
        """Return the files of the layer for one power of S.

        Args:
            power: Power of S, as in :meth:`layer`.
            bounds: Number of the first row of each block, followed by the number of rows; used only
                if the folder has no bounds yet.
        """
        return layer_rows.LayerFiles(self._rows(power), self.agreed_bounds(bounds))

    def encoded(self, network: RowNetwork, number: int) -> layer_rows.DenseRows:
        """Return the files of one layer of a network.

        Args:
            network: Network with trained weights.
            number: Number of the layer, from 0.
        """
        width = network.widths[number]
        return layer_rows.DenseRows(self.place / network.name / str(number), (self.shape[0], width))

    def roots(self, adjacency: Adjacency) -> NDArray[np.float32]:
        """Return the inverse square roots of all degrees, memory-mapped.

        If they are not on disk, they are computed and stored first.

        Args:
            adjacency: Edges of the graph.
        """
        path = self.place / ROOTS
        if not path.exists():
            self.place.mkdir(parents=True, exist_ok=True)
            draft = self.place / f".{uuid4().hex}"
            nodes = adjacency.num_nodes
            roots = open_memmap(draft, "w+", np.float32, shape=(nodes,))
            for start in range(0, nodes, ROOTS_AT_ONCE):
                some = np.arange(start, min(start + ROOTS_AT_ONCE, nodes))
                roots[some[0] : some[-1] + 1] = adjacency.inverse_roots(some)
            roots.flush()
            draft.replace(path)
            write_sidecar(path)
        mapped: NDArray[np.float32] = layer_rows.mapped_layer(path)
        if mapped.shape != (adjacency.num_nodes,) or mapped.dtype != np.float32:
            raise layer_rows.damaged_layer(path, "its type or shape has changed")
        return mapped

    def agreed_bounds(self, bounds: list[int]) -> tuple[int, ...]:
        """Return the block bounds, which all layers in this folder share.

        Args:
            bounds: Number of the first row of each block, followed by the number of rows; written
                only if the folder has no bounds yet.
        """
        folder = WriteOnceFolder(self.place)
        if folder.write(LAYOUT, json.dumps({"bounds": bounds}).encode()):
            write_sidecar(self.place / LAYOUT)
        try:
            agreed = tuple(json.loads(folder.read(LAYOUT))["bounds"])
        except (ValueError, KeyError, TypeError) as error:
            raise CheckpointError(
                f"{self.place / LAYOUT} cannot be read: remove {self.place}, and its layers are "
                f"made again. ({error})"
            ) from error
        return agreed

    def _rows(self, power: int) -> layer_rows.LayerRows:
        kind = layer_rows.SparseRows if self.sparse else layer_rows.DenseRows
        return kind(self.place / str(power), self.shape)
