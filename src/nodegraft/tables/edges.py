"""A table of edges: their ends, and perhaps their kind and weight."""

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
from nodegraft.graph.stores.protocol import EDGES
from nodegraft.tables.columns import SourceTable
from nodegraft.tables.data_report import Finding, finding
from nodegraft.tables.keys import rows_named


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

    @property
    def ends(self) -> tuple[str, str]:
        """The columns of node keys."""
        return self.source, self.target

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns that a CSV file must not read as numbers."""
        return (*self.ends, self.kind) if self.kind else self.ends


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


def read_edges(table: SourceTable | None, columns: EdgeColumns, keys: NodeKeys) -> GivenEdges:
    """The edges of a table between nodes that are known.

    Args:
        table: The table; None for no edges.
        columns: The names of its columns.
        keys: The nodes.
    """
    if table is None:
        nothing = np.zeros(0, dtype=np.int64)
        return GivenEdges(nothing, nothing, {EDGES: nothing}, None, ())
    return given_edges(table, columns, keys)


def given_edges(table: SourceTable, columns: EdgeColumns, keys: NodeKeys) -> GivenEdges:
    """The same of a table that is there already, or of a part of one.

    Args:
        table: The table.
        columns: The names of its columns.
        keys: The nodes.
    """
    first, second = (rows_named(keys, table, name) for name in columns[:2])
    usable = (first >= 0) & (second >= 0)
    findings = _unknown_ends(table, columns, usable)
    kinds = _kinds(table, columns.kind) if columns.kind else None
    if kinds is not None:
        named = kinds.numbers >= 0
        places, where = np.flatnonzero(~named), table.where(columns.kind or "")
        shown = [f"row {table.row_number(place)}" for place in places[:3]]
        findings += finding(
            "edges without an edge type", places.size, shown, "dropped", where=where
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
    if kinds is None:
        by_kind: dict[str, IntArray] = {EDGES: np.arange(int(usable.sum()))}
    else:
        by_kind = kinds.places(usable) or {EDGES: np.zeros(0, dtype=np.int64)}
    return GivenEdges(first[usable], second[usable], by_kind, weights, tuple(findings))


class _Kinds(NamedTuple):
    names: list[str]
    numbers: IntArray
    """The place of each edge's kind among the names, -1 where none is given."""

    def places(self, usable: NDArray[np.bool_]) -> dict[str, IntArray]:
        """Where the usable edges of each kind are among those."""
        numbers = self.numbers[usable]
        met = [self.names[number] for number in np.unique(numbers)]
        place = {name: number for number, name in enumerate(self.names)}
        return {name: np.flatnonzero(numbers == place[name]) for name in sorted(met)}


def _kinds(table: SourceTable, column: str) -> _Kinds:
    encoded = table.text_column(column).combine_chunks().dictionary_encode()
    names = encoded.dictionary.to_pylist()
    numbers = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    if "" in names:
        numbers[numbers == names.index("")] = -1
    return _Kinds(names, numbers)


def _unknown_ends(
    table: SourceTable, columns: EdgeColumns, usable: NDArray[np.bool_]
) -> list[Finding]:
    places = np.flatnonzero(~usable)
    some = table.take(places[:3])
    ends = (some.column(name).to_pylist() for name in columns.ends)
    shown = (["(nothing)" if end is None else str(end) for end in column] for column in ends)
    return finding(
        "edges to nodes that are not in the table of nodes",
        places.size,
        table.examples(places, ("–".join(pair) for pair in zip(*shown, strict=True))),
        "dropped",
        where=table.where(*columns.ends),
    )


def edge_oddities(given: GivenEdges, kinds: Mapping[str, Adjacency]) -> list[Finding]:
    """What is worth knowing of edges that can be used.

    Args:
        given: As they stand in the table.
        kinds: What became of them.
    """
    joined = np.sum([edges.degrees() for edges in kinds.values()], axis=0)
    return oddities(
        told=int(given.source.size),
        loops=int((given.source == given.target).sum()),
        kept=sum(map(_told, kinds.values())),
        alone=int((joined == 0).sum()),
    )


def oddities(*, told: int, loops: int, kept: int, alone: int) -> list[Finding]:
    """The same, from counts.

    Args:
        told: How many edges stand in the table and can be used.
        loops: How many of them lead from a node to itself.
        kept: How many edges tell all there is.
        alone: How many nodes have no edge.
    """
    return [
        *finding("nodes without any edge", alone),
        *finding("edges given more than once or in both directions, merged", told - loops - kept),
        *finding("edges from a node to itself, dropped", loops),
    ]


def _told(edges: Adjacency) -> int:
    """How many edges tell all there is: with a direction both ways of a pair are two."""
    if edges.directions is None:
        return edges.num_edges
    return int(((edges.directions & OUT) > 0).sum())
