"""Heat diffusion from sets of nodes, by Chebyshev polynomials of the normalised adjacency."""

from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import ive

from nodegraft.base.files.bundle import Arrays
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.edges.operator import multiply
from nodegraft.graph.edges.row_blocks import block_bounds
from nodegraft.graph.propagation.set_mass import TOLERANCE, DiffusionTable, SetMass
from nodegraft.graph.stores import ArrayCache

WIDTH = 8
"""Number of node sets whose heat is computed together. If there are fewer, columns of zeros are
added, so that rounding does not depend on their number. This costs little time, because most time
is spent reading the neighbours' rows.
"""

BLOCK_ROWS = 2**13
"""Number of rows of the mass that are added at once: few enough for the processor's cache."""

CACHED_NUMBERS = 2**26
"""Maximum size of the cache of diffused mass, in numbers (256 MiB). The mass of sets that a model
needs is never evicted, even above this limit.
"""

CACHED_ENTRIES = 2**27
"""Maximum number of adjacency entries for which the normalised adjacency is cached (a gigabyte).
For a larger graph every product recomputes it in blocks of rows, with the same result.
"""


def chebyshev_coefficients(times: Sequence[float], error: float) -> NDArray[np.float64]:
    r"""Return the coefficients of :math:`e^{-t (1 - x)}` in Chebyshev polynomials on [-1, 1].

    :math:`c_0 = e^{-t} I_0(t)` and :math:`c_k = 2 e^{-t} I_k(t)`, with modified Bessel functions.
    Each row of the result has the coefficients for one time :math:`t`. The last coefficients of a
    row are set to 0 if their sum is less than ``error``.

    >>> chebyshev_coefficients([1.0], 0.01).round(3).tolist()
    [[0.466, 0.416, 0.1, 0.016]]
    """
    longest = max(times)
    orders = np.arange(int(longest + 20 * np.sqrt(longest)) + 20)
    coefficients: NDArray[np.float64] = np.stack([2.0 * ive(orders, time) for time in times])
    coefficients[:, 0] /= 2.0
    left_out = np.cumsum(coefficients[:, ::-1], axis=1)[:, ::-1]
    coefficients[left_out < error] = 0.0
    return coefficients[:, : int(np.count_nonzero(coefficients, axis=1).max())]


