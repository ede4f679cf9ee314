"""Anonymous node order: neither row order nor keys reveal the class of a node."""

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.seeds import Seeds
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import key_hashes


def anonymous_order(graph: Graph, seed: int) -> NDArray[np.int64]:
    """Return the rows of a graph in an order that depends on keys and seed only.

    In raw files neighbouring rows often have the same class, so the row number would reveal it.

    Args:
        graph: The graph.
        seed: Seed of the order.
    """
    hashes = key_hashes(graph.key_array_of(graph.rows))
    salted = (hashes ^ np.uint64(Seeds(seed).number("anonymous"))).view(np.int64)
    return np.argsort(key_hashes(salted), kind="stable")
