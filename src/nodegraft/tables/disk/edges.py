"""The last step of a build: edges, sorted by ranges of rows on disk, become a CSR for each kind."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from nodegraft.base.files.array_file import StoredArray
from nodegraft.graph.disk.mapped import MERGED
from nodegraft.graph.edges.entries import OUT, both_ways, narrowed
from nodegraft.graph.edges.matrix import index_type
from nodegraft.graph.edges.relation import kinds_with_direction
from nodegraft.graph.stores.protocol import EDGES
from nodegraft.tables.data_report import Finding, gathered
from nodegraft.tables.disk.adjacency import AdjacencyWriter
from nodegraft.tables.disk.buckets import Buckets
from nodegraft.tables.disk.folder import BuildFolder
from nodegraft.tables.edges import EdgeColumns, GivenEdges, oddities

_BYTES = 128
"""So much memory an entry takes while it is sorted."""


class EdgesWritten(NamedTuple):
    """What became of a table of edges."""

    arrays: dict[str, StoredArray]
    """The CSR of each kind and, of several kinds, that of all."""

    relations: list[str]
    """The names of the kinds, in the order of the arrays."""

    num_edges: int
    """How many undirected edges there are, whatever their kind."""

    findings: list[Finding]
    """What is odd about the table."""


class EdgeSorter:
    """Takes edges batch by batch, and writes them in CSR order when all have come.

    Args:
        folder: Where to.
        num_nodes: How many nodes there are.
        columns: The names of the columns of edges.
        directed: Whether edges have a direction; or the kinds whose edges have one.
        memory: So many bytes may be used.
        expected: About so many edges will come.
    """

    def __init__(
        self,
        folder: BuildFolder,
        num_nodes: int,
        columns: EdgeColumns,
        directed: bool | Iterable[str],
        *,
        memory: int,
        expected: int,
    ) -> None:
        self._folder, self._num_nodes, self._columns = folder, num_nodes, columns
        named = {directed} if isinstance(directed, str) else directed
        self._directed = named if isinstance(named, bool) else set(named)
        self._buckets = Buckets(
            folder.work("edges"),
            np.dtype(self._fields()),
            by="rows",
            bits=max(num_nodes - 1, 0).bit_length(),
            most=max(memory // _BYTES, 1),
            expected=2 * expected,
        )
        self._numbers, self._counts = dict[str, int](), dict[str, int]()
        self._told = self._loops = 0
        self._findings = list[Finding]()

    def _fields(self) -> list[tuple[str, Any]]:
        row = index_type(self._num_nodes)
        fields: list[tuple[str, Any]] = [("rows", row), ("columns", row)]
        if self._columns.kind:
            fields.append(("kind", np.uint32))
        if self._columns.weight:
            fields.append(("weights", np.float32))
        if self._directed:
            fields.append(("directions", np.uint8))
        return fields

    def add(self, given: GivenEdges) -> None:
        """Take some edges.

        Args:
            given: As they stand in a part of the table.
        """
        self._findings += given.findings
        self._told += given.source.size
        for name, some in given.kinds.items():
            if some.size:
                self._add(name, given, slice(None) if len(given.kinds) == 1 else some)

    def _add(self, name: str, given: GivenEdges, some: Any) -> None:
        source, target = given.source[some], given.target[some]
        weights = None if given.weights is None else narrowed(given.weights[some])[0]
        directions = None
        if self._directed:
            leads = self._directed is True or name in self._directed
            directions = np.full(source.size, OUT if leads else 0, dtype=np.uint8)
        entries = both_ways(source, target, weights, directions)
        self._loops += source.size - entries.rows.size // 2
        records = np.empty(entries.rows.size, dtype=np.dtype(self._fields()))
        for field, values in entries._asdict().items():
            if values is not None:
                records[field] = values
        if self._columns.kind:
            records["kind"] = self._numbers.setdefault(name, len(self._numbers))
        self._counts[name] = self._counts.get(name, 0) + records.size
        self._buckets.add(records)

    def write(self) -> EdgesWritten:
        """Write all that came: of each kind, and of several kinds as one."""
        names = sorted(self._counts) or [EDGES]
        one_way = kinds_with_direction(self._directed, names)
        kinds = {
            name: self._writer(str(place), self._counts.get(name, 0), name in one_way)
            for place, name in enumerate(names)
        }
        (merged, *_), writers = kinds.values(), list(kinds.values())
        if len(names) > 1:
            merged = self._writer(MERGED, sum(self._counts.values()), bool(one_way))
            writers.append(merged)
        for start, stop, records in self._buckets.parts():
            # The last ranges may lie behind the last node.
            rows = max(min(stop, self._num_nodes) - start, 0)
            merged.add(records, start, rows)
            if len(names) > 1:
                for name, writer in kinds.items():
                    writer.add(records[records["kind"] == self._numbers[name]], start, rows)
        kept = sum(writer.kept for writer in kinds.values())
        odd = oddities(told=self._told, loops=self._loops, kept=kept, alone=merged.alone)
        arrays = {name: one for writer in writers for name, one in writer.close().items()}
        findings = gathered(self._findings) + odd
        return EdgesWritten(arrays, names, merged.entries // 2, findings)

    def _writer(self, place: str, most: int, directed: bool) -> AdjacencyWriter:
        weighted = self._columns.weight is not None
        return AdjacencyWriter(
            self._folder, place, self._num_nodes, most, weighted=weighted, directed=directed
        )
