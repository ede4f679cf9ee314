"""A process together with all processes that it started."""

import psutil


def process_tree(pid: int) -> list[psutil.Process]:
    """Return a process and its running descendants."""
    root = psutil.Process(pid)
    return [root, *root.children(recursive=True)]


def cpu_seconds(pid: int) -> float:
    """Return the CPU seconds of a process and its running descendants."""
    return sum(map(_cpu_seconds, process_tree(pid)))


def _cpu_seconds(process: psutil.Process) -> float:
    try:
        used = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(used.user + used.system)
