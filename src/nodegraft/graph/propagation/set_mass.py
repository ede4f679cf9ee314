"""Mass at every node after heat diffusion from a set of nodes."""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.graph.edges.matrix import IntArray, is_run

TOLERANCE = 1e-3
"""Maximum root mean square error of the heat at a node, relative to 1 / number of nodes. Mass is
heat divided by the root of the degree, and so is its error. If all degrees are similar, the limit
also holds for the error of mass relative to the mean of all nodes. Otherwise that relative error
may be larger, because the total mass is smaller where heat reaches nodes of much higher degree.
"""

LEAST_TOTAL = 10 * TOLERANCE
"""If total heat is less than this, it may consist mostly of errors: nearly all heat was lost to
hidden nodes, which count in degrees, or it reached nodes of much higher degree. Shares are then
computed as if total heat had this value, which makes them smaller.
"""

PEAK = 10.0
"""Mass above PEAK times the mean of all nodes is a peak: heat that remains near a labelled node
because the node has no edges or is in a small component.
"""

SMALLEST = float(np.finfo(np.float64).tiny)
"""Divisor that replaces a sum of 0."""


class SetMass(NamedTuple):
    """Mass at all nodes that diffused from a set of nodes."""

    mass: NDArray[np.float32]
    """Mass at every node for each diffusion time: times x nodes."""

    totals: NDArray[np.float64]
    """Sum of mass for each diffusion time; increased if heat is below :data:`LEAST_TOTAL`."""

    totals_without_peaks: NDArray[np.float64]
    """Like :attr:`totals`, but with mass limited to :data:`PEAK` times its mean."""

    late_nodes: IntArray
    """Late nodes, which did not exist or had no edges when :attr:`mass` was computed; ascending."""

    late: NDArray[np.float32]
    """Mass at the late nodes, which replaces :attr:`mass` there: times x late nodes."""

    @classmethod
    def summed(cls, mass: NDArray[np.float32], inverse_roots: NDArray[np.float32]) -> "SetMass":
        """Create an object from the mass at all nodes, and compute the sums of mass.

        Args:
            inverse_roots: 1 / root of each node's degree, which is the ratio of mass to heat.
        """
        heat = (mass / inverse_roots).sum(axis=1, dtype=np.float64)
        totals = mass.sum(axis=1, dtype=np.float64)
        # Avoid 0 / 0: if there is no heat, all shares are 0.
        heat, totals = np.maximum(heat, SMALLEST), np.maximum(totals, SMALLEST)
        highest = (PEAK / mass.shape[1] * totals).astype(np.float32)
        without_peaks = np.minimum(mass, highest[:, None]).sum(axis=1, dtype=np.float64)
        enough = np.maximum(LEAST_TOTAL / heat, 1.0)
        nobody = np.zeros(0, dtype=np.int64)
        return cls(mass, totals * enough, without_peaks * enough, nobody, mass[:, :0])

    def with_late(self, nodes: IntArray, late: NDArray[np.float32]) -> "SetMass":
        """Return a copy with the mass at late nodes, which are new or had no edges.

        Args:
            late: Mass at the late nodes: times x late nodes.
        """
        more = late.sum(axis=1, dtype=np.float64)
        highest = PEAK / self.mass.shape[1] * self.totals
        below = np.minimum(late, highest[:, None]).sum(axis=1)
        totals = np.maximum(self.totals + more, SMALLEST)
        return SetMass(self.mass, totals, self.totals_without_peaks + below, nodes, late)

    def nearest(
        self, start: IntArray, count: int, without: IntArray | None = None
    ) -> tuple[IntArray, NDArray[np.float64]]:
        """Return the nodes with the most mass, and the logarithms of their mass.

        Mass is that at the first diffusion time. The result has more than `count` nodes if several
        logarithms are equal to three digits. Nodes with mass below the tolerance are excluded.

        Args:
            start: Set of nodes from which heat diffused; these nodes are excluded.
            count: Number of nodes to return.
            without: Other nodes that are excluded, ascending; None for none.
        """
        mass = self.mass[0]
        if self.late_nodes.size:
            mass = np.zeros(max(mass.size, int(self.late_nodes[-1]) + 1), dtype=np.float32)
            mass[: self.mass.shape[1]], mass[self.late_nodes] = self.mass[0], self.late[0]
        is_near = mass > TOLERANCE * self.totals[0] / mass.size
        is_near[start] = False
        if without is not None:
            # Nodes that were added after the mass was computed are beyond its end.
            is_near[without[: np.searchsorted(without, mass.size)]] = False
        nodes = np.flatnonzero(is_near)
        logs = np.log(mass[nodes].astype(np.float64)).round(3)
        if nodes.size > count:
            most = logs >= np.partition(logs, nodes.size - count)[nodes.size - count]
            nodes, logs = nodes[most], logs[most]
        return nodes, logs

    def without_peaks(self, times: IntArray) -> "SetMass":
        """Return a copy whose totals at some diffusion times do not include peaks.

        If almost all mass at one of these times is in peaks, the rest is unreliable; the mass at
        this time is then set to 1 at all nodes.
        """
        mass, late, totals = self.mass, self.late, self.totals.copy()
        totals[times] = self.totals_without_peaks[times]
        unknown = times[totals[times] < LEAST_TOTAL * self.totals[times]]
        if unknown.size:
            mass, late = mass.copy(), late.copy()
            mass[unknown], late[unknown] = 1.0, 1.0
            totals[unknown] = mass.shape[1] + (self.late_nodes >= mass.shape[1]).sum()
        return self._replace(mass=mass, totals=totals, late=late)


