"""Blocks of a layer as Ray tasks, on nodes that share a folder with this process.

Tasks read the layer before and write their blocks in that folder; only names of files and numbers
of blocks are sent.
"""

import shutil
from collections.abc import Iterator

from nodegraft.base.extras import extra
from nodegraft.graph.disk.blocks.layer_work import SCRATCH, BlockExecutor, LayerWork, SharedWork
from nodegraft.runners.ray_connection import RETRIES, RayCluster

with extra("ray", package="ray", purpose="A Ray cluster"):
    import ray


class RayBlocks(RayCluster, BlockExecutor):
    """A running Ray cluster, or a local one for this process alone; a context manager.

    Every node must reach the folders of the graph and of its layers under the same path.

    Args:
        address: Address of the cluster, or ``local`` to start one here.
        cpus: Number of CPUs of a local cluster.
    """

    def __init__(self, address: str, cpus: int | None = None) -> None:
        super().__init__(address, cpus=cpus)

    def run(self, work: LayerWork) -> Iterator[int]:
        """Compute all missing blocks of a layer."""
        shared = ray.put(SharedWork.of(work))
        compute = ray.remote(num_cpus=1, max_retries=RETRIES)(SharedWork.compute)
        waiting = [compute.remote(shared, block) for block in work.blocks]
        while waiting:
            ready, waiting = ray.wait(waiting)
            yield from ray.get(ready)
        shutil.rmtree(work.target.place / SCRATCH, ignore_errors=True)
