"""The command that checks the installation, this machine, and a store."""

import os
import platform
import re
import shlex
import shutil
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from nodegraft.base.counting import counted
from nodegraft.base.errors import NodegraftError, OutdatedStoreError, StoreUnreachableError
from nodegraft.base.measure import available_bytes
from nodegraft.cli.output import Output, command
from nodegraft.cli.render.values import file_size
from nodegraft.cli.results.maintenance import Check, Diagnosis
from nodegraft.cli.terminal import Terminal, line

if TYPE_CHECKING:
    from nodegraft.store.store import Store

STYLES = {"ok": "green", "warning": "yellow", "error": "bold red"}

EXTRAS = {
    "cli": "commands",
    "store": "versions of a model",
    "serve": "the HTTP service and its page",
    "lab": "benchmark, reports and figures",
    "ray": "work on several machines",
    "postgresql": "a store's database on a server",
    "s3": "a store's objects in S3",
    "sql": "tables in databases",
    "mlflow": "benchmark records in MLflow",
    "traces": "traces of requests",
}
"""Optional dependency group (extra) -> its purpose."""

LOW_DISK, LOW_MEMORY = 2e9, 1e9
"""Limits of free disk space and of free memory in bytes, below which there is a warning."""


@command
def doctor(
    terminal: Terminal,
    place: Annotated[
        Path | None, typer.Argument(metavar="[STORE]", help="Folder of a store to check, too.")
    ] = None,
) -> Output[Diagnosis]:
    """Check versions, extras, torch, disk and memory, and a store; exit code 1 for an error."""
    terminal.stage("checking packages")
    checks = [*_installation(), *_machine(place)]
    if place is not None:
        terminal.stage(f"checking {place}")
        checks += _store_checks(place)
    statuses = [check.status for check in checks]
    worst = max(statuses, key=list(STYLES).index)
    value = Diagnosis(worst, checks)
    lines = (part for check in checks for part in _lines(check))
    return Output(value, tuple(lines), exit_code=int(worst == "error"))


def _lines(check: Check) -> Iterator[Text]:
    status = (f"{check.status:<8}", STYLES[check.status])
    yield Text.assemble(status, f"{check.name}: {check.message}")
    if check.what_to_do:
        yield line(f"        To do: {check.what_to_do}")


def _installation() -> Iterator[Check]:
    """Yield checks of the installed versions, required packages and extras."""
    python = platform.python_version()
    yield Check("versions", "ok", f"nodegraft {version('nodegraft')}, Python {python}")
    for package in ("torch", "torch_geometric"):
        try:
            yield Check(package, "ok", version(package))
        except PackageNotFoundError:
            yield Check(package, "error", "not installed", "pip install nodegraft")
    for extra, purpose in EXTRAS.items():
        missing = _missing(extra)
        text = f"installed, for {purpose}"
        if missing:
            install = f"pip install 'nodegraft[{extra}]'"
            text = f"not installed ({', '.join(missing)}); for {purpose}: {install}"
        yield Check(f"extra {extra}", "ok", text)


def _missing(extra: str) -> list[str]:
    """Return the missing packages of an extra, except packages of extras that it includes."""
    requirements = [text for text in requires("nodegraft") or () if f'extra == "{extra}"' in text]
    names = [re.split(r"[^\w.-]", text, maxsplit=1)[0] for text in requirements]
    return [name for name in names if name != "nodegraft" and not _is_installed(name)]


def _is_installed(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def _machine(place: Path | None) -> Iterator[Check]:
    """Yield checks of memory, disk space and PyTorch.

    Args:
        place: Folder of a store; None for the current folder.
    """
    yield from _torch()
    memory = available_bytes()
    if memory is not None:
        low = memory < LOW_MEMORY
        advice = "close other programs, or use a graph on disk (nodegraft build)" if low else ""
        yield Check("memory", "warning" if low else "ok", f"{file_size(memory)} free", advice)
    free = shutil.disk_usage(_existing(place or Path())).free
    low = free < LOW_DISK
    advice = "delete files, or old versions with: nodegraft prune STORE" if low else ""
    yield Check("disk", "warning" if low else "ok", f"{file_size(free)} free", advice)


def _torch() -> Iterator[Check]:
    try:
        import torch
    except (ImportError, OSError) as error:
        advice = "install a CPU build of torch again"
        yield Check("torch build", "error", f"torch cannot be imported: {error}", advice)
        return
    cores, threads = os.cpu_count() or 1, torch.get_num_threads()
    yield Check("threads", "ok", f"{counted(threads, 'thread')} of torch, {counted(cores, 'core')}")
    cuda = torch.version.cuda
    build = "CPU build, which" if cuda is None else f"CUDA {cuda}; a CPU build"
    yield Check("torch build", "ok", f"{build} is enough")


def _existing(place: Path) -> Path:
    return next(folder for folder in (place.resolve(), *place.resolve().parents) if folder.exists())


def _store_checks(place: Path) -> Iterator[Check]:
    """Yield checks of a store: whether it can be opened, its database, versions and cache."""
    path = shlex.quote(str(place))
    if not any((place / name).exists() for name in ("store.json", "store.db")):
        yield Check(
            "store", "error", f"{place} is not a store: store.json is missing", "nodegraft init"
        )
        return
    try:
        from nodegraft.store.store import Store

        with Store.open(place) as store:
            yield Check("store", "ok", f"{place} opens; no damage is recorded; database reachable")
            yield from _versions(store)
    except (ImportError, OSError) as error:
        yield Check("store", "error", f"it cannot be checked: {error}", "repair the packages above")
        return
    except StoreUnreachableError as error:
        advice = f"start the database server, and check its URL; or nodegraft verify {path}"
        yield Check("database", "error", str(error).rstrip("."), advice)
        return
    except OutdatedStoreError as error:
        yield Check("tables", "error", str(error).rstrip("."), f"nodegraft migrate {path}")
        return
    except NodegraftError as error:
        yield Check("store", "error", str(error).rstrip("."), f"nodegraft verify {path}")
        return
    derived = place / "derived"
    size = sum(file.stat().st_size for file in derived.rglob("*") if file.is_file())
    yield Check("cache", "ok", f"{file_size(size)} in {derived}, which may be deleted at any time")


def _versions(store: "Store") -> Iterator[Check]:
    path = shlex.quote(str(store.place))
    total = counted(len(store.history()), "version")
    if store.parts.objects.lacks(store.version(store.live).names.all):
        advice = f"nodegraft verify {path}"
        yield Check("live version", "error", f"files of version {store.live} are missing", advice)
    else:
        yield Check("live version", "ok", f"{store.live} of {total}")
    waiting = store.waiting()
    if waiting is None:
        yield Check("candidate", "ok", "no version waits for review")
        return
    advice = f"nodegraft promote {path}, or nodegraft discard {path}"
    yield Check("candidate", "warning", f"version {waiting.number} waits for review", advice)


COMMANDS = {"doctor": doctor}
