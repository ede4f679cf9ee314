"""Compute propagated features and a network's embeddings in blocks on disk.

Here, a network is a list of maps that transform each row by itself. Between two maps, the matrix of
all rows is multiplied by the normalised adjacency S.
"""

import shutil
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from nodegraft.base.errors import NodegraftError, ParameterError
from nodegraft.base.events import SILENT, Listener
from nodegraft.graph.disk.blocks.layer_rows import LayerFiles
from nodegraft.graph.disk.blocks.layer_work import BlockExecutor, LayerWork, RowNetwork, ThisProcess
from nodegraft.graph.disk.blocks.operator_folder import OperatorFolder
from nodegraft.graph.edges.matrix import Matrix, check_matrix, is_sparse, nbytes
from nodegraft.graph.edges.row_blocks import block_bounds
from nodegraft.graph.growth.stacked import in_one_piece
from nodegraft.graph.view import GraphView


@dataclass(frozen=True)
class Propagation:
    """Folder of the propagated features of a graph, which are stored in blocks."""

    folder: OperatorFolder
    """Folder of the layers :math:`SX, S^2X` …"""

    computed: int
    """Number of blocks that were not yet on disk, in all layers together."""


def propagate(
    view: GraphView,
    hops: int,
    executor: BlockExecutor | None = None,
    *,
    folder: Path | None = None,
    block_bytes: int | None = None,
    listener: Listener = SILENT,
) -> Propagation:
    r"""Compute the propagated features :math:`SX, \ldots, S^h X` of all nodes on disk.

    Complete blocks are recorded on disk: an interrupted run resumes with the missing blocks, on any
    executor, with the same result. On a graph on disk, :meth:`~nodegraft.Graph.propagated` reads
    these layers from disk as soon as they are complete.

    Args:
        view: A whole graph, or the result of its :meth:`~nodegraft.Graph.weighing` for weighted
            edge types.
        hops: Largest power of S, at least 1.
        executor: Executor that computes the blocks; None to compute them in this process.
        folder: Folder for the layers; None for the folder of a graph on disk.
        block_bytes: Approximate memory limit of a block; None for 64 MiB. Later runs in the same
            folder use the block bounds of the first run.
        listener: Listener that receives the progress.
    """
    if hops < 1:
        raise ParameterError(f"hops must be at least 1, and is {hops}.")
    layers = view.layer_folder(folder)
    if layers is None:
        raise ParameterError(
            "Layers are kept for whole graphs, in a folder: a graph in memory has none of its "
            "own, so name one (folder=...)."
        )
    adjacency, features = view._adjacency, in_one_piece(view._store.feature_matrix)
    bounds, computed = block_bounds(adjacency, features, block_bytes), 0
    roots, layer = layers.roots(adjacency), _single_precision(layers, features, bounds)
    for power in range(1, hops + 1):
        work = LayerWork(adjacency, roots, layer, layers.files(power, bounds))
        layer, count = fill_layer(work, executor, listener, f"hop {power}")
        check_matrix(layer)
        computed += count
    return Propagation(layers, computed)


def fill_layer(
    work: LayerWork, executor: BlockExecutor | None, listener: Listener, stage: str
) -> tuple[Matrix, int]:
    """Compute the missing blocks of a layer; return the layer and the number of these blocks.

    Args:
        work: Layer to compute; its field `blocks` is ignored.
        executor: Executor that computes the blocks; None to compute them in this process.
        stage: Name of the layer in progress messages.
    """
    run = (executor or ThisProcess()).run
    return work.target.fill(lambda some: run(replace(work, blocks=tuple(some))), listener, stage)


def _single_precision(folder: OperatorFolder, features: Matrix, bounds: list[int]) -> Matrix:
    """Return features in float32; if they are dense float16, store the converted copy on disk."""
    check_matrix(features)
    if is_sparse(features) or features.dtype == np.float32:
        return features
    target = folder.files(0, bounds)
    return target.fill(
        lambda blocks: (
            target.put(block, features[slice(*target.between(block))]) for block in blocks
        ),
        SILENT,
        "single precision",
    )[0]


