"""Neighbours by edge type and direction, whose feature sums are input of a regression."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from nodegraft.graph.edges.entries import IN, OUT
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.edges.operator import Neighbourhood, Operator
from nodegraft.graph.view import GraphView

Block = tuple[str, np.uint8 | None]
"""Edge type and direction of the neighbours in a block; None for an undirected type."""

MOST_TYPES = 16
"""Maximum number of edge types that get blocks; edge types with the most edges are preferred. There
is a limit because each block adds a coefficient for every feature column and class.
"""


def block_types(view: GraphView) -> dict[str, bool]:
    """Return a mapping from each edge type that gets blocks to whether it is directed.

    Edge types without a visible edge get no block, because hidden edges must not change results.
    """
    counts = {name: view.edges_of(name)[0].size for name in view.relations}
    most = sorted(counts, key=lambda name: (-counts[name], name))[:MOST_TYPES]
    return {name: view.is_directed(name) for name in counts if counts[name] and name in most}


def typed_blocks(edge_types: Mapping[str, bool]) -> list[Block]:
    """Return two blocks for each directed edge type, one for each undirected edge type.

    >>> [name for name, _ in typed_blocks({"cites": True, "near": False})]
    ['cites', 'cites', 'near']
    """
    return [
        (name, direction)
        for name, is_directed in edge_types.items()
        for direction in ((OUT, IN) if is_directed else (None,))
    ]


def block_neighbours(view: GraphView, rows: IntArray, block: Block) -> Neighbourhood:
    """Return the neighbours of the given rows by one edge type in one direction.

    If the view has no such edge type, there are no neighbours. If the edge type is undirected in
    the view, neighbours in both directions are returned. Edge weights are divided by the largest
    weight in their row, so that sums do not overflow.
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
