"""Part of a graph that a network needs to embed some of its nodes."""

from dataclasses import dataclass

from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.edges.operator import Operator


@dataclass(frozen=True)
class Neighbourhood:
    """All that a network of ``len(hops)`` layers needs to see to embed some nodes.

    So one forward pass is the same code for the whole graph and for three nodes of it:

        hidden = neighbourhood.features @ first_weight
        hidden = neighbourhood.hops[0] @ hidden
    """

    features: Operator
    """Feature rows of the outermost nodes."""

    hops: tuple[Operator, ...]
    """Slices of the normalised adjacency: ``hops[0]`` takes a tensor on the outermost nodes one
    step inwards, the last one arrives at the nodes that were asked for."""

    rings: tuple[IntArray, ...]
    """The nodes themselves, outermost first: ``hops[i]`` leads from ``rings[i]`` to
    ``rings[i + 1]``, which is part of it."""
