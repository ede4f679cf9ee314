"""Cache of the diffused mass of label sets on disk: one file for each set.

The sets that a model used last are kept, and as many others, so that previews do not fill the disk.
"""

from collections.abc import Callable, Collection, Mapping

import numpy as np

from nodegraft.base.files.bundle import Arrays
from nodegraft.base.hashing import HashPart
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.stores.shelf import Shelf

LISTED = "cached sets"


class MassShelf:
    """Cache on disk of the mass that diffuses from sets of nodes.

    Each set is a file of its own. A list names the cached sets, the last needed ones first: two
    versions used in turn both find theirs, and what previews have left is removed.

    Args:
        shelf: The cache that files are written to.
        depends_on: What mass depends on beside the set.
    """

    def __init__(self, shelf: Shelf, *depends_on: HashPart) -> None:
        self._shelf = shelf
        self._depends_on = depends_on
        self._there: set[bytes] = set()
        self._latest: Collection[bytes] = ()

    def get(self, start: IntArray) -> Arrays | None:
        """Return the mass of a set, or None where it must be computed.

        Args:
            start: The nodes that heat starts from.
        """
        found = self._shelf.get(*self._depends_on, start)
        if found is not None:
            self._there.add(start.tobytes())
        return found

    def keep(self, starts: Mapping[bytes, IntArray], mass: Callable[[bytes], Arrays]) -> None:
        """Cache the sets that are needed, and remove those that were not needed for longest.

        Args:
            starts: The sets that a model needs, by their bytes.
            mass: From the bytes of a set to its mass.
        """
        if not starts or not self._shelf.keeps or starts.keys() == self._latest:
            return
        for name in starts.keys() - self._there:
            self._shelf.put(mass(name), *self._depends_on, starts[name])
        listed = self._listed()
        others = [name for name in listed if name not in starts]
        known = {**listed, **starts}
        self._write([known[name] for name in (*starts, *others[: len(starts)])])
        for name in others[len(starts) :]:
            self._shelf.drop(*self._depends_on, listed[name])
        self._there = (self._there | starts.keys()) - set(others[len(starts) :])
        self._latest = frozenset(starts)

    def _listed(self) -> dict[bytes, IntArray]:
        found = self._shelf.get(*self._depends_on, LISTED)
        if found is None:
            return {}
        starts = np.split(found["nodes"], found["ends"][:-1])
        return {start.tobytes(): start for start in starts}

    def _write(self, starts: list[IntArray]) -> None:
        ends = np.cumsum([start.size for start in starts])
        self._shelf.put({"nodes": np.concatenate(starts), "ends": ends}, *self._depends_on, LISTED)
