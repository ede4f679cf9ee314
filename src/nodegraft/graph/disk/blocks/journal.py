"""Which blocks of a layer are done: a line for each, added when its rows are on the disk."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class BlockDone:
    """A block whose rows are on the disk."""

    block: int
    """Its number."""

    fetched: int = 0
    """Bytes of rows that came from other parts of the layer before, over a network or not; 0
    where they were read from a file."""


class BlockJournal:
    """A file of JSON lines that only ever grows; any number of processes may add to it.

    Args:
        path: The file, which need not exist yet.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, done: BlockDone) -> None:
        """Write a line, and wait until it is on the disk.

        Args:
            done: The block.
        """
        # It begins a line of its own: what is before it may have been cut.
        line = f"\n{json.dumps(asdict(done))}\n".encode()
        handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(handle, line)
            os.fsync(handle)
        finally:
            os.close(handle)

    def blocks(self) -> dict[int, BlockDone]:
        """All that are done, by their number; a line that was cut does not count."""
        if not self._path.exists():
            return {}
        found = filter(None, map(_parsed, self._path.read_text().splitlines()))
        return {one.block: one for one in found}


def _parsed(line: str) -> BlockDone | None:
    try:
        return BlockDone(**json.loads(line))
    except (ValueError, TypeError):
        return None