class Diffusion:
    r"""Heat diffusion from sets of nodes along edges.

    .. math:: m = D^{-1/2} e^{-t (I - S)} s \approx D^{-1/2} \sum_{k \le K} c_k T_k(S) s

    with :math:`s` the uniform distribution over a set's nodes and :math:`D` the degrees in :math:`A
    + I`. For a long time :math:`t` in a connected graph, heat :math:`e^{-t (I - S)} s` becomes
    proportional to the root of the degree, and the mass :math:`m` becomes uniform, whatever the set
    is. A longer time :math:`t` reaches nodes further away; :math:`t` is also the mean length of a
    continuous-time random walk. The results for all times are computed in a single pass over the
    edges, because only the coefficients differ. The polynomial degree :math:`K` grows with the
    logarithm of the number of nodes, so that :data:`TOLERANCE` holds for graphs of every size. The
    mass of each set is cached.

    Heat is symmetric, mass is not: the mass at node :math:`i` from :math:`j` is
    :math:`\sqrt{D_j / D_i}` times the mass at :math:`j` from :math:`i`.

    >>> path = Adjacency.from_edges(np.array([0, 1]), np.array([1, 2]), 3)
    >>> table = Diffusion(path, [1.0]).table([np.array([0])])
    >>> table.shares(np.array([0, 2])).round(2).tolist()
    [[[2.18], [0.16]]]

    Args:
        adjacency: Edges along which heat diffuses.
        times: Diffusion times, above 0.
        array_cache: Cache on disk for the diffused mass; None for a cache in memory only.
    """

    def __init__(
        self, adjacency: Adjacency, times: Sequence[float], array_cache: ArrayCache | None = None
    ) -> None:
        self.adjacency = adjacency
        """Edges along which heat diffuses."""
        self.times = tuple(times)
        """Diffusion times."""
        error = TOLERANCE / np.sqrt(max(adjacency.num_nodes, 1))
        self._coefficients = chebyshev_coefficients(times, error)
        self._given_cache = array_cache or ArrayCache()
        self._mass_cache = MassCache(self._given_cache.under("heat", list(times), [TOLERANCE]))
        self._cache: dict[bytes, SetMass] = {}
        self._lasting: frozenset[bytes] = frozenset()
        """Node sets of the last call with `lasting`; their mass is never evicted from the cache."""
        self._lock = Lock()

    @property
    def before(self) -> "Diffusion":
        """This object itself; after growth of the graph, the diffusion on the earlier graph."""
        return self

    def table(self, starts: Sequence[IntArray], lasting: bool = False) -> DiffusionTable:
        """Return a table of the mass at all nodes that diffuses from each set of nodes.

        Args:
            lasting: Whether these sets will be needed again. If so, they stay cached until the next
                call with `lasting`, and their mass is written to the array cache.
        """
        return DiffusionTable(self.mass(starts, lasting), self.adjacency.num_nodes)

    def with_array_cache(self, array_cache: ArrayCache) -> "Diffusion":
        """Return a copy that has another array cache on disk and the same mass cached in memory."""
        if array_cache == self._given_cache:
            return self
        copy = Diffusion(self.adjacency, self.times, array_cache)
        with self._lock:
            copy._cache, copy._lasting = dict(self._cache), self._lasting
        return copy

    def mass(self, starts: Sequence[IntArray], lasting: bool = False) -> list[SetMass]:
        """Return the mass at all nodes that diffuses from each set of nodes.

        Args:
            starts: Sets of nodes from which heat diffuses. Each node of a set starts with the same
                amount of heat; a node that is listed twice starts with twice as much.
            lasting: Whether these sets will be needed again, as in :meth:`table`.
        """
        by_name = {start.tobytes(): start for start in starts}
        # Hold the lock until the end, so that no other thread evicts the mass that is returned.
        with self._lock:
            if lasting:
                self._lasting = frozenset(by_name)
            new = {name: start for name, start in by_name.items() if name not in self._cache}
            if new:
                self._add(new)
            mass = [self._cache[start.tobytes()] for start in starts]
            if lasting:
                self._mass_cache.keep(by_name, lambda name: {"mass": self._cache[name].mass})
            self._trim(self._lasting | by_name.keys())
        return mass

    def _add(self, starts: dict[bytes, IntArray]) -> None:
        missing = {}
        shape = len(self.times), self.adjacency.num_nodes
        for name, start in starts.items():
            arrays = self._mass_cache.get(start)
            # Compute the mass again if the file has another shape, because it then belongs to
            # another graph.
            if arrays is None or arrays["mass"].shape != shape:
                missing[name] = start
            else:
                self._cache[name] = SetMass.summed(arrays["mass"], self._inverse_roots)
        names = list(missing)
        for first in range(0, len(names), WIDTH):
            some = names[first : first + WIDTH]
            mass = self._pass([missing[name] for name in some])
            self._cache |= dict(zip(some, mass, strict=True))

    def _trim(self, needed: Container[bytes]) -> None:
        """While the cache is too large, evict the oldest mass except that of the needed sets."""
        size = sum(entry.mass.size for entry in self._cache.values())
        for name in list(self._cache):
            if size > CACHED_NUMBERS and name not in needed:
                size -= self._cache.pop(name).mass.size

    def _pass(self, starts: Sequence[IntArray]) -> list[SetMass]:
        """Compute the mass that diffuses from up to :data:`WIDTH` sets of nodes."""
        latest = np.zeros((self.adjacency.num_nodes, WIDTH), dtype=np.float32)
        for column, start in enumerate(starts):
            np.add.at(latest[:, column], start, np.float32(1.0 / start.size))
        before = latest
        mass = np.zeros((len(self.times), *latest.shape), dtype=np.float32)
        for order, coefficients in enumerate(self._coefficients.T.astype(np.float32)):
            if order:
                following = self._spread(latest)
                if order > 1:
                    following *= 2.0
                    following -= before
                before, latest = latest, following
            for total, coefficient in zip(mass, coefficients.tolist(), strict=True):
                # In blocks, because temporary arrays of this size would be slow.
                for first in range(0, len(latest) if coefficient else 0, BLOCK_ROWS):
                    block = slice(first, first + BLOCK_ROWS)
                    total[block] += coefficient * latest[block]
        np.maximum(mass, 0.0, out=mass)
        # Divide by the root of the degree, because mass would otherwise depend mostly on the
        # degree, not on the set.
        mass *= self._inverse_roots[:, None]
        # Copy the mass of each set, so that evicting it from the cache frees its memory.
        copies = (np.ascontiguousarray(mass[:, :, column]) for column in range(len(starts)))
        return [SetMass.summed(copy, self._inverse_roots) for copy in copies]

    def _spread(self, columns: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return S times a matrix, computed in blocks of rows."""
        product = np.empty_like(columns)
        for start, stop, rows in self._row_blocks():
            product[start:stop] = multiply(rows, columns)
        return product

    def _row_blocks(self) -> Iterator[tuple[int, int, "csr_array[Any]"]]:
        if self.adjacency.indices.size <= CACHED_ENTRIES:
            return iter(self._cached_blocks)
        return self._new_blocks()

    @cached_property
    def _inverse_roots(self) -> NDArray[np.float32]:
        return self.adjacency.inverse_roots()

    @cached_property
    def _cached_blocks(self) -> list[tuple[int, int, "csr_array[Any]"]]:
        return list(self._new_blocks())

    def _new_blocks(self) -> Iterator[tuple[int, int, "csr_array[Any]"]]:
        columns = np.zeros((1, WIDTH), dtype=np.float32)
        for start, stop in pairwise(block_bounds(self.adjacency, columns)):
            yield start, stop, self.adjacency.rows_between(start, stop, self._inverse_roots)


LISTED = "cached sets"


class MassCache:
    """Cache on disk of the mass that diffuses from each set of nodes.

    The mass of each set is in its own file. A further file lists the cached sets, most recently
    used first: the sets of the current model, and at most as many older sets, so that two versions
    of a model can be used in turn. Files of all other sets are removed.

    Args:
        array_cache: Cache on disk in which the files are stored.
    """

    def __init__(self, array_cache: ArrayCache) -> None:
        self._array_cache = array_cache
        self._there: set[bytes] = set()
        self._latest: Collection[bytes] = ()

    def get(self, start: IntArray) -> Arrays | None:
        """Return the cached mass of a set of nodes; None if it is not cached."""
        cached = self._array_cache.get(start)
        if cached is not None:
            self._there.add(start.tobytes())
        return cached

    def keep(self, starts: Mapping[bytes, IntArray], mass: Callable[[bytes], Arrays]) -> None:
        """Store the mass of the sets that a model needs; remove sets not used recently.

        Args:
            starts: Mapping from the bytes of a set's array to the array of its nodes.
        """
        if not starts or not self._array_cache.keeps or starts.keys() == self._latest:
            return
        for name in starts.keys() - self._there:
            self._array_cache.put(mass(name), starts[name])
        listed = self._listed()
        others = [name for name in listed if name not in starts]
        known = {**listed, **starts}
        self._write([known[name] for name in (*starts, *others[: len(starts)])])
        for name in others[len(starts) :]:
            self._array_cache.drop(listed[name])
        self._there = (self._there | starts.keys()) - set(others[len(starts) :])
        self._latest = frozenset(starts)

    def _listed(self) -> dict[bytes, IntArray]:
        cached = self._array_cache.get(LISTED)
        if cached is None:
            return {}
        starts = np.split(cached["nodes"], cached["ends"][:-1])
        return {start.tobytes(): start for start in starts}

    def _write(self, starts: list[IntArray]) -> None:
        ends = np.cumsum([start.size for start in starts])
        self._array_cache.put({"nodes": np.concatenate(starts), "ends": ends}, LISTED)
