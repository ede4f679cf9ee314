"""ASGI applications on Ray Serve, with replicas on cluster nodes; dead replicas are replaced."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import sleep
from typing import Any

from nodegraft.base.errors import NodegraftError
from nodegraft.base.extras import extra
from nodegraft.runners.ray_connection import connected

with extra("ray-serve", package="ray", purpose="Ray Serve"):
    import ray

ONGOING = 64
"""Maximum number of concurrent requests of a replica; the application itself queues requests."""

HEALTH_SECONDS = 1.0
"""Interval of health checks in seconds; a dead replica is replaced after a check."""


@contextmanager
def replicated(
    make: Callable[[], Any], name: str, address: str, replicas: int, host: str, port: int
) -> Iterator[None]:
    """Serve replicas of an application on a Ray cluster until the block ends.

    Ray's proxy on the head node distributes requests to the replicas. A running application of the
    same name is replaced; if an application of another name is running, an error is raised.

    Args:
        make: Function that creates the application in the process of each replica; it must be
            serialisable.
        address: Address of the cluster, or ``local`` to start a local one.
        replicas: Number of replicas, with one CPU each.
        host: Address that the proxy listens on; ignored if Ray Serve runs already.
        port: Port that the proxy listens on; ignored if Ray Serve runs already.
    """
    with connected(address, cpus=replicas):
        serve = _serve()
        has: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
        cpus = int(has.get("CPU", 0))
        if cpus < replicas:
            raise NodegraftError(
                f"The cluster has {cpus} CPUs, too few for {replicas} replicas: ask for fewer "
                "with --workers, or add nodes."
            )
        _listen(serve, host, port)
        try:
            _run(serve, _deployment(serve, make, replicas).bind(), name)
            yield
        finally:
            serve.delete(name)


def wait_for_signal() -> None:
    """Wait until this process receives SIGINT or SIGTERM."""
    signals = list[int]()
    for kind in (signal.SIGINT, signal.SIGTERM):
        signal.signal(kind, lambda number, _: signals.append(number))
    while not signals:
        sleep(0.2)


def _serve() -> Any:
    # Ray Serve depends on further packages. If any of them is missing, name the extra to install.
    try:
        from ray import serve
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        with extra("ray-serve", package=missing, purpose="Ray Serve"):
            raise
    return serve


def _listen(serve: Any, host: str, port: int) -> None:
    try:
        serve.start(http_options={"host": host, "port": port})
    except (RuntimeError, TimeoutError, ray.exceptions.RayError) as error:
        raise NodegraftError(
            f"Ray Serve cannot listen at {host}, port {port}: choose others with --host and "
            f"--port. Ray says: {_message_of(error)}"
        ) from error


def _run(serve: Any, application: Any, name: str) -> None:
    try:
        serve.run(application, name=name, route_prefix="/")
    except (RuntimeError, TimeoutError, ray.exceptions.RayError) as error:
        # Read the errors of the replicas from the application status, because the exception does
        # not contain them.
        status = serve.status().applications.get(name)
        messages = [part.message for part in status.deployments.values()] if status else []
        raise NodegraftError(
            "Ray Serve could not start the replicas. Check that nothing else is served by this "
            "cluster, and that what they serve is found under the same path on every node. Ray "
            f"says: {' '.join([_message_of(error), *messages])}"
        ) from error


def _message_of(error: Exception) -> str:
    """Return the message of an error, without the traceback of the remote process."""
    return str(getattr(error, "cause", error))


def _deployment(serve: Any, make: Callable[[], Any], replicas: int) -> Any:
    def built() -> Any:
        # Ray requires a plain function, which it calls in the process of each replica.
        return make()

    return serve.deployment(
        name="replica",
        num_replicas=replicas,
        max_ongoing_requests=ONGOING,
        health_check_period_s=HEALTH_SECONDS,
    )(serve.ingress(built)())
