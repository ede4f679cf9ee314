"""How much memory a piece of work holds that no file stands behind."""

from pathlib import Path
from threading import Event, Thread


def anonymous_bytes() -> int:
    """Return this process's resident memory that no file stands behind, as Linux tells it."""
    told = Path("/proc/self/status").read_text(encoding="utf-8")
    return 1024 * int(told.partition("RssAnon:")[2].split()[0])


class AnonymousPeak:
    """Watches a block and finds how far anonymous memory rose above where it started.

    The kernel keeps no high-water mark of it: it is looked at every 2 ms.
    """

    bytes: int = 0
    """The largest rise seen."""

    def __enter__(self) -> "AnonymousPeak":
        self._before, self._over = anonymous_bytes(), Event()
        self._watcher = Thread(target=self._watch)
        self._watcher.start()
        return self

    def _watch(self) -> None:
        while not self._over.wait(0.002):
            self.bytes = max(self.bytes, anonymous_bytes() - self._before)

    def __exit__(self, *exception: object) -> None:
        self._over.set()
        self._watcher.join()
