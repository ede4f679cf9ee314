"""Blocks of a layer as Ray tasks, on nodes that share nothing but the network.

A layer is in parts, one for each block, each an object on the node that made it. A task beside
each part takes the rows that a block needs of it; only these travel. Nothing but the process that
asked writes to a disk: the finished blocks come to it.
"""

from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array, vstack

from nodegraft.base.extras import extra
from nodegraft.graph.disk.blocks.executor import LayerWork
from nodegraft.graph.disk.blocks.journal import BlockDone
from nodegraft.graph.disk.blocks.layer_files import LayerFiles
from nodegraft.graph.disk.blocks.row_map import RowMap
from nodegraft.graph.edges.matrix import IntArray, Matrix, is_sparse, nbytes
from nodegraft.graph.edges.operator import multiply
from nodegraft.runners.ray_connection import RETRIES, RayCluster

with extra("ray", package="ray", purpose="A Ray cluster"):
    import ray


class RayBlocks:
    """A Ray cluster that is there, or one for this process alone; a context.

    Args:
        address: Where it is, or ``local`` to start one here.
        cpus: How many CPUs a local one has.
    """

    def __init__(self, address: str, cpus: int | None = None) -> None:
        self._cluster = RayCluster(address, cpus=cpus)
        self._latest: tuple[LayerFiles, dict[int, Any]] | None = None

    def __enter__(self) -> "RayBlocks":
        self._cluster.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._latest = None
        self._cluster.__exit__()

    def run(self, work: LayerWork) -> Iterator[BlockDone]:
        """Compute all missing blocks of a layer; tells of each when it is on the disk.

        Args:
            work: The layer.
        """
        parts, made = self._parts(work), dict[int, Any]()
        waiting, given = deque(work.blocks), dict[Any, int]()
        while waiting or given:
            # A queue behind the busy ones hides the way there and back.
            while waiting and len(given) < 2 * max(1, self._cluster.capacity()):
                block = waiting.popleft()
                made[block], fetched = parts.spread(block)
                given[fetched] = block
            for ready in ray.wait(list(given), timeout=1.0)[0]:
                block = given.pop(ready)
                yield work.target.write(block, *ray.get([made[block], ready]))
        self._latest = work.target, made

    def _parts(self, work: LayerWork) -> "Parts":
        # What this cluster made a moment ago is still where it was made.
        is_latest = self._latest is not None and self._latest[0] == work.before
        return Parts(work, dict(self._latest[1]) if self._latest and is_latest else {})


class Parts:
    """The layer before, in the object store.

    Args:
        work: The layer that is to be computed.
        made: The parts that are there already.
    """

    def __init__(self, work: LayerWork, made: dict[int, Any]) -> None:
        self._work, self._made = work, made
        self._bounds = np.array(work.target.bounds)
        self._take = ray.remote(num_cpus=1, max_retries=RETRIES)(_take)
        self._spread = ray.remote(num_cpus=1, max_retries=RETRIES, num_returns=2)(_spread)

    def spread(self, block: int) -> tuple[Any, Any]:
        """References to the rows of a block, and to how many bytes were fetched for them.

        Args:
            block: Its number.
        """
        matrix, sources = self._work.adjacency.hop(np.arange(*self._work.target.between(block)))
        cuts = np.searchsorted(sources, self._bounds)
        needed = np.flatnonzero(np.diff(cuts)).tolist()
        taken = [
            self._take.remote(self._part(part), sources[slice(*cuts[part : part + 2])] - first)
            for part, first in zip(needed, self._bounds[needed], strict=True)
        ]
        made, fetched = self._spread.remote(matrix, self._work.then, needed.index(block), *taken)
        return made, fetched

    def _part(self, part: int) -> Any:
        if part not in self._made:
            start, stop = self._work.target.between(part)
            self._made[part] = ray.put(self._work.source[start:stop])
        return self._made[part]


def _take(part: Matrix, rows: IntArray) -> Matrix:
    return part[rows]


def _spread(
    matrix: "csr_array[Any]", then: RowMap | None, own: int, *taken: Matrix
) -> tuple[Matrix, int]:
    torch.set_num_threads(1)
    fetched = sum(nbytes(rows) for place, rows in enumerate(taken) if place != own)
    sources = vstack(taken, format="csr") if is_sparse(taken[0]) else np.concatenate(taken)
    rows = multiply(matrix, sources)
    return rows if then is None else then(rows), fetched
