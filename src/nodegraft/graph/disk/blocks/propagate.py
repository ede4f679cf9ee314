r"""Compute all rows of :math:`SX, S^2X, \ldots` in blocks, and store them on disk."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from nodegraft.base.errors import ParameterError
from nodegraft.base.events import SILENT, Listener
from nodegraft.graph.disk.blocks.layer_work import BlockExecutor, LayerWork, ThisProcess
from nodegraft.graph.disk.blocks.operator_folder import OperatorFolder
from nodegraft.graph.edges.bounds import check_matrix
from nodegraft.graph.edges.matrix import Matrix, is_sparse
from nodegraft.graph.edges.row_blocks import block_bounds
from nodegraft.graph.growth.stacked import in_one_piece
from nodegraft.graph.view import GraphView


@dataclass(frozen=True)
class Propagation:
    """Propagated layers of a graph, in blocks on disk."""

    folder: OperatorFolder
    """The layers."""

    computed: int
    """Number of blocks that were missing, of all layers."""


def propagate(
    view: GraphView,
    hops: int,
    executor: BlockExecutor | None = None,
    *,
    folder: Path | None = None,
    block_bytes: int | None = None,
    listener: Listener = SILENT,
) -> Propagation:
    r"""Compute :math:`SX, \ldots, S^h X` for all nodes and store them on disk.

    Every block is on the disk before the next one begins: an interrupted run resumes there, on any
    executor, with the same result. A graph on disk answers :meth:`~nodegraft.Graph.propagated` from
    these rows as soon as a layer is complete.

    Args:
        view: A whole graph, or one :meth:`~nodegraft.Graph.weighing` its edge types.
        hops: Largest power of S, at least 1.
        executor: Computes the blocks; None for this process.
        folder: Where to store the layers; None for the folder of a graph on disk.
        block_bytes: About how much memory a block may take; None for 64 MiB. The first run in a
            folder decides.
        listener: Receives the progress.
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
    bounds, computed = block_bounds(adjacency, features, block_bytes), 0
    roots, layer = kept.roots(adjacency), _single_precision(kept, features, bounds)
    for power in range(1, hops + 1):
        work = LayerWork(adjacency, roots, layer, kept.files(power, bounds))
        layer, count = fill_layer(work, executor, listener, f"hop {power}")
        check_matrix(layer)
        computed += count
    return Propagation(kept, computed)


def fill_layer(
    work: LayerWork, executor: BlockExecutor | None, listener: Listener, stage: str
) -> tuple[Matrix, int]:
    """Compute the missing blocks of a layer; return the layer and how many were missing.

    Args:
        executor: Computes the blocks; None for this process.
    """
    run = (executor or ThisProcess()).run
    return work.target.fill(lambda some: run(replace(work, blocks=tuple(some))), listener, stage)


def _single_precision(kept: OperatorFolder, features: Matrix, bounds: list[int]) -> Matrix:
    """Return features in single precision; those in half precision are written out, once."""
    check_matrix(features)
    if is_sparse(features) or features.dtype == np.float32:
        return features
    target = kept.files(0, bounds)
    return target.fill(
        lambda blocks: (
            target.put(block, features[slice(*target.between(block))]) for block in blocks
        ),
        SILENT,
        "single precision",
    )[0]
