"""Neighbour sampler for the loaders of PyTorch Geometric (PyG), without ``pyg-lib``."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch_geometric.sampler import (
    BaseSampler,
    EdgeSamplerInput,
    NodeSamplerInput,
    SamplerOutput,
)

from nodegraft.base.errors import ParameterError
from nodegraft.graph.edges.matrix import located
from nodegraft.graph.edges.sampling import NeighbourSampler
from nodegraft.graph.view import GraphView


class PyGNeighbourSampler(BaseSampler):  # type: ignore[misc]
    """Sampler for PyG's ``NodeLoader``, over a graph in memory or on disk.

    A batch depends on the seed, the epoch and its seed nodes only: not on the number of workers, on
    other batches, or on where a run resumed. Edge types are merged. Edges lead from a sampled
    neighbour to the node that it was sampled for; a node has neighbours in a batch if it is fewer
    hops away than there are fan-outs.

    Args:
        view: Graph or view of a graph.
        fan_outs: Maximum number of neighbours of a node for each hop; -1 for all.
        seed: Seed of all random draws.
    """

    def __init__(self, view: GraphView, fan_outs: Sequence[int], seed: int = 0) -> None:
        super().__init__()
        self.view, self.sampler = view, NeighbourSampler(tuple(fan_outs), seed)

    def set_epoch(self, epoch: int) -> None:
        """Use other random draws from the next iterator of a loader on.

        A loader with ``persistent_workers`` does not see the change.

        Args:
            epoch: Number of the epoch, at least 0.
        """
        self.sampler = self.sampler.at(epoch)

    def sample_from_nodes(self, index: NodeSamplerInput, **kwargs: Any) -> SamplerOutput:
        """Return the sampled nodes, seed nodes first, and the edges between them.

        Args:
            index: Seed nodes: row numbers, unique.
            kwargs: Ignored.
        """
        seeds = self.view.positions(index.node.numpy())
        if np.unique(seeds).size != seeds.size:
            raise ParameterError("The seed nodes of a batch must be unique.")
        edges, nodes, ring = self.view._adjacency, seeds, seeds
        sources, targets, sizes = [seeds[:0]], [seeds[:0]], [seeds.size]
        for hop in range(len(self.sampler.fan_outs)):
            counts, neighbours, _ = self.sampler.neighbours(edges, ring, hop)
            targets.append(np.repeat(np.arange(nodes.size - ring.size, nodes.size), counts))
            ring = np.setdiff1d(neighbours, nodes)
            nodes = np.concatenate((nodes, ring))
            sizes.append(ring.size)
            order = np.argsort(nodes)
            place, _ = located(nodes[order], neighbours)
            sources.append(order[place])
        return SamplerOutput(
            node=torch.from_numpy(self.view._at(nodes)),
            row=torch.from_numpy(np.concatenate(sources)),
            col=torch.from_numpy(np.concatenate(targets)),
            edge=None,
            num_sampled_nodes=sizes,
            num_sampled_edges=[part.size for part in targets[1:]],
            metadata=(index.input_id, index.time),
        )

    def sample_from_edges(self, index: EdgeSamplerInput, neg_sampling: Any = None) -> SamplerOutput:
        """Raise an error: only nodes can be seeds.

        Args:
            index: Seed edges.
            neg_sampling: Settings of negative sampling.
        """
        raise ParameterError("This sampler takes nodes as seeds, not edges: use PyG's NodeLoader.")