class DiffusionTable:
    """Mass at all nodes that diffused from each of several sets of nodes.

    Args:
        mass: Mass that diffused from each set; at least one set.
        num_nodes: Number of nodes of the graph.
    """

    def __init__(self, mass: Sequence[SetMass], num_nodes: int) -> None:
        self._mass = mass
        self.num_nodes = num_nodes
        """Number of nodes of the graph."""

    @cached_property
    def totals(self) -> NDArray[np.float64]:
        """Sum of mass over all nodes, see :attr:`SetMass.totals`: times x sets."""
        return np.stack([entry.totals for entry in self._mass], axis=1)

    def of(self, columns: IntArray) -> "DiffusionTable":
        """Return a table of only some of the sets."""
        return DiffusionTable([self._mass[column] for column in columns], self.num_nodes)

    def with_rows(self, means: "csr_array[np.float32]", neighbours: IntArray) -> "DiffusionTable":
        """Return a table with extra rows; the mass of an extra row is the mean over its neighbours.

        The numbers of extra rows follow the number of the last node. Totals do not change.

        Args:
            means: Weight of each neighbour in the mean of each extra row: rows x neighbours.
            neighbours: Node number for each column of `means`.
        """
        near = self.at(neighbours)
        sets, times = near.shape[:2]
        flat = near.reshape(sets * times, neighbours.size)
        by_set = (means @ flat.T).T.reshape(sets, times, means.shape[0])
        rows = np.arange(self.num_nodes, self.num_nodes + means.shape[0])
        mass = [
            entry._replace(
                late_nodes=np.append(entry.late_nodes, rows),
                late=np.concatenate((entry.late, own.astype(np.float32)), axis=1),
            )
            for entry, own in zip(self._mass, by_set, strict=True)
        ]
        return DiffusionTable(mass, self.num_nodes)

    def without_peaks(self, times: IntArray) -> "DiffusionTable":
        """Apply :meth:`SetMass.without_peaks` to the mass of every set; return the new table."""
        return DiffusionTable([entry.without_peaks(times) for entry in self._mass], self.num_nodes)

    def at(self, nodes: IntArray, times: slice = slice(None)) -> NDArray[np.float32]:
        """Return the mass of each set at the given nodes: sets x times x nodes."""
        late = self._mass[0].late_nodes
        is_late = np.isin(nodes, late) if late.size else np.zeros(0, dtype=bool)
        if not is_late.any():
            if is_run(nodes):
                between = slice(nodes[0], nodes[-1] + 1)
                return np.stack([entry.mass[times, between] for entry in self._mass])
            return np.stack([entry.mass[times].take(nodes, axis=1) for entry in self._mass])
        mass = np.stack(
            [entry.mass[times].take(nodes, axis=1, mode="clip") for entry in self._mass]
        )
        places = np.searchsorted(late, nodes[is_late])
        mass[:, :, is_late] = np.stack([entry.late[times, places] for entry in self._mass])
        return mass

    def shares(self, nodes: IntArray) -> NDArray[np.float64]:
        """Return mass at the given nodes divided by the mean of all nodes: times x nodes x sets."""
        mass = self.at(nodes).transpose(1, 2, 0).astype(np.float64, order="C")
        return mass / (self.totals / self.num_nodes)[:, None]
