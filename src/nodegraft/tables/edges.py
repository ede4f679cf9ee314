"""A table of edges: their ends, and perhaps their kind and weight."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.algebra.adjacency import Adjacency
from nodegraft.graph.algebra.entries import OUT, narrowed
from nodegraft.graph.algebra.matrix import IntArray
from nodegraft.graph.keys import NodeKeys
from nodegraft.graph.relation import Relation, by_rows, kinds_with_direction
from nodegraft.graph.stores.protocol import EDGES
from nodegraft.tables.columns import Source, keys_like, read_source
from nodegraft.tables.data_report import Finding, finding


class EdgeColumns(NamedTuple):
    """The names of the columns."""

    source: str
    """Where an edge starts."""

    target: str
    """Where it leads."""

    kind: str | None
    """Of which kind it is; None where all are of one kind."""

    weight: str | None
    """How much it counts; None where all count 1."""


@dataclass(frozen=True)
class GivenEdges:
    """The edges of a table whose ends are known, as they stand there."""

    source: IntArray
    """The row each starts from."""

    target: IntArray
    """The row it leads to."""

    kinds: Mapping[str, IntArray]
    """Name of a kind -> which edges are of it."""

    weights: NDArray[np.float64] | None
    """How much each counts."""

    findings: tuple[Finding, ...]
    """What is odd about the table."""

    def adjacencies(self, num_nodes: int, directed: bool | Iterable[str]) -> dict[str, Adjacency]:
        """The edges of each kind, by rows.

        Args:
            num_nodes: How many nodes there are.
            directed: Whether edges have a direction; or the kinds whose edges have one.
        """
        one_way = kinds_with_direction(directed, self.kinds)
        return {
            name: by_rows(
                self.source[some],
                self.target[some],
                num_nodes,
                None if self.weights is None else self.weights[some],
                name in one_way,
            )
            for name, some in self.kinds.items()
        }

    def relations(self, keys: NodeKeys) -> dict[str, Relation]:
        """The edges of each kind, by keys and without direction.

        Args:
            keys: The nodes.
        """
        pairs = np.stack([keys.array_at(end) for end in (self.source, self.target)], axis=1)
        return {
            name: Relation(pairs[some], None if self.weights is None else self.weights[some])
            for name, some in self.kinds.items()
        }


def read_edges(edges: Source, columns: EdgeColumns, keys: NodeKeys) -> GivenEdges:
    """The edges of a table between nodes that are known.

    Args:
        edges: The table; None for no edges.
        columns: The names of its columns.
        keys: The nodes.
    """
    if edges is None:
        nothing = np.zeros(0, dtype=np.int64)
        return GivenEdges(nothing, nothing, {EDGES: nothing}, None, ())
    ends = (columns.source, columns.target) if keys.is_text else ()
    table = read_source(edges, "edges", (*ends, *([columns.kind] if columns.kind else [])))
    given = [keys_like(keys, table, name) for name in columns[:2]]
    first, second = (keys.find(end) for end in given)
    usable = (first >= 0) & (second >= 0)
    shown = [
        ["(nothing)" if end is None else str(end) for end in column[~usable][:3]]
        for column in given
    ]
    findings = finding(
        "edges to nodes that are not in the table of nodes",
        int((~usable).sum()),
        ["–".join(pair) for pair in zip(*shown, strict=True)],
        "they are dropped",
    )
    names: NDArray[np.object_] | None = None
    if columns.kind:
        names = np.array(table.texts(columns.kind), dtype=object)
        named = np.array([bool(name) for name in names], dtype=bool)
        findings += finding(
            "edges without a kind", int((~named).sum()), blocking="they are dropped"
        )
        usable &= named
    weights: NDArray[np.float64] | None = None
    if columns.weight:
        weights = table.floats(columns.weight).astype(np.float64)
        positive = narrowed(weights)[1]
        findings += finding(
            "edges whose weight is missing, infinite or not positive",
            int((~positive).sum()),
            weights[~positive],
            "they are dropped",
        )
        usable &= positive
        weights = weights[usable]
    kinds: dict[str, IntArray] = {EDGES: np.arange(int(usable.sum()))}
    if names is not None:
        found, numbers = np.unique(names[usable].astype(str), return_inverse=True)
        kinds = {str(name): np.flatnonzero(numbers == one) for one, name in enumerate(found)}
        kinds = kinds or {EDGES: np.zeros(0, dtype=np.int64)}
    return GivenEdges(first[usable], second[usable], kinds, weights, tuple(findings))


def edge_oddities(given: GivenEdges, kinds: Mapping[str, Adjacency]) -> list[Finding]:
    """What is worth knowing of edges that can be used.

    Args:
        given: As they stand in the table.
        kinds: What became of them.
    """
    loops = int((given.source == given.target).sum())
    kept = sum(map(_told, kinds.values()))
    joined = np.sum([edges.degrees() for edges in kinds.values()], axis=0)
    return [
        *finding("nodes without any edge", int((joined == 0).sum())),
        *finding(
            "edges given more than once or in both directions, merged",
            int(given.source.size) - loops - kept,
        ),
        *finding("edges from a node to itself, dropped", loops),
    ]


def _told(edges: Adjacency) -> int:
    """How many edges tell all there is: with a direction both ways of a pair are two."""
    if edges.directions is None:
        return edges.num_edges
    return int(((edges.directions & OUT) > 0).sum())
