"""Two hosts on this machine: network namespaces, each with its own address. Needs root.

When a namespace is deleted, processes that still run in it are killed one by one.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path


class NoNetworksError(Exception):
    """Raised where network namespaces cannot be created."""


@dataclass(frozen=True)
class Host:
    """Network namespace, or this machine itself."""

    address: str
    """IP address of the host."""

    peer: str
    """IP address at the other end of its virtual cable."""

    name: str = ""
    """Name of the namespace; empty for this machine."""

    hidden: Path | None = None
    """Folder that is empty for commands on this host, as if the host had its own disk."""

    @property
    def within(self) -> tuple[str, ...]:
        """Return the first words of a command that is to run on this host."""
        mount = 'mount -t tmpfs none "$0" && exec "$@"'
        shell = ("sh", "-c", mount, str(self.hidden)) if self.hidden else ()
        # `ip netns exec` makes a mount namespace, so that the mount is not seen outside.
        return ("ip", "netns", "exec", self.name, *shell) if self.name else ()

    def sent(self) -> int:
        """Return the number of bytes that the host has sent."""
        path = "/sys/class/net/eth0/statistics/tx_bytes"
        return int(_ip("netns", "exec", self.name, "cat", path))


LOCALHOST = Host("127.0.0.1", "127.0.0.1")


@contextmanager
def connected_hosts() -> Iterator[tuple[Host, Host]]:
    """Create two hosts that reach each other and nothing else."""
    addresses = "10.77.0.1", "10.77.0.2"
    with ExitStack() as stack:
        first = stack.enter_context(_host("a", *addresses))
        second = stack.enter_context(_host("b", *addresses[::-1]))
        _connect(("eth0", "netns", first.name), second)
        _set_address(first)
        yield first, second


@contextmanager
def separate_hosts() -> Iterator[tuple[Host, Host]]:
    """Create two hosts that reach this machine, but not each other."""
    with ExitStack() as stack:
        hosts = []
        for subnet, letter in enumerate("ab"):
            near, far = f"10.213.{subnet}.1", f"10.213.{subnet}.2"
            host, device = stack.enter_context(_host(letter, far, near)), f"ng{os.getpid()}{letter}"
            _connect((device,), host)
            _ip("address", "add", f"{near}/24", "dev", device)
            _ip("link", "set", device, "up")
            hosts.append(host)
        yield hosts[0], hosts[1]


@contextmanager
def _host(letter: str, address: str, peer: str) -> Iterator[Host]:
    host = Host(address, peer, f"nodegraft-{os.getpid()}-{letter}")
    _ip_as_root("netns", "add", host.name)
    try:
        _ip("-n", host.name, "link", "set", "lo", "up")
        yield host
    finally:
        for process in _ip("netns", "pids", host.name).split():
            try:
                os.kill(int(process), signal.SIGKILL)
            except ProcessLookupError:
                continue
        # This deletes its virtual cable, too.
        _ip("netns", "delete", host.name)


def _connect(device: tuple[str, ...], host: Host) -> None:
    peer = "peer", "name", "eth0", "netns", host.name
    _ip_as_root("link", "add", *device, "type", "veth", *peer)
    _set_address(host)


def _set_address(host: Host) -> None:
    _ip("-n", host.name, "address", "add", f"{host.address}/24", "dev", "eth0")
    _ip("-n", host.name, "link", "set", "eth0", "up")


def _ip_as_root(*arguments: str) -> None:
    """Run an ``ip`` command that a kernel or container may refuse."""
    if os.geteuid() or not shutil.which("ip"):
        raise NoNetworksError("network namespaces need root and the program ip")
    try:
        _ip(*arguments)
    except subprocess.CalledProcessError as error:
        raise NoNetworksError(error.stderr.strip()) from error


def _ip(*arguments: str) -> str:
    run = subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)  # noqa: S603, S607
    return run.stdout
