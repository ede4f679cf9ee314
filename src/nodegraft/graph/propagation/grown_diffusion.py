"""Heat after a small growth: cached heat of the old graph, and one hop to new nodes."""

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
"""Number of parts in which heat from a label on a late node is divided among its neighbours."""

LONGEST_CHAIN = 20
"""Maximum number of late nodes between a late node and an old one; beyond, it gets no heat."""


class GrownDiffusion:
    r"""Heat diffusion after small growths, on the edges from before these growths.

    After a growth by one percent, a new pass over all edges for every class would take minutes on a
    large graph. So old nodes keep their mass; new edges between them are ignored until the next
    full pass. *Late* nodes are new nodes, and old nodes that had no edges. Their mass is the
    weighted mean of their neighbours' mass. Heat from a label on a late node starts at the node's
    neighbours; the part that stays at the node itself is :math:`e^{-t d / (d + 1)}` for a node of
    degree :math:`d`.

    Args:
        before: Diffusion on the edges before growth.
        adjacency: The edges after growth; its base has the edges of ``before``.
    """

    def __init__(self, before: Diffusion, adjacency: GrownAdjacency) -> None:
        self.before = before
        """Diffusion on the edges before growth."""
        self._adjacency = adjacency
        self._cache: dict[bytes, SetMass] = {}

    def table(self, starts: Sequence[IntArray], lasting: bool = False) -> DiffusionTable:
        """Return the mass of sets at all nodes, see :meth:`Diffusion.table`."""
        return DiffusionTable(self.mass(starts, lasting), self._adjacency.num_nodes)

    def mass(self, starts: Sequence[IntArray], lasting: bool = False) -> list[SetMass]:
        """Return the mass of each set, see :meth:`Diffusion.mass`."""
        old = [self._old_nodes(start) for start in starts]
        found = iter(self.before.mass([nodes for nodes in old if nodes.size], lasting))
        mass = []
        for start, nodes in zip(starts, old, strict=True):
            before = next(found) if nodes.size else self._no_mass
            mass.append(self._cache.get(start.tobytes()) or self._with_late(start, before))
        if lasting:
            # Replace the whole dictionary, which is safe with several threads: the last one wins.
            names = (start.tobytes() for start in starts)
            self._cache = dict(zip(names, mass, strict=True))
        return mass

    def with_array_cache(self, array_cache: ArrayCache) -> "GrownDiffusion":
        """Return a copy that uses another array cache and shares the cached mass."""
        copy = GrownDiffusion(self.before.with_array_cache(array_cache), self._adjacency)
        copy._cache = self._cache
        return copy

    def _old_nodes(self, start: IntArray) -> IntArray:
        """Return the old nodes that heat starts from, each repeated in proportion to its heat.

        Each late node is replaced by `PARTS` old nodes, repeated in proportion to its weights.
        """
        late = np.isin(start, self._late)
        if not late.any():
            return start
        parts = [np.repeat(start[~late], PARTS)]
        for place in np.searchsorted(self._late, start[late]):
            row = self._means[[place]]
            # Round the largest remainders up, so that the counts add up to PARTS.
            exact = PARTS * row.data / max(row.data.sum(), SMALLEST)
            order = np.argsort(np.floor(exact) - exact, kind="stable")
            dealt = np.floor(exact)
            dealt[order[: round(exact.sum() - dealt.sum())]] += 1
            parts.append(np.repeat(row.indices, dealt.astype(np.int64)))
        return np.sort(np.concatenate(parts)).astype(np.int64)

    def _with_late(self, start: IntArray, before: SetMass) -> SetMass:
        """Return the mass of a set at old and late nodes."""
        columns, means = self._used_means
        late = np.ascontiguousarray((means @ before.mass.take(columns, axis=1).T).T)
        places = np.flatnonzero(np.isin(self._late, start))
        # Late nodes without a weighted old node have no part of the heat that starts elsewhere.
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
        """New nodes, and old nodes that had no edges; ascending."""
        base, nodes = self._adjacency.base, self._adjacency.nodes
        old = nodes[nodes < base.num_nodes]
        return np.append(old[base.degrees(old) == 0], nodes[nodes >= base.num_nodes])

    @cached_property
    def _used_means(self) -> tuple[IntArray, "csr_array[Any]"]:
        """Old nodes with a weight for any late node, and these columns of :attr:`_means`."""
        columns = np.unique(self._means.indices)
        return columns, self._means[:, columns]

    @cached_property
    def _means(self) -> "csr_array[Any]":
        """Weight of each old node for each late node: late x old nodes; rows add up to 1."""
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
            # Pass mass on from late nodes that have some to late neighbours that have none yet.
            links = diags_array(~has_mass * 1.0) @ between @ diags_array(has_mass * 1.0)
            links = _rows_adding_up_to_1(csr_array(links))
            if not links.nnz:
                break
            means = csr_array(means + links @ means)
        return means.astype(np.float32)


def _rows_adding_up_to_1(matrix: "csr_array[Any]") -> "csr_array[Any]":
    """Divide the rows of a matrix by their sums, and remove zeros."""
    sums = np.maximum(matrix.sum(axis=1, dtype=np.float64), SMALLEST)
    divided = csr_array(diags_array(1.0 / sums) @ matrix)
    divided.eliminate_zeros()
    return divided
