"""The edges of one kind, written range of rows by range of rows."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from nodegraft.base.files.array_file import StoredArray
from nodegraft.graph.edges.entries import OUT, Entries, compressed
from nodegraft.graph.edges.matrix import index_type
from nodegraft.tables.disk.buckets import Records
from nodegraft.tables.disk.folder import BuildFolder


class AdjacencyWriter:
    """Writes ``edges.PLACE.indptr``, ``indices`` and, where they exist, weights and directions.

    Args:
        folder: Where to.
        place: The place of the kind among all.
        num_nodes: How many nodes there are.
        most: So many entries will come at most.
        weighted: Whether edges have weights.
        directed: Whether they have a direction.
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
        kinds: dict[str, Any] = {"indptr": index, "indices": index}
        if weighted:
            kinds["weights"] = np.float32
        if directed:
            kinds["directions"] = np.uint8
        self._name, self._num_nodes = f"edges.{place}.", num_nodes
        self._parts = {part: folder.writer(self._name + part, kind) for part, kind in kinds.items()}
        self._parts["indptr"].add(np.zeros(1, dtype=np.int64))
        self._leading = 0
        self.alone = 0
        """How many nodes have no edge."""

    @property
    def entries(self) -> int:
        """How many entries there are by now, two for each edge."""
        return self._parts["indices"].length

    def add(self, records: Records | Mapping[str, Any], start: int, rows: int) -> None:
        """Write the next rows.

        Args:
            records: Their entries by field, in any order, with repeats.
            start: The first row.
            rows: How many there are.
        """
        given = {part: records[part] for part in ("weights", "directions") if part in self._parts}
        entries = Entries(records["rows"] - start, records["columns"], **given)
        ends, columns, weights, directions = compressed(entries, rows, self._num_nodes)
        self.alone += int((np.diff(ends) == 0).sum())
        self._parts["indptr"].add(ends[1:].astype(np.int64) + self.entries)
        self._parts["indices"].add(columns)
        if weights is not None:
            self._parts["weights"].add(weights)
        if directions is not None:
            self._parts["directions"].add(directions)
            self._leading += int(((directions & OUT) > 0).sum())

    @property
    def kept(self) -> int:
        """How many edges tell all there is: with a direction both ways of a pair are two."""
        return self._leading if "directions" in self._parts else self.entries // 2

    def close(self) -> dict[str, StoredArray]:
        """All arrays, by their names."""
        return {self._name + part: writer.close() for part, writer in self._parts.items()}
