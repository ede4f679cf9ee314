"""Choice between full-batch training and training on sampled subgraphs."""

from typing import Literal, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from nodegraft.base.parameters.constraints import PositiveInt
from nodegraft.graph.sampled_view import SampledView
from nodegraft.graph.view import GraphView

Batch: TypeAlias = PositiveInt | Literal["auto"]
"""Number of seed nodes of a sampled batch; ``"auto"`` samples large graphs only."""

MOST_FULL_BATCH_EDGES = 10_000_000
"""Largest number of edges that ``"auto"`` trains on in full batches."""

AUTO_SEEDS = 1024
"""Number of seed nodes of a batch with ``"auto"``, if it samples."""


def sampled(view: GraphView, batch: Batch, fan_out: int, seed: int) -> GraphView:
    """Return the view to train on: the given view for full batches, or a sampled view of it.

    Args:
        view: Visible part of the graph.
        batch: Number of seed nodes of a batch. ``"auto"`` samples if there are more than
            :data:`MOST_FULL_BATCH_EDGES` edges, or if a full batch does not fit into memory.
        fan_out: Maximum number of neighbours of a node at each hop; -1 for all.
        seed: Seed of all random draws.
    """
    if isinstance(batch, int):
        return SampledView(view, batch, fan_out, seed)
    if view.num_edges > MOST_FULL_BATCH_EDGES or not view.fits_in_memory:
        return SampledView(view, AUTO_SEEDS, fan_out, seed)
    return view


def at_step(view: GraphView, step: int) -> GraphView:
    """Return a view with the random draws of a training step; only sampled views have draws."""
    return view.at(step) if isinstance(view, SampledView) else view


def seed_batches(view: GraphView, rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Split rows into the batches that are embedded one after the other.

    With gradients, and in a view that is not sampled, all rows are one batch.
    """
    if isinstance(view, SampledView) and not torch.is_grad_enabled():
        return list(view.batches(rows))
    return [rows]
