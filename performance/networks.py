"""Two hosts on this machine: network namespaces, each with an address of its own. Takes root.

Whatever still runs in a namespace is killed when it goes, process by process.
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
    """Namespaces cannot be made here."""


@dataclass(frozen=True)
class Host:
    """A namespace, or this machine itself."""

    address: str
    """Where others reach it."""

    peer: str
    """The address at the other end of its cable."""

    name: str = ""
    """What ``ip netns`` calls it."""

    hidden: Path | None = None
    """A folder that is empty there, as if its disk were another one's."""

    @property
    def within(self) -> tuple[str, ...]:
        """What a command begins with that is to run there."""
        hiding = 'mount -t tmpfs none "$0" && exec "$@"'
        shell = ("sh", "-c", hiding, str(self.hidden)) if self.hidden else ()
        # What is mounted within is mounted for nobody else.
        return ("ip", "netns", "exec", self.name, *shell) if self.name else ()

    def sent(self) -> int:
        """Bytes that went over its cable."""
        place = "/sys/class/net/eth0/statistics/tx_bytes"
        return int(_ip("netns", "exec", self.name, "cat", place))


HERE = Host("127.0.0.1", "127.0.0.1")


@contextmanager
def joined() -> Iterator[tuple[Host, Host]]:
    """Two hosts with a cable from one to the other, and no way to anywhere else."""
    first, second = "10.77.0.1", "10.77.0.2"
    with ExitStack() as stack:
        one = stack.enter_context(_host("a", first, second))
        two = stack.enter_context(_host("b", second, first))
        _cable(("eth0", "netns", one.name), two)
        _switch_on(one)
        yield one, two


@contextmanager
def reached_from_here() -> Iterator[tuple[Host, Host]]:
    """Two hosts, each with a cable from here, and no way to each other."""
    with ExitStack() as stack:
        hosts = []
        for place, letter in enumerate("ab"):
            near, far = f"10.213.{place}.1", f"10.213.{place}.2"
            host, end = stack.enter_context(_host(letter, far, near)), f"ng{os.getpid()}{letter}"
            _cable((end,), host)
            _ip("address", "add", f"{near}/24", "dev", end)
            _ip("link", "set", end, "up")
            hosts.append(host)
        yield hosts[0], hosts[1]


@contextmanager
def _host(letter: str, address: str, peer: str) -> Iterator[Host]:
    host = Host(address, peer, f"nodegraft-{os.getpid()}-{letter}")
    _made("netns", "add", host.name)
    try:
        _ip("-n", host.name, "link", "set", "lo", "up")
        yield host
    finally:
        for process in _ip("netns", "pids", host.name).split():
            try:
                os.kill(int(process), signal.SIGKILL)
            except ProcessLookupError:
                continue
        # Its cable goes with it.
        _ip("netns", "delete", host.name)


def _cable(end: tuple[str, ...], host: Host) -> None:
    there = "peer", "name", "eth0", "netns", host.name
    _made("link", "add", *end, "type", "veth", *there)
    _switch_on(host)


def _switch_on(host: Host) -> None:
    _ip("-n", host.name, "address", "add", f"{host.address}/24", "dev", "eth0")
    _ip("-n", host.name, "link", "set", "eth0", "up")


def _made(*arguments: str) -> None:
    """What a kernel or a container may refuse; other failures are mistakes of ours."""
    if os.geteuid() or not shutil.which("ip"):
        raise NoNetworksError("networks of their own take root and the program ip")
    try:
        _ip(*arguments)
    except subprocess.CalledProcessError as error:
        raise NoNetworksError(error.stderr.strip()) from error


def _ip(*arguments: str) -> str:
    run = subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)  # noqa: S603, S607
    return run.stdout
