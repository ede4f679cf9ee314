"""Nodes without a past: neither row order nor keys say where they come from."""

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.seeds import Seeds
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import key_hashes


def anonymous_order(graph: Graph, seed: int) -> NDArray[np.int64]:
    """The rows of a graph in an order that depends on keys and seed, never on the rows' order.

    In raw files neighbouring rows often share their class; a method that sees them so can read
    the class off the row number.

    Args:
        graph: The graph.
        seed: Another one gives another order.
    """
    hashes = key_hashes(graph.key_array_of(graph.rows))
    salted = (hashes ^ np.uint64(Seeds(seed).number("anonymous"))).view(np.int64)
    return np.argsort(key_hashes(salted), kind="stable")
