"""Embeddings of all nodes by a trained network, computed in blocks and stored on disk.

A network is a list of maps of single rows with a product by S between two of them.
"""

import shutil
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from nodegraft.base.errors import NodegraftError, ParameterError
from nodegraft.base.events import SILENT, Listener
from nodegraft.graph.disk.blocks.executor import BlockExecutor, LayerWork
from nodegraft.graph.disk.blocks.filling import fill, fill_here
from nodegraft.graph.disk.blocks.journal import BlockDone
from nodegraft.graph.disk.blocks.layer_files import LayerFiles
from nodegraft.graph.disk.blocks.operator_folder import OperatorFolder
from nodegraft.graph.disk.blocks.row_map import RowNetwork
from nodegraft.graph.edges.bounds import check_matrix
from nodegraft.graph.edges.matrix import Matrix, is_sparse, nbytes
from nodegraft.graph.edges.row_blocks import block_bounds
from nodegraft.graph.growth.stacked import in_one_piece
from nodegraft.graph.view import GraphView


@dataclass(frozen=True)
class Encoded:
    """What was done, and where it lies."""

    place: Path
    """The folder of the last layer."""

    computed: tuple[BlockDone, ...]
    """The blocks that had been missing, of all layers."""


def kept_encoding(
    view: GraphView, network: RowNetwork, folder: Path | None = None
) -> Matrix | None:
    """What the network says of every node, mapped; None as long as it is not complete.

    Args:
        view: A whole graph.
        network: The network, with its weights.
        folder: Where it is kept; None for the place that a graph on disk has for it.
    """
    kept = view.kept_layers(folder)
    return None if kept is None else kept.encoded(network, len(network.maps) - 1).matrix()


def encode(
    view: GraphView,
    network: RowNetwork,
    executor: BlockExecutor | None = None,
    *,
    folder: Path | None = None,
    block_bytes: int | None = None,
    listener: Listener = SILENT,
) -> Encoded:
    r"""Compute a network's output for all nodes and keep it on disk.

    With :math:`H_0 = m_0(X)` and :math:`H_l = m_l(S H_{l-1})` each layer is finished for all nodes
    before the next is begun: no block sees more than its own rows of S and the layer before, which
    is mapped. Blocks are journalled, and whoever starts again after a cut goes on from there, as in
    :func:`~nodegraft.graph.disk.blocks.propagate.propagate`. When the last layer is complete the
    others are deleted.

    Args:
        view: A whole graph, or one :meth:`~nodegraft.Graph.weighing` its kinds of edges.
        network: The network, with its weights.
        executor: Who computes the blocks; None for this process. The product of features and first
            weights, which needs no neighbours, is always computed in this one.
        folder: Where to keep it; None for the place that a graph on disk has for it.
        block_bytes: About how much memory a block may take; None for 64 MiB. It is settled for a
            folder by whoever begins.
        listener: Told of every block that is done.
    """
    kept = view.kept_layers(folder)
    if kept is None:
        raise ParameterError(
            "Embeddings are kept for whole graphs as they were built, in a folder: a graph in "
            "memory has none of its own, so name one (folder=...)."
        )
    if network.features != view.num_features:
        raise ParameterError(
            f"The network takes {network.features} features, and the graph has {view.num_features}."
        )
    last = kept.encoded(network, len(network.maps) - 1)
    done = list[BlockDone]()
    if last.matrix() is None:
        try:
            done = _layers(view, network, kept, executor, block_bytes, listener)
        except (FileNotFoundError, NodegraftError):
            # Who else was at it has ended first, and deleted the layers before the last.
            if last.matrix() is None:
                raise
    for number in range(len(network.maps) - 1):
        shutil.rmtree(kept.encoded(network, number).place, ignore_errors=True)
    return Encoded(last.place, tuple(done))


def _layers(
    view: GraphView,
    network: RowNetwork,
    kept: OperatorFolder,
    executor: BlockExecutor | None,
    block_bytes: int | None,
    listener: Listener,
) -> list[BlockDone]:
    """Compute what is missing of each layer, one after the other."""
    edges, features = view._adjacency, in_one_piece(view._store.feature_matrix)
    check_matrix(features)
    # Of a block in hand the rows before a map and those behind it are in memory.
    widest = max(map(sum, pairwise((0, *network.widths))))
    if is_sparse(features):
        # Rows of features are copied for the first map.
        widest = max(widest, nbytes(features) // (4 * max(view.num_nodes, 1)))
    room = np.broadcast_to(np.float32(0), (view.num_nodes, widest))
    own = replace(kept, place=kept.place / network.name)
    bounds, roots = own.agreed(block_bounds(edges, room, block_bytes)), kept.roots(edges)
    first, *others = network.maps
    target = LayerFiles(kept.encoded(network, 0), bounds)
    layer, done = fill_here(
        target, lambda start, stop: first(features[start:stop]), listener, "layer 0"
    )
    for number, one in enumerate(others, start=1):
        before, target = target, LayerFiles(kept.encoded(network, number), bounds)
        work = LayerWork(edges, roots, layer, target, before=before, then=one)
        layer, made = fill(work, executor, listener, f"layer {number}")
        done += made
    return done