@dataclass(frozen=True)
class Encoded:
    """Embeddings of all nodes, which are stored in blocks on disk."""

    place: Path
    """Folder of the network's last layer, which contains the embeddings."""

    computed: int
    """Number of blocks that were not yet on disk, in all layers together."""


def stored_encoding(view: GraphView, network: RowNetwork) -> Matrix | None:
    """Return the embeddings of all nodes that an earlier run stored, memory-mapped.

    The result is None if they are incomplete.
    """
    layers = view.layer_folder()
    return None if layers is None else layers.encoded(network, len(network.maps) - 1).matrix()


def encode(
    view: GraphView,
    network: RowNetwork,
    executor: BlockExecutor | None = None,
    *,
    folder: Path | None = None,
    block_bytes: int | None = None,
    listener: Listener = SILENT,
) -> Encoded:
    r"""Compute a network's embeddings of all nodes and store them on disk.

    With :math:`H_0 = m_0(X)` and :math:`H_l = m_l(S H_{l-1})`, each layer is completed for all
    nodes before the next one starts, because a block needs the previous layer, which is
    memory-mapped. An interrupted run resumes, as in
    :func:`~nodegraft.graph.disk.blocks.encode.propagate`. When the last layer is complete, all
    earlier layers are deleted.

    Args:
        view: A whole graph, or the result of its :meth:`~nodegraft.Graph.weighing` for weighted
            edge types.
        executor: Executor that computes the blocks; None to compute them in this process. The first
            map, which needs no neighbours, is always computed in this process.
        folder: Folder for the embeddings; None for the folder of a graph on disk.
        block_bytes: Approximate memory limit of a block; None for 64 MiB. Later runs in the same
            folder use the block bounds of the first run.
    """
    layers = view.layer_folder(folder)
    if layers is None:
        raise ParameterError(
            "Embeddings are kept for whole graphs as they were built, in a folder: a graph in "
            "memory has none of its own, so name one (folder=...)."
        )
    if network.features != view.num_features:
        raise ParameterError(
            f"The network takes {network.features} features, and the graph has {view.num_features}."
        )
    last = layers.encoded(network, len(network.maps) - 1)
    computed = 0
    if last.matrix() is None:
        try:
            computed = _layers(view, network, layers, executor, block_bytes, listener)
        except (FileNotFoundError, NodegraftError):
            # Ignore the error if another process completed the last layer and deleted the earlier
            # ones.
            if last.matrix() is None:
                raise
    for number in range(len(network.maps) - 1):
        shutil.rmtree(layers.encoded(network, number).place, ignore_errors=True)
    return Encoded(last.place, computed)


def _layers(
    view: GraphView,
    network: RowNetwork,
    folder: OperatorFolder,
    executor: BlockExecutor | None,
    block_bytes: int | None,
    listener: Listener,
) -> int:
    """Compute the missing blocks of all layers in order; return the number of these blocks."""
    edges, features = view._adjacency, in_one_piece(view._store.feature_matrix)
    check_matrix(features)
    # Count the input and the output of a map, because both rows of a block are in memory at once.
    widest = max(map(sum, pairwise((0, *network.widths))))
    if is_sparse(features):
        # Count rows of sparse features, too, because they are copied for the first map.
        widest = max(widest, nbytes(features) // (4 * max(view.num_nodes, 1)))
    room = np.broadcast_to(np.float32(0), (view.num_nodes, widest))
    own = replace(folder, place=folder.place / network.name)
    bounds, roots = own.agreed_bounds(block_bounds(edges, room, block_bytes)), folder.roots(edges)
    first, *others = network.maps
    target = LayerFiles(folder.encoded(network, 0), bounds)
    layer, computed = target.fill(
        lambda some: (
            target.put(block, first(features[slice(*target.between(block))])) for block in some
        ),
        listener,
        "layer 0",
    )
    for number, row_map in enumerate(others, start=1):
        files = LayerFiles(folder.encoded(network, number), bounds)
        work = LayerWork(edges, roots, layer, files, then=row_map)
        layer, count = fill_layer(work, executor, listener, f"layer {number}")
        computed += count
    return computed
