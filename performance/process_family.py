"""A process and those that it started, as one."""

import psutil


def family(number: int) -> list[psutil.Process]:
    """A process and those that it started and that still run.

    Args:
        number: The process.
    """
    first = psutil.Process(number)
    return [first, *first.children(recursive=True)]


def processor_seconds(number: int) -> float:
    """What they have used; one that ends meanwhile counts no more.

    Args:
        number: The process.
    """
    return sum(map(_used, family(number)))


def _used(process: psutil.Process) -> float:
    try:
        used = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(used.user + used.system)
