"""Read edge tables with source and target nodes, and optionally edge types and weights."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.entries import OUT, narrowed
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.edges.relation import Relation, by_rows, kinds_with_direction
from nodegraft.graph.keys import NodeKeys
from nodegraft.graph.stores import EDGES
from nodegraft.tables.columns import SourceTable
from nodegraft.tables.data_report import Finding, finding
from nodegraft.tables.keys import rows_named


class EdgeColumns(NamedTuple):
    """Column names of an edge table."""

    source: str
    """Name of the column with the source node's key."""

    target: str
    """Name of the column with the target node's key."""

    kind: str | None
    """Name of the column with the edge type; None if all edges have the same type."""

    weight: str | None
    """Name of the column with the edge weight; None if all weights are 1."""

    @property
    def ends(self) -> tuple[str, str]:
        """Names of the two columns with node keys: source and target."""
        return self.source, self.target

    @property
    def texts(self) -> tuple[str, ...]:
        """Names of the columns that are read as text from a CSV file."""
        return (*self.ends, self.kind) if self.kind else self.ends


@dataclass(frozen=True)
class GivenEdges:
    """Valid edges of an edge table, in the order of the table's rows."""

    source: IntArray
    """Row number of each edge's source node in the graph."""

    target: IntArray
    """Row number of each edge's target node in the graph."""

    kinds: Mapping[str, IntArray]
    """Mapping from edge type to the positions of its edges in ``source`` and ``target``."""

    weights: NDArray[np.float64] | None
    """Weight of each edge; None if all weights are 1."""

    findings: tuple[Finding, ...]
    """Findings about the edge table, for the data report."""

    @classmethod
    def joined(cls, parts: "Mapping[str, GivenEdges]") -> "GivenEdges":
        """Return the edges of several tables as edges of as many types."""
        given = list(parts.values())
        sizes = [part.source.size for part in given]
        starts = np.concatenate(([0], np.cumsum(sizes)))
        kinds = {
            name: np.arange(start, start + size)
            for name, start, size in zip(parts, starts.tolist(), sizes, strict=False)
        }
        weights = [
            np.ones(part.source.size) if part.weights is None else part.weights for part in given
        ]
        is_weighted = any(part.weights is not None for part in given)
        return cls(
            np.concatenate([part.source for part in given]),
            np.concatenate([part.target for part in given]),
            kinds,
            np.concatenate(weights) if is_weighted else None,
            tuple(finding for part in given for finding in part.findings),
        )

    def adjacencies(self, num_nodes: int, directed: bool | Iterable[str]) -> dict[str, Adjacency]:
        """Return an adjacency for each edge type."""
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
        """Return the edges of each type as undirected pairs of node keys."""
        pairs = np.stack([keys.array_at(end) for end in (self.source, self.target)], axis=1)
        return {
            name: Relation(pairs[some], None if self.weights is None else self.weights[some])
            for name, some in self.kinds.items()
        }


def read_edges(table: SourceTable | None, columns: EdgeColumns, keys: NodeKeys) -> GivenEdges:
    """Read the valid edges of a table; drop invalid edges and report them as findings.

    Args:
        table: Edge table or a batch of it; None for no edges.
        keys: Keys of all nodes of the graph; an edge with any other key is invalid.
    """
    if table is None:
        nothing = np.zeros(0, dtype=np.int64)
        return GivenEdges(nothing, nothing, {EDGES: nothing}, None, ())
    first, second = (rows_named(keys, table, name) for name in columns[:2])
    usable = (first >= 0) & (second >= 0)
    findings = _unknown_ends(table, columns, usable)
    if columns.kind:
        names, numbers = _kinds(table, columns.kind)
        named = numbers >= 0
        places, where = np.flatnonzero(~named), table.where(columns.kind)
        examples = [f"row {table.row_number(place)}" for place in places[:3]]
        findings += finding(
            "edges without an edge type", places.size, examples, "dropped", where=where
        )
        usable &= named
    weights: NDArray[np.float64] | None = None
    if columns.weight:
        weights = table.floats(columns.weight).astype(np.float64)
        positive = narrowed(weights)[1]
        places = np.flatnonzero(~positive)
        findings += finding(
            "edges whose weight is missing, infinite or not positive",
            places.size,
            table.examples(places, weights[places]),
            "dropped",
            where=table.where(columns.weight),
        )
        usable &= positive
        weights = weights[usable]
    by_kind: dict[str, IntArray] = {EDGES: np.arange(int(usable.sum()))}
    if columns.kind and usable.any():
        used = numbers[usable]
        pairs = sorted((names[number], number) for number in np.unique(used))
        by_kind = {name: np.flatnonzero(used == number) for name, number in pairs}
    return GivenEdges(first[usable], second[usable], by_kind, weights, tuple(findings))


def _kinds(table: SourceTable, column: str) -> tuple[list[str], IntArray]:
    """Return names of edge types, and the position of each edge's type; -1 for no type."""
    encoded = table.text_column(column).combine_chunks().dictionary_encode()
    names = encoded.dictionary.to_pylist()
    numbers = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    if "" in names:
        numbers[numbers == names.index("")] = -1
    return names, numbers


def _unknown_ends(
    table: SourceTable, columns: EdgeColumns, usable: NDArray[np.bool_]
) -> list[Finding]:
    places = np.flatnonzero(~usable)
    some = table.take(places[:3])
    ends = (some.column(name).to_pylist() for name in columns.ends)
    texts = (["(nothing)" if end is None else str(end) for end in column] for column in ends)
    return finding(
        "edges to nodes that are not in the table of nodes",
        places.size,
        table.examples(places, ("–".join(pair) for pair in zip(*texts, strict=True))),
        "dropped",
        where=table.where(*columns.ends),
    )


def edge_oddities(edges: GivenEdges, kinds: Mapping[str, Adjacency]) -> list[Finding]:
    """Return findings about valid edges: duplicate edges, self loops, and nodes without edges."""
    degrees = np.sum([edges.degrees() for edges in kinds.values()], axis=0)
    return oddities(
        num_rows=int(edges.source.size),
        loops=int((edges.source == edges.target).sum()),
        distinct=sum(
            edges.num_edges
            if edges.directions is None
            else int(((edges.directions & OUT) > 0).sum())
            for edges in kinds.values()
        ),
        alone=int((degrees == 0).sum()),
    )


def oddities(*, num_rows: int, loops: int, distinct: int, alone: int) -> list[Finding]:
    """Return findings about duplicate edges, self loops and nodes without edges, from their counts.

    Args:
        num_rows: Number of valid edges in the edge table, with duplicates and self loops.
        distinct: Number of distinct edges; directed edges A → B and B → A count as two.
        alone: Number of nodes of the graph without edges.
    """
    return [
        *finding("nodes without any edge", alone),
        *finding(
            "edges given more than once or in both directions, merged", num_rows - loops - distinct
        ),
        *finding("edges from a node to itself, dropped", loops),
    ]
