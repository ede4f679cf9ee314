"""Walks on the shelf of a graph: those that a model asked for last, and as many others."""

from collections.abc import Callable, Collection, Mapping

import numpy as np

from nodegraft.base.files.bundle import Arrays
from nodegraft.base.hashing import HashPart
from nodegraft.graph.algebra.matrix import IntArray
from nodegraft.graph.stores.shelf import Shelf

LISTED = "sets on the shelf"


class WalkShelf:
    """Where walks from sets of nodes outlive the process.

    Each set is a file of its own. A list says which there are, those first that were needed last:
    two versions in turn find theirs, and what trials have left goes.

    Args:
        shelf: The place.
        depends_on: What walks depend on beside the set.
    """

    def __init__(self, shelf: Shelf, *depends_on: HashPart) -> None:
        self._shelf = shelf
        self._depends_on = depends_on
        self._there: set[bytes] = set()
        self._latest: Collection[bytes] = ()

    def get(self, start: IntArray) -> Arrays | None:
        """The walks of a set; None where they must be followed.

        Args:
            start: The nodes that they start from.
        """
        found = self._shelf.get(*self._depends_on, start)
        if found is not None:
            self._there.add(start.tobytes())
        return found

    def keep(self, starts: Mapping[bytes, IntArray], walks: Callable[[bytes], Arrays]) -> None:
        """Put what is needed there, and take away what was not needed for longest.

        Args:
            starts: The sets that a model needs, by their bytes.
            walks: From the bytes of a set to its walks.
        """
        if not self._shelf.keeps or starts.keys() == self._latest:
            return
        for name in starts.keys() - self._there:
            self._shelf.put(walks(name), *self._depends_on, starts[name])
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
