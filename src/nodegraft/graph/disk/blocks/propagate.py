r"""All rows of :math:`SX, S^2X, \ldots`, computed in blocks and kept on disk."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nodegraft.base.errors import ParameterError
from nodegraft.base.events import SILENT, Listener
from nodegraft.graph.disk.blocks.executor import BlockExecutor, LayerWork
from nodegraft.graph.disk.blocks.filling import fill, fill_here
from nodegraft.graph.disk.blocks.journal import BlockDone
from nodegraft.graph.disk.blocks.operator_folder import OperatorFolder
from nodegraft.graph.edges.bounds import check_matrix
from nodegraft.graph.edges.matrix import Matrix, is_sparse
from nodegraft.graph.edges.row_blocks import block_bounds
from nodegraft.graph.growth.stacked import in_one_piece
from nodegraft.graph.view import GraphView


@dataclass(frozen=True)
class Propagation:
    """What was done, and where it lies."""

    folder: OperatorFolder
    """The layers."""

    computed: tuple[BlockDone, ...]
    """The blocks that had been missing, of all layers."""


def propagate(
    view: GraphView,
    hops: int,
    executor: BlockExecutor | None = None,
    *,
    folder: Path | None = None,
    block_bytes: int | None = None,
    listener: Listener = SILENT,
) -> Propagation:
    r"""Compute :math:`SX, \ldots, S^h X` for all nodes and keep them on disk.

    Every block is on the disk before the next one is begun: whoever starts again after a cut goes
    on from there, on any executor, and gets the same bits. A graph that lies on disk answers
    :meth:`~nodegraft.Graph.propagated` from these rows as soon as a layer is complete.

    Args:
        view: A whole graph, or one :meth:`~nodegraft.Graph.weighing` its kinds of edges.
        hops: The largest power of S, at least 1.
        executor: Who computes the blocks; None for this process.
        folder: Where to keep them; None for the place that a graph on disk has for them.
        block_bytes: About how much memory a block may take; None for 64 MiB. It is settled for a
            folder by whoever begins.
        listener: Told of every block that is done.
    """
    if hops < 1:
        raise ParameterError(f"hops must be at least 1, and is {hops}.")
    kept = view.kept_layers(folder)
    if kept is None:
        raise ParameterError(
            "Layers are kept for whole graphs, in a folder: a graph in memory has none of its "
            "own, so name one (folder=...)."
        )
    adjacency, features = view._adjacency, in_one_piece(view._store.feature_matrix)
    bounds, done = block_bounds(adjacency, features, block_bytes), list[BlockDone]()
    roots, layer = kept.roots(adjacency), _wide(kept, features, bounds)
    before = None
    for power in range(1, hops + 1):
        target = kept.files(power, bounds)
        work = LayerWork(adjacency, roots, layer, target, before=before)
        layer, made = fill(work, executor, listener, f"hop {power}")
        check_matrix(layer)
        done += made
        before = target
    return Propagation(kept, tuple(done))


def _wide(kept: OperatorFolder, features: Matrix, bounds: list[int]) -> Matrix:
    """The features in single precision; those in half precision are written out, once."""
    check_matrix(features)
    if is_sparse(features) or features.dtype == np.float32:
        return features
    target = kept.files(0, bounds)
    return fill_here(target, lambda *rows: features[slice(*rows)], SILENT, "single precision")[0]
