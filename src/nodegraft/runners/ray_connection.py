"""Connection to an existing Ray cluster, or to a local cluster for this process."""

import logging
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from socket import create_connection
from typing import Any, Self

from nodegraft.base.errors import NodegraftError
from nodegraft.base.extras import extra
from nodegraft.base.parameters.constraints import NonNegativeFloat, NonNegativeInt, PositiveFloat
from nodegraft.base.parameters.validate import validate
from nodegraft.graph.disk.blocks.layer_work import SCRATCH, BlockExecutor, LayerWork, SharedWork

# Ray reads these variables when it is imported: they require a token for connections and switch off
# usage statistics.
os.environ.setdefault("RAY_AUTH_MODE", "token")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

with extra("ray", package="ray", purpose="A Ray cluster"):
    import ray

LOCAL = "local"
SECONDS_TO_ANSWER = 10
RETRIES = 5
QUIET: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.WARNING}


@contextmanager
def connected(address: str, cpus: int | None = None) -> Iterator[None]:
    """Connect this process to a Ray cluster, and disconnect when the block ends.

    Args:
        address: Address of the cluster, or ``local`` to start a local cluster, which stops when the
            block ends.
        cpus: Number of CPUs of a local cluster; None to use all.
    """
    if address == LOCAL:
        # Use a random token and no dashboard, so that no other user has access.
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
        _start(cpus)
    else:
        _join(address)
    try:
        yield
    finally:
        ray.shutdown()


def _start(cpus: int | None) -> None:
    try:
        ray.init(LOCAL, num_cpus=cpus, include_dashboard=False, **QUIET)
    except Exception as error:
        raise NodegraftError(
            "Ray could not be started on this machine. Check that no other Ray of yours runs here "
            f"and that memory and disk are free, or use --workers without --ray. Ray says: {error}"
        ) from error


def _join(address: str) -> None:
    host, _, port = address.rpartition(":")
    try:
        if host and port.isdigit():
            # Check the port first, because Ray itself would retry for minutes.
            create_connection((host, int(port)), timeout=SECONDS_TO_ANSWER).close()
        ray.init(address=address, **QUIET)
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise NodegraftError(
            f"Cannot connect to a Ray cluster at {address!r}. Check that it is running and that "
            "this machine has its token (`ray get-auth-token` there, RAY_AUTH_TOKEN here). Ray "
            f"says: {error}"
        ) from error


@dataclass(frozen=True)
class JobResources:
    """Resources of a cluster node that one job may use."""

    cpus: PositiveFloat = 1.0
    """Number of CPUs; may be a fraction."""

    memory: NonNegativeInt = 0
    """Memory in bytes; 0 for no requirement."""

    gpus: NonNegativeFloat = 0.0
    """Number of GPUs; may be a fraction."""

    def __post_init__(self) -> None:
        validate(self)

    def jobs_on(self, node: dict[str, float]) -> int:
        """Return the number of jobs that can run on a node at the same time.

        >>> JobResources(cpus=1, memory=2**30).jobs_on({"CPU": 8, "memory": 5 * 2**30})
        5
        """
        amounts = {"CPU": self.cpus, "memory": float(self.memory), "GPU": self.gpus}
        return int(min(node.get(name, 0) // amount for name, amount in amounts.items() if amount))


class RayCluster:
    """Context manager for a connection to a Ray cluster, or to a local one for this process.

    Args:
        address: Address of the cluster, or ``local`` to start a local one.
        resources: Resources that one job may use; None for the default.
        cpus: Number of CPUs of a local cluster; None to use all.
    """

    def __init__(
        self, address: str, resources: JobResources | None = None, cpus: int | None = None
    ) -> None:
        self._connection = connected(address, cpus)
        self._resources = resources or JobResources()

    def __enter__(self) -> Self:
        self._connection.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.__exit__(None, None, None)

    def capacity(self) -> int:
        """Return the number of jobs that all live nodes can run at the same time."""
        nodes: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
        return sum(self._resources.jobs_on(node["Resources"]) for node in nodes if node["Alive"])


class RayBlocks(RayCluster, BlockExecutor):
    """Context manager for a Ray cluster that computes the blocks of layers in parallel.

    Every node must be able to access the folders of the graph and of its layers at the same path.
    """

    def run(self, work: LayerWork) -> Iterator[int]:
        """Compute all missing blocks of a layer; yield the number of each block when it is done."""
        shared = ray.put(SharedWork.of(work))
        compute = ray.remote(num_cpus=1, max_retries=RETRIES)(SharedWork.compute)
        waiting = [compute.remote(shared, block) for block in work.blocks]
        while waiting:
            ready, waiting = ray.wait(waiting)
            yield from ray.get(ready)
        shutil.rmtree(work.target.place / SCRATCH, ignore_errors=True)
