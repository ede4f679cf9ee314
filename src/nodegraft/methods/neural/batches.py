"""Choice between full-batch training and training on sampled subgraphs."""

import warnings
from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nodegraft.base.errors import ParameterError
from nodegraft.base.parameters.constraints import PositiveInt
from nodegraft.graph.edges.sampling import ALL
from nodegraft.graph.sampled_view import SampledView
from nodegraft.graph.view import GraphView
from nodegraft.methods.neural.ranks import gather_rows

Batch: TypeAlias = PositiveInt | Literal["auto", "full"]
"""Number of seed nodes of a sampled batch; ``"auto"`` samples large graphs, ``"full"`` none."""

MOST_FULL_BATCH_EDGES = 10_000_000
"""Largest number of edges that ``"auto"`` trains on in full batches."""

AUTO_SEEDS = 1024
"""Number of seed nodes of a batch with ``"auto"``, if it samples."""


class SampledTrainingWarning(UserWarning):
    """Training on samples of a large graph that the user did not ask for."""


def sampled(
    view: GraphView,
    batch: Batch,
    fan_out: int,
    seed: int,
    ranks: tuple[int, int] = (0, 1),
    warn: bool = True,
) -> GraphView:
    """Return the view to train on: the given view for full batches, or a sampled view of it.

    A :class:`SampledTrainingWarning` says that ``"auto"`` has chosen batches, because results then
    depend on how they are drawn and on how much memory is free.

    Args:
        view: Visible part of the graph.
        batch: Number of seed nodes of a batch; ``"full"`` for full batches. ``"auto"`` samples if
            there are more than :data:`MOST_FULL_BATCH_EDGES` edges, or if a full batch does not fit
            into memory.
        fan_out: Maximum number of neighbours of a node at each hop; -1 for all.
        seed: Seed of all random draws.
        ranks: Number of this process, and number of all processes that share the batches; several
            processes need a number as ``batch``.
        warn: Whether to warn if ``"auto"`` chooses batches; not for a view that nothing is drawn
            from.
    """
    rank, world_size = ranks
    if isinstance(batch, int):
        return SampledView(view, batch, fan_out, seed, rank=rank, world_size=world_size)
    if world_size > 1:
        raise ParameterError(
            f"batch is {batch!r}, and {world_size} processes train together: they share the nodes "
            "of sampled batches, so set batch to a number of nodes (batch=1024), or train in one "
            "process, without torchrun."
        )
    if batch == "full" or (view.num_edges <= MOST_FULL_BATCH_EDGES and view.fits_in_memory):
        return view
    if warn:
        neighbours = "takes all" if fan_out == ALL else f"samples at most {fan_out}"
        warnings.warn(
            f"A graph of {view.num_edges:,} edges is too large for full batches, or for the free "
            f"memory: each training step has at most {AUTO_SEEDS:,} labelled nodes, and "
            f"{neighbours} neighbours of a node. To choose yourself, set batch to a number of "
            "nodes, or to 'full', before fit.",
            SampledTrainingWarning,
            stacklevel=2,
        )
    return SampledView(view, AUTO_SEEDS, fan_out, seed)


def at_step(view: GraphView, step: int) -> GraphView:
    """Return a view with the random draws of a training step; only sampled views have draws."""
    return view.at(step) if isinstance(view, SampledView) else view


def embed_in_batches(
    view: GraphView,
    rows: NDArray[np.int64],
    embed: Callable[[NDArray[np.int64]], Tensor],
) -> Tensor:
    """Embed rows, in batches if the view is sampled and gradients are disabled.

    In a view whose batches several ranks share, each rank embeds a part of the rows.

    Args:
        rows: Row numbers in any order; the result has the same order.
        embed: Function that returns one row for each row number.
    """
    if not isinstance(view, SampledView):
        return embed(rows)
    own = rows[view.part(rows.size)]
    parts = [own] if torch.is_grad_enabled() else view.batches(own)
    return gather_rows(torch.cat([embed(part) for part in parts]), view, rows.size)
