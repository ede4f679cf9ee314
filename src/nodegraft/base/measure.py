"""Measure time and memory."""

import sys
import time
from pathlib import Path

_STATUS = Path("/proc/self/status")
_MEMORY = Path("/proc/meminfo")
_CLEAR_REFS = Path("/proc/self/clear_refs")


class Measurement:
    """Context manager that measures time and growth of resident memory.

    The kernel's peak memory counter is reset at the start, so that earlier peaks are not measured.
    Where the counter cannot be reset (for example outside Linux), ``peak_bytes`` may stay 0.

    >>> with Measurement() as work:
    ...     _ = sum(range(1000))
    >>> work.seconds > 0
    True
    """

    seconds: float = 0.0
    peak_bytes: int = 0

    def __enter__(self) -> "Measurement":
        self._resident = _reset_peak()
        self._started = time.perf_counter()
        return self

    def __exit__(self, *exception: object) -> None:
        self.seconds = time.perf_counter() - self._started
        self.peak_bytes = max(0, peak_resident_bytes() - self._resident)


def peak_resident_bytes() -> int:
    """Return the peak resident memory of this process in bytes; 0 if it is unknown."""
    return _bytes_told(_STATUS, "VmHWM") or 0


def available_bytes() -> int | None:
    """Return the available memory of this machine in bytes; None if it is unknown."""
    return _bytes_told(_MEMORY, "MemAvailable")


def _reset_peak() -> int:
    try:
        _CLEAR_REFS.write_text("5")
    except OSError:
        return peak_resident_bytes()
    return _bytes_told(_STATUS, "VmRSS") or 0


def _bytes_told(place: Path, field: str) -> int | None:
    if sys.platform != "linux":
        return None
    for line in place.read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    return None
