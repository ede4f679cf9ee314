"""Sandbox: isolation of a process from network and files, by Linux namespaces and Landlock.

The isolation must happen before the process starts a second thread. Large packages may start
threads, so this module imports none of them.
"""

import ctypes
import os
import signal
import stat
import struct
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000
_NO_NEW_PRIVILEGES, _SIGNAL_AT_PARENTS_END = 38, 1
# Numbers of the Landlock system calls, which are equal on every architecture.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_ONLY = 1
_BENEATH_PATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIRECTORY = 1, 1 << 1, 1 << 2, 1 << 3
_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
"""Landlock version -> number of file access rights that it supports; 16 since version 5."""
_TCP = 0b11
_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11

NEEDED = (
    "/usr",
    "/lib",
    "/lib64",
    "/etc",
    "/proc/self",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/sys/devices/system",
    "/dev/urandom",
)
"""Files and folders outside of Python's own folders that Python and its libraries read."""

WRITABLE = ("/dev/null", "/proc/self/clear_refs")


@dataclass(frozen=True)
class Isolation:
    """Result of the isolation of a process."""

    network: bool
    """Whether the process has no network access."""

    files: bool
    """Whether the process can read only Python's folders and write only in a temporary folder."""

    reason: str = ""
    """Why network or files are not isolated; empty if both are."""

    @property
    def complete(self) -> bool:
        """Whether network and files are isolated."""
        return self.network and self.files

    def __str__(self) -> str:
        network = "no network" if self.network else "NETWORK IS OPEN"
        files = "reads only Python's folders" if self.files else "READS ALL FILES OF THIS USER"
        return f"{network}, {files}" + (f" ({self.reason})" if self.reason else "")


def isolate(readable: Iterable[str], scratch: str, forbidden: Iterable[str]) -> Isolation:
    """Isolate this process permanently, as far as the kernel permits, and test the isolation.

    Args:
        readable: Folders and files that the process may read, besides :data:`NEEDED`.
        scratch: Folder in which the process may write: libraries need it for temporary files.
        forbidden: Folders that must not be readable afterwards.
    """
    network = _error_of(_leave_network)
    files = _error_of(lambda: _restrict_files((*NEEDED, *readable), scratch))
    if not files:
        within_reach = [folder for folder in forbidden if _is_readable(folder)]
        files = f"{', '.join(within_reach)}: a folder of Python's path" if within_reach else ""
    return Isolation(not network, not files, "; ".join(filter(None, (network, files))))


def end_with_parent() -> None:
    """End this process when its parent ends, even if the parent is killed."""
    _call("a signal at the parent's end", _libc().prctl, _SIGNAL_AT_PARENTS_END, signal.SIGKILL)


def _error_of(step: Callable[[], None]) -> str:
    if sys.platform != "linux":
        return "only Linux can isolate a process"
    try:
        step()
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _leave_network() -> None:
    user, group = os.getuid(), os.getgid()
    _call("a network namespace", _libc().unshare, _NEW_USER | _NEW_NETWORK)
    # Map the user id to itself, so that the process still owns the files of its user.
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


def _restrict_files(readable: Iterable[str], scratch: str) -> None:
    libc, system = _libc(), _libc().syscall
    version = _call("Landlock", system, _CREATE_RULESET, None, 0, _VERSION_ONLY)
    rights = (1 << _RIGHTS.get(version, 16)) - 1
    parts = [rights]
    if version >= 4:
        parts.append(_TCP)
    if version >= 6:
        parts.append(_ABSTRACT_SOCKETS_AND_SIGNALS)
    request = struct.pack(f"{len(parts)}Q", *parts)
    rules = _call("Landlock", system, _CREATE_RULESET, request, len(request), 0)
    try:
        for path in readable:
            _allow(rules, path, _EXECUTE | _READ_FILE | _READ_DIRECTORY)
        _allow(rules, scratch, rights)
        for path in WRITABLE:
            _allow(rules, path, _READ_FILE | _WRITE_FILE)
        _call("Landlock", libc.prctl, _NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        _call("Landlock", system, _RESTRICT_SELF, rules, 0)
    finally:
        os.close(rules)


def _allow(rules: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # Skip paths that do not exist: they need no rule.
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            rights &= ~_READ_DIRECTORY
        rule = struct.pack("=Qi", rights, place)
        _call("Landlock", _libc().syscall, _ADD_RULE, rules, _BENEATH_PATH, rule, 0)
    finally:
        os.close(place)


def _is_readable(folder: str) -> bool:
    try:
        any(Path(folder).iterdir())
    except OSError:
        return False
    return True


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _call(what: str, function: Callable[..., int], *arguments: int | bytes | None) -> int:
    converted = [ctypes.c_long(part) if isinstance(part, int) else part for part in arguments]
    result = function(*converted)
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what} is not permitted: {os.strerror(error)}")
    return result
