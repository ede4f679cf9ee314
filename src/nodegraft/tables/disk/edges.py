"""Sort edges by row on disk, then write them as CSR arrays for each edge type."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from nodegraft.graph.disk.mapped import MERGED
from nodegraft.graph.edges.entries import OUT, Entries, both_ways, compressed, narrowed
from nodegraft.graph.edges.matrix import index_type
from nodegraft.graph.edges.relation import kinds_with_direction
from nodegraft.graph.stores import EDGES
from nodegraft.tables.data_report import Finding, gathered
from nodegraft.tables.disk.buckets import Buckets, Records
from nodegraft.tables.disk.folder import BuildFolder, StoredArrays
from nodegraft.tables.edges import EdgeColumns, GivenEdges, oddities

_BYTES = 128
"""Memory per CSR entry while entries are sorted, in bytes."""


class AdjacencyWriter:
    """Writer of an edge type's CSR arrays: ``edges.PLACE.indptr``, ``edges.PLACE.indices`` …

    ``weights`` and ``directions`` are written only if edges have them.

    Args:
        folder: Folder of the graph build.
        place: Number of the edge type; or :data:`MERGED` for the edges of all types.
        num_nodes: Number of nodes of the graph.
        most: Maximum number of CSR entries that may be written.
        weighted: Whether edges have weights.
        directed: Whether edges have a direction.
    """

    def __init__(
        self,
        folder: BuildFolder,
        place: str,
        num_nodes: int,
        most: int,
        *,
        weighted: bool,
        directed: bool,
    ) -> None:
        index = index_type(max(num_nodes, most))
        types: dict[str, Any] = {"indptr": index, "indices": index}
        if weighted:
            types["weights"] = np.float32
        if directed:
            types["directions"] = np.uint8
        self._name, self._num_nodes = f"edges.{place}.", num_nodes
        self._parts = {part: folder.writer(self._name + part, kind) for part, kind in types.items()}
        self._parts["indptr"].add(np.zeros(1, dtype=np.int64))
        self._leading = 0
        self.isolated = 0
        """Number of nodes without edges among all rows written so far."""

    @property
    def entries(self) -> int:
        """Number of CSR entries written so far: two for each edge."""
        return self._parts["indices"].length

    @property
    def distinct_edges(self) -> int:
        """Number of distinct edges written so far; directed edges A → B and B → A count as two."""
        return self._leading if "directions" in self._parts else self.entries // 2

    def add(self, records: Records | Mapping[str, Any], start: int, rows: int) -> None:
        """Write the CSR entries of the next rows.

        Args:
            records: Entries of these rows by field, in any order; duplicates are merged.
            start: Number of the first of these rows, in the numbering of the records.
        """
        values = {part: records[part] for part in ("weights", "directions") if part in self._parts}
        entries = Entries(records["rows"] - start, records["columns"], **values)
        ends, columns, weights, directions = compressed(entries, rows, self._num_nodes)
        self.isolated += int((np.diff(ends) == 0).sum())
        self._parts["indptr"].add(ends[1:].astype(np.int64) + self.entries)
        self._parts["indices"].add(columns)
        if weights is not None:
            self._parts["weights"].add(weights)
        if directions is not None:
            self._parts["directions"].add(directions)
            self._leading += int(((directions & OUT) > 0).sum())

    def close(self) -> StoredArrays:
        """Close the array files; return the written arrays by name."""
        return {self._name + part: writer.close() for part, writer in self._parts.items()}


class EdgeSorter:
    """Sorter that collects batches of edges on disk, then writes all edges in CSR order.

    Args:
        folder: Folder of the graph build.
        num_nodes: Number of nodes of the graph.
        columns: Column names of the edge table.
        directed: Whether edges have a direction; or the names of the directed edge types.
        memory: Memory limit for sorting, in bytes.
        expected: Estimated number of rows of the edge table.
    """

    def __init__(
        self,
        folder: BuildFolder,
        num_nodes: int,
        columns: EdgeColumns,
        directed: bool | Iterable[str],
        memory: int,
        expected: int,
    ) -> None:
        self._folder, self._num_nodes, self._columns = folder, num_nodes, columns
        named = {directed} if isinstance(directed, str) else directed
        self._directed = named if isinstance(named, bool) else set(named)
        row = index_type(num_nodes)
        fields: list[tuple[str, Any]] = [("rows", row), ("columns", row)]
        if columns.kind:
            fields.append(("kind", np.uint32))
        if columns.weight:
            fields.append(("weights", np.float32))
        if self._directed:
            fields.append(("directions", np.uint8))
        self._record = np.dtype(fields)
        self._buckets = Buckets(
            folder.work("edges"),
            self._record,
            by="rows",
            bits=max(num_nodes - 1, 0).bit_length(),
            most=max(memory // _BYTES, 1),
            expected=2 * expected,
        )
        self._numbers, self._counts = dict[str, int](), dict[str, int]()
        self._rows_read = self._loops = 0
        self._findings = list[Finding]()

    def add(self, edges: GivenEdges) -> None:
        """Append a batch of edges to the unsorted files on disk."""
        self._findings += edges.findings
        self._rows_read += edges.source.size
        for name, some in edges.kinds.items():
            if some.size:
                self._add(name, edges, slice(None) if len(edges.kinds) == 1 else some)

    def _add(self, name: str, edges: GivenEdges, some: Any) -> None:
        source, target = edges.source[some], edges.target[some]
        weights = None if edges.weights is None else narrowed(edges.weights[some])[0]
        directions = None
        if self._directed:
            leads = self._directed is True or name in self._directed
            directions = np.full(source.size, OUT if leads else 0, dtype=np.uint8)
        entries = both_ways(source, target, weights, directions)
        self._loops += source.size - entries.rows.size // 2
        records = np.empty(entries.rows.size, dtype=self._record)
        for field, values in entries._asdict().items():
            if values is not None:
                records[field] = values
        if self._columns.kind:
            records["kind"] = self._numbers.setdefault(name, len(self._numbers))
        self._counts[name] = self._counts.get(name, 0) + records.size
        self._buckets.add(records)

    def write(self) -> tuple[StoredArrays, list[str], int, list[Finding]]:
        """Write CSR arrays for each edge type; if there are several, also for all merged.

        Returns:
            The arrays by name, the names of the edge types in the order of their arrays, the number
            of undirected edges of all types together, and findings about the edge table.
        """
        names = sorted(self._counts) or [EDGES]
        one_way = kinds_with_direction(self._directed, names)
        by_type = {
            name: self._writer(str(place), self._counts.get(name, 0), name in one_way)
            for place, name in enumerate(names)
        }
        (merged, *_), writers = by_type.values(), list(by_type.values())
        if len(names) > 1:
            merged = self._writer(MERGED, sum(self._counts.values()), bool(one_way))
            writers.append(merged)
        for start, stop, records in self._buckets.parts():
            # Limit the last range, which may extend beyond the last node.
            rows = max(min(stop, self._num_nodes) - start, 0)
            merged.add(records, start, rows)
            if len(names) > 1:
                for name, writer in by_type.items():
                    writer.add(records[records["kind"] == self._numbers[name]], start, rows)
        distinct = sum(writer.distinct_edges for writer in by_type.values())
        odd = oddities(
            num_rows=self._rows_read, loops=self._loops, distinct=distinct, alone=merged.isolated
        )
        arrays = {name: array for writer in writers for name, array in writer.close().items()}
        num_edges = sum(writer.entries for writer in by_type.values()) // 2
        return arrays, names, num_edges, gathered(self._findings) + odd

    def _writer(self, place: str, most: int, directed: bool) -> AdjacencyWriter:
        weighted = self._columns.weight is not None
        return AdjacencyWriter(
            self._folder, place, self._num_nodes, most, weighted=weighted, directed=directed
        )
