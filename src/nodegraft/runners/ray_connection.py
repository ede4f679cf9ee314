"""The way to Ray, which is an extra: a cluster that is there, or one for this process alone."""

import logging
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from socket import create_connection
from typing import Any

from nodegraft.base.errors import NodegraftError
from nodegraft.base.extras import extra

# Before Ray is imported: whoever reaches an open port needs the token, and nothing is sent home.
os.environ.setdefault("RAY_AUTH_MODE", "token")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

with extra("ray", package="ray", purpose="A Ray cluster"):
    import ray

LOCAL = "local"
SECONDS_TO_ANSWER = 10
QUIET: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.WARNING}


@contextmanager
def connected(address: str, cpus: int | None = None) -> Iterator[None]:
    """While this process is part of a cluster.

    Args:
        address: Where it is, or ``local`` to start one here, which ends with this.
        cpus: How many CPUs a local one has.
    """
    if address == LOCAL:
        # A token nobody else knows, and no dashboard.
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
            # Where nobody listens, Ray itself would try for minutes.
            create_connection((host, int(port)), timeout=SECONDS_TO_ANSWER).close()
        ray.init(address=address, **QUIET)
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise NodegraftError(
            f"Cannot connect to a Ray cluster at {address!r}. Check that it is running and that "
            "this machine has its token (`ray get-auth-token` there, RAY_AUTH_TOKEN here). Ray "
            f"says: {error}"
        ) from error
