"""Neighbours apart by edge type and direction: what rows of a regression consist of."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from nodegraft.graph.edges.entries import IN, OUT
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.edges.operator import Neighbourhood, Operator
from nodegraft.graph.view import GraphView

Block = tuple[str, np.uint8 | None]
"""An edge type, and a direction where it has directions."""

MOST_TYPES = 16
"""So many edge types, those with most edges, have blocks: each block holds a number for every
column and class."""


def block_types(view: GraphView) -> dict[str, bool]:
    """Return the edge types that blocks are made for, and whether each has directions.

    Types without a visible edge have none: hidden edges must not change what is seen.
    """
    counts = {name: view.edges_of(name)[0].size for name in view.relations}
    most = sorted(counts, key=lambda name: (-counts[name], name))[:MOST_TYPES]
    return {name: view.is_directed(name) for name in counts if counts[name] and name in most}


def typed_blocks(edge_types: Mapping[str, bool]) -> list[Block]:
    """Return two blocks for each edge type with directions, one for each without.

    >>> [name for name, _ in typed_blocks({"cites": True, "near": False})]
    ['cites', 'cites', 'near']
    """
    return [
        (name, direction)
        for name, is_directed in edge_types.items()
        for direction in ((OUT, IN) if is_directed else (None,))
    ]


def block_neighbours(view: GraphView, rows: IntArray, block: Block) -> Neighbourhood:
    """Return the neighbours by one edge type in one direction; none where the type is gone.

    Where the type has lost its directions, all neighbours. Weights are relative to the largest
    one of each row, so that no sum overflows.

    Args:
        rows: Row numbers, each once and ascending.
    """
    name, direction = block
    if name in view.relations:
        near = view.linked(rows, name, direction if view.is_directed(name) else None)
        _scale_rows(near.hops[0].matrix)
        return near
    nothing = Operator(csr_array((rows.size, 0), dtype=np.float32))
    return Neighbourhood(Operator(view.features(view.rows[:0])), (nothing,), (rows[:0], rows))


def _scale_rows(matrix: "csr_array[Any]") -> None:
    if (matrix.data == 1.0).all():
        return
    owner = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    largest = np.zeros(matrix.shape[0], dtype=matrix.dtype)
    np.maximum.at(largest, owner, matrix.data)
    matrix.data /= np.where(largest > 0, largest, 1.0)[owner]
