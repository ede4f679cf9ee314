"""Peak of the anonymous memory of this process: memory that no file backs."""

from pathlib import Path
from threading import Event, Thread


def anonymous_bytes() -> int:
    """Return the resident anonymous memory of this process (Linux only)."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return 1024 * int(status.partition("RssAnon:")[2].split()[0])


class AnonymousPeak:
    """Context manager that measures the growth of anonymous memory, sampled every 2 ms.

    The kernel has a high-water mark of resident memory only, which includes mapped files.
    """

    bytes: int = 0
    """Largest growth since the start."""

    def __enter__(self) -> "AnonymousPeak":
        self._before, self._stop = anonymous_bytes(), Event()
        self._watcher = Thread(target=self._watch)
        self._watcher.start()
        return self

    def _watch(self) -> None:
        while not self._stop.wait(0.002):
            self.bytes = max(self.bytes, anonymous_bytes() - self._before)

    def __exit__(self, *exception: object) -> None:
        self._stop.set()
        self._watcher.join()
