"""Mass that has diffused from sets of nodes, at every node."""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.graph.edges.matrix import IntArray, is_run

TOLERANCE = 1e-3
"""Root mean square error of a node's heat, at most, against 1 / number of nodes. Mass is heat
divided by the root of the degree, and so is its error. Where degrees are alike, this is the error
of mass against its mean over all nodes. Elsewhere the error against that mean may be larger: heat
that reaches nodes of much higher degree adds up to less."""

LEAST_TOTAL = 10 * TOLERANCE
"""Heat that adds up to less may be mostly error: nearly all was lost to nodes that are hidden but
count for degrees, or it reached nodes of much higher degree. Its shares are reduced as if it added
up to this."""

PEAK = 10.0
"""Mass at a node against its mean over all nodes, from which on it counts as a peak: heat that does
not get away from a label that has no edges, or lies in a small component."""

SMALLEST = float(np.finfo(np.float64).tiny)
"""Stands for sums of 0 in divisions."""


class SetMass(NamedTuple):
    """Mass of one set of nodes."""

    mass: NDArray[np.float32]
    """At every node: times x nodes."""

    totals: NDArray[np.float64]
    """The sum over all nodes for each time; larger where heat is less than :data:`LEAST_TOTAL`."""

    totals_without_peaks: NDArray[np.float64]
    """The same sums, with at most :data:`PEAK` times the mean at each node."""

    late_nodes: IntArray
    """Nodes that had no edges when the mass was computed, ascending; those behind the others are
    new."""

    late: NDArray[np.float32]
    """The mass at these: times x nodes."""

    @classmethod
    def summed(cls, mass: NDArray[np.float32], inverse_roots: NDArray[np.float32]) -> "SetMass":
        """Return the sums of mass over all nodes, which every later look-up shares.

        Args:
            inverse_roots: 1 / root of the degree of every node: what heat was multiplied by.
        """
        heat = (mass / inverse_roots).sum(axis=1, dtype=np.float64)
        totals = mass.sum(axis=1, dtype=np.float64)
        # Without heat shares are 0, not 0 / 0.
        heat, totals = np.maximum(heat, SMALLEST), np.maximum(totals, SMALLEST)
        highest = (PEAK / mass.shape[1] * totals).astype(np.float32)
        without_peaks = np.minimum(mass, highest[:, None]).sum(axis=1, dtype=np.float64)
        enough = np.maximum(LEAST_TOTAL / heat, 1.0)
        nobody = np.zeros(0, dtype=np.int64)
        return cls(mass, totals * enough, without_peaks * enough, nobody, mass[:, :0])

    def with_late(self, nodes: IntArray, late: NDArray[np.float32]) -> "SetMass":
        """Add the mass of nodes that had no edges.

        Args:
            nodes: The nodes, ascending.
        """
        more = late.sum(axis=1, dtype=np.float64)
        highest = PEAK / self.mass.shape[1] * self.totals
        below = np.minimum(late, highest[:, None]).sum(axis=1)
        totals = np.maximum(self.totals + more, SMALLEST)
        return SetMass(self.mass, totals, self.totals_without_peaks + below, nodes, late)

    def nearest(self, start: IntArray, count: int) -> tuple[IntArray, NDArray[np.float64]]:
        """Return the nodes with most mass at the first time, and its logarithm.

        There may be more nodes than asked for where several have the same mass, to three digits.
        Nodes whose mass is below the tolerance are left out.

        Args:
            start: The set of nodes that heat starts from; they are left out.
        """
        mass = self.mass[0]
        if self.late_nodes.size:
            mass = np.zeros(max(mass.size, int(self.late_nodes[-1]) + 1), dtype=np.float32)
            mass[: self.mass.shape[1]], mass[self.late_nodes] = self.mass[0], self.late[0]
        is_near = mass > TOLERANCE * self.totals[0] / mass.size
        is_near[start] = False
        nodes = np.flatnonzero(is_near)
        logs = np.log(mass[nodes].astype(np.float64)).round(3)
        if nodes.size > count:
            most = logs >= np.partition(logs, nodes.size - count)[nodes.size - count]
            nodes, logs = nodes[most], logs[most]
        return nodes, logs

    def without_peaks(self, times: IntArray) -> "SetMass":
        """Compare mass with its mean without peaks, at some times.

        Where hardly anything is left beside the peaks, the mass of these times is the same at all
        nodes: it is not known.
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
    """Mass of some sets at all nodes.

    Args:
        mass: Mass of every set, at least one.
        num_nodes: How many nodes there are.
    """

    def __init__(self, mass: Sequence[SetMass], num_nodes: int) -> None:
        self._mass = mass
        self.num_nodes = num_nodes
        """How many nodes there are."""

    @cached_property
    def totals(self) -> NDArray[np.float64]:
        """The sums over all nodes (:attr:`SetMass.totals`): times x sets."""
        return np.stack([entry.totals for entry in self._mass], axis=1)

    def of(self, columns: IntArray) -> "DiffusionTable":
        """Return the table of some of the sets."""
        return DiffusionTable([self._mass[column] for column in columns], self.num_nodes)

    def with_rows(self, means: "csr_array[np.float32]", neighbours: IntArray) -> "DiffusionTable":
        """Return the table with rows behind the nodes: the mean of their neighbours, same totals.

        Args:
            means: How much each neighbour counts for each row: rows x neighbours.
        """
        near = self.at(neighbours)
        sets, times = near.shape[:2]
        flat = near.reshape(sets * times, neighbours.size)
        found = (means @ flat.T).T.reshape(sets, times, means.shape[0])
        rows = np.arange(self.num_nodes, self.num_nodes + means.shape[0])
        mass = [
            entry._replace(
                late_nodes=np.append(entry.late_nodes, rows),
                late=np.concatenate((entry.late, own.astype(np.float32)), axis=1),
            )
            for entry, own in zip(self._mass, found, strict=True)
        ]
        return DiffusionTable(mass, self.num_nodes)

    def without_peaks(self, times: IntArray) -> "DiffusionTable":
        """Return the table with :meth:`SetMass.without_peaks` of all sets."""
        return DiffusionTable([entry.without_peaks(times) for entry in self._mass], self.num_nodes)

    def at(self, nodes: IntArray, times: slice = slice(None)) -> NDArray[np.float32]:
        """Return the mass at some nodes: sets x times x nodes."""
        late = self._mass[0].late_nodes
        is_late = np.isin(nodes, late) if late.size else np.zeros(0, dtype=bool)
        if not is_late.any():
            if is_run(nodes):
                between = slice(nodes[0], nodes[-1] + 1)
                return np.stack([entry.mass[times, between] for entry in self._mass])
            return np.stack([entry.mass[times].take(nodes, axis=1) for entry in self._mass])
        found = np.stack(
            [entry.mass[times].take(nodes, axis=1, mode="clip") for entry in self._mass]
        )
        places = np.searchsorted(late, nodes[is_late])
        found[:, :, is_late] = np.stack([entry.late[times, places] for entry in self._mass])
        return found

    def shares(self, nodes: IntArray) -> NDArray[np.float64]:
        """Return the mass at some nodes against the mean of all nodes: times x nodes x sets."""
        mass = self.at(nodes).transpose(1, 2, 0).astype(np.float64, order="C")
        return mass / (self.totals / self.num_nodes)[:, None]
