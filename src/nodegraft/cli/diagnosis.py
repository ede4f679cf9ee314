"""Checks of `nodegraft doctor`: packages, machine and store."""

import os
import platform
import re
import shutil
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import TYPE_CHECKING

from nodegraft.base.counting import counted
from nodegraft.base.errors import NodegraftError, OutdatedStoreError, StoreUnreachableError
from nodegraft.base.measure import available_bytes
from nodegraft.cli.render.values import file_size
from nodegraft.cli.results.maintenance import Check

if TYPE_CHECKING:
    from nodegraft.store.store import Store

EXTRAS = {
    "cli": "commands",
    "store": "versions of a model",
    "serve": "the HTTP service and its page",
    "lab": "benchmark, reports and figures",
    "ray": "work on several machines",
    "postgresql": "a store's database on a server",
    "s3": "a store's objects in S3",
    "mlflow": "benchmark records in MLflow",
    "traces": "traces of requests",
}
"""Extra -> what it is for."""

LOW_DISK, LOW_MEMORY = 2e9, 1e9
"""Fewer free bytes are a warning."""


def installation() -> Iterator[Check]:
    """Yield a check of every package that matters."""
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
    """Return the packages of an extra that are not installed, those of its own extras omitted."""
    wanted = [text for text in requires("nodegraft") or () if f'extra == "{extra}"' in text]
    names = [re.split(r"[^\w.-]", text, maxsplit=1)[0] for text in wanted]
    return [name for name in names if name != "nodegraft" and not _is_installed(name)]


def _is_installed(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def machine(place: Path | None) -> Iterator[Check]:
    """Yield checks of processor, memory and disk.

    Args:
        place: Folder of a store; None for the working folder.
    """
    import torch

    cores, threads = os.cpu_count() or 1, torch.get_num_threads()
    yield Check("threads", "ok", f"{counted(threads, 'thread')} of torch, {counted(cores, 'core')}")
    if torch.version.cuda is None:
        yield Check("torch build", "ok", "CPU build, which is enough")
    else:
        yield Check("torch build", "ok", f"CUDA {torch.version.cuda}; a CPU build is enough")
    memory = available_bytes()
    if memory is not None:
        low = memory < LOW_MEMORY
        advice = "close other programs, or use a graph on disk (nodegraft build)" if low else ""
        yield Check("memory", "warning" if low else "ok", f"{file_size(memory)} free", advice)
    free = shutil.disk_usage(_existing(place or Path())).free
    low = free < LOW_DISK
    advice = "delete files, or old versions with: nodegraft prune STORE" if low else ""
    yield Check("disk", "warning" if low else "ok", f"{file_size(free)} free", advice)


def _existing(place: Path) -> Path:
    return next(folder for folder in (place.resolve(), *place.resolve().parents) if folder.exists())


def store_checks(place: Path) -> Iterator[Check]:
    """Yield checks of a store.

    Args:
        place: Folder of the store.
    """
    from nodegraft.store.store import Store

    try:
        store = Store.open(place)
    except StoreUnreachableError as error:
        yield Check("database", "error", str(error), "start the database server, and check its URL")
        return
    except OutdatedStoreError as error:
        yield Check("tables", "error", str(error), f"nodegraft migrate {place}")
        return
    except NodegraftError as error:
        yield Check("store", "error", str(error), f"nodegraft verify {place}")
        return
    with store:
        yield Check("store", "ok", f"{place} opens; no damage is recorded; database reachable")
        yield from _versions(store)
    derived = place / "derived"
    size = sum(file.stat().st_size for file in derived.rglob("*") if file.is_file())
    yield Check("cache", "ok", f"{file_size(size)} in {derived}, which may be deleted at any time")


def _versions(store: "Store") -> Iterator[Check]:
    total = counted(len(store.history()), "version")
    yield Check("live version", "ok", f"{store.live} of {total}")
    waiting = store.waiting()
    if waiting is None:
        yield Check("candidate", "ok", "no version waits for review")
        return
    advice = f"nodegraft promote {store.place}, or nodegraft discard {store.place}"
    yield Check("candidate", "warning", f"version {waiting.number} waits for review", advice)
