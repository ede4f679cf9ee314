"""Heat diffusion after a small growth of a graph, which reuses the heat of old nodes."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array

from nodegraft.graph.edges.entries import weights_of
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.growth.grown import GrownAdjacency, rows_of
from nodegraft.graph.propagation.diffusion import Diffusion
from nodegraft.graph.propagation.set_mass import SMALLEST, DiffusionTable, SetMass
from nodegraft.graph.stores import ArrayCache

PARTS = 16
"""Number of parts into which the heat of a labelled late node is divided among its neighbours."""

LONGEST_CHAIN = 20
"""Maximum number of late nodes on the way to an old node; beyond it, late nodes get no heat."""


class GrownDiffusion:
    r"""Heat diffusion after small growths of a graph, on the edges from before these growths.

    On a large graph, a new diffusion over all edges for every class would take minutes. So the mass
    of old nodes does not change: new edges between old nodes are ignored until heat is diffused on
    all edges again. *Late* nodes are new nodes, and old nodes that had no edges. Their mass is the
    weighted mean of their neighbours' mass. If a late node is labelled, its heat starts at its
    neighbours; the part that remains at the node itself is :math:`e^{-t d / (d + 1)}` for a node of
    degree :math:`d`.

    Args:
        before: Heat diffusion on the edges before growth.
        adjacency: Edges after growth; its field ``base`` has the edges of ``before``.
    """

    def __init__(self, before: Diffusion, adjacency: GrownAdjacency) -> None:
        self.before = before
        """Heat diffusion on the edges before growth."""
        self._adjacency = adjacency
        self._cache: dict[bytes, SetMass] = {}

    def table(self, starts: Sequence[IntArray], lasting: bool = False) -> DiffusionTable:
        """Return a table of the mass from each set, see :meth:`Diffusion.table`."""
        return DiffusionTable(self.mass(starts, lasting), self._adjacency.num_nodes)

    def mass(self, starts: Sequence[IntArray], lasting: bool = False) -> list[SetMass]:
        """Return the mass at all nodes that diffuses from each set, see :meth:`Diffusion.mass`."""
        old = [self._old_nodes(start) for start in starts]
        masses = iter(self.before.mass([nodes for nodes in old if nodes.size], lasting))
        mass = []
        for start, nodes in zip(starts, old, strict=True):
            before = next(masses) if nodes.size else self._no_mass
            mass.append(self._cache.get(start.tobytes()) or self._with_late(start, before))
        if lasting:
            # Replace the whole dictionary, which is safe with several threads: the last assignment
            # remains.
            names = (start.tobytes() for start in starts)
            self._cache = dict(zip(names, mass, strict=True))
        return mass

    def with_array_cache(self, array_cache: ArrayCache) -> "GrownDiffusion":
        """Return a copy that has another array cache on disk and the same mass cached in memory."""
        copy = GrownDiffusion(self.before.with_array_cache(array_cache), self._adjacency)
        copy._cache = self._cache
        return copy

    def _old_nodes(self, start: IntArray) -> IntArray:
        """Convert a set to old nodes, each repeated in proportion to the heat that starts at it.

        Each late node is replaced by `PARTS` old nodes, repeated in proportion to their weights in
        :attr:`_means`.
        """
        late = np.isin(start, self._late)
        if not late.any():
            return start
        parts = [np.repeat(start[~late], PARTS)]
        for place in np.searchsorted(self._late, start[late]):
            row = self._means[[place]]
            # Round the numbers with the largest fractions up, so that the counts add up to PARTS.
            exact = PARTS * row.data / max(row.data.sum(), SMALLEST)
            order = np.argsort(np.floor(exact) - exact, kind="stable")
            dealt = np.floor(exact)
            dealt[order[: round(exact.sum() - dealt.sum())]] += 1
            parts.append(np.repeat(row.indices, dealt.astype(np.int64)))
        return np.sort(np.concatenate(parts)).astype(np.int64)

    def _with_late(self, start: IntArray, before: SetMass) -> SetMass:
        """Return the mass that diffuses from a set, at old and at late nodes."""
        columns, means = self._used_means
        late = np.ascontiguousarray((means @ before.mass.take(columns, axis=1).T).T)
        places = np.flatnonzero(np.isin(self._late, start))
        # Do not count late nodes without any old node in :attr:`_means`: none of the heat that
        # starts at old nodes comes from them.
        leaving = start.size - np.count_nonzero(np.diff(self._means.indptr)[places] == 0)
        degrees = self._adjacency.weighted_degrees(self._late[places])
        times = np.array(self.before.times)[:, None]
        stays = np.exp(-times * degrees / (degrees + 1.0)) / np.sqrt(degrees + 1.0)
        late[:, places] += (stays / max(leaving, 1)).astype(np.float32)
        return before.with_late(self._late, late)

    @property
    def _no_mass(self) -> SetMass:
        mass = np.zeros((len(self.before.times), self._adjacency.base.num_nodes), dtype=np.float32)
        totals = np.zeros(len(mass))
        return SetMass(mass, totals, totals, self._late[:0], mass[:, :0])

    @cached_property
    def _late(self) -> IntArray:
        """Late nodes: new nodes, and old nodes that had no edges before growth; ascending."""
        base, nodes = self._adjacency.base, self._adjacency.nodes
        old = nodes[nodes < base.num_nodes]
        return np.append(old[base.degrees(old) == 0], nodes[nodes >= base.num_nodes])

    @cached_property
    def _used_means(self) -> tuple[IntArray, "csr_array[Any]"]:
        """Old nodes that have any weight in :attr:`_means`, and the columns of these nodes."""
        columns = np.unique(self._means.indices)
        return columns, self._means[:, columns]

    @cached_property
    def _means(self) -> "csr_array[Any]":
        """Weight of each old node in the mean of each late node: late nodes x old nodes.

        Rows add up to 1.
        """
        count, base = self._late.size, self._adjacency.base.num_nodes
        entries = rows_of(self._adjacency, self._late)
        rows, weights = np.searchsorted(self._late, entries.rows), weights_of(entries)
        late = np.isin(entries.columns, self._late)
        places = np.searchsorted(self._late, entries.columns[late])
        between = csr_array((weights[late], (rows[late], places)), shape=(count, count))
        old = weights[~late], (rows[~late], entries.columns[~late])
        means = _rows_adding_up_to_1(csr_array(old, shape=(count, base)))
        for _ in range(LONGEST_CHAIN):
            has_mass = np.diff(means.indptr) > 0
            # Extend the means from late nodes that have weights to neighbouring late nodes that
            # have none yet.
            links = diags_array(~has_mass * 1.0) @ between @ diags_array(has_mass * 1.0)
            links = _rows_adding_up_to_1(csr_array(links))
            if not links.nnz:
                break
            means = csr_array(means + links @ means)
        return means.astype(np.float32)


def _rows_adding_up_to_1(matrix: "csr_array[Any]") -> "csr_array[Any]":
    """Divide each row of a matrix by its sum; remove stored zeros."""
    sums = np.maximum(matrix.sum(axis=1, dtype=np.float64), SMALLEST)
    divided = csr_array(diags_array(1.0 / sums) @ matrix)
    divided.eliminate_zeros()
    return divided
