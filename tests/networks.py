"""Hosts of their own for a test, or the reason why there are none."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager

import pytest
from performance.networks import Host, NoNetworksError


@contextmanager
def or_skip(
    networks: AbstractContextManager[tuple[Host, Host]],
) -> Iterator[tuple[Host, Host]]:
    """The hosts, where they can be made."""
    with ExitStack() as stack:
        try:
            hosts = stack.enter_context(networks)
        except NoNetworksError as error:
            pytest.skip(f"no networks of their own can be made here: {error}")
        yield hosts
