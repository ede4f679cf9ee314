"""A step of a build: feature rows, encoded batch by batch."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nodegraft.base.events import Listener
from nodegraft.base.files.array_file import SUFFIX, ArrayWriter, StoredArray, map_array
from nodegraft.graph.edges.matrix import IntArray, Matrix, index_type, is_sparse
from nodegraft.graph.keys import KeyArray, NodeKeys
from nodegraft.graph.stores.memory import stored_features
from nodegraft.tables.columns import SourceTable
from nodegraft.tables.data_report import Finding, gathered
from nodegraft.tables.disk.folder import BuildFolder
from nodegraft.tables.features.recipe import FeatureRecipe

_BLOCK = 1 << 20


class FeaturesWritten(NamedTuple):
    """What became of the columns of features."""

    arrays: dict[str, StoredArray]
    """The feature matrix."""

    findings: list[Finding]
    """What is odd about the columns."""


def write_features(
    folder: BuildFolder,
    table: SourceTable,
    recipe: FeatureRecipe,
    keys: NodeKeys,
    listener: Listener,
) -> FeaturesWritten:
    """Write a row of features for each row of a table.

    Args:
        folder: Where to.
        table: The table of nodes.
        recipe: How its columns become features.
        keys: The key of each row.
        listener: Is told how far it is.
    """
    findings, writer, done = list[Finding](), FeatureWriter(folder), 0
    for batch in table.batches(*recipe.columns):
        asked: Any = _KeysFrom(keys, done)
        encoded = recipe.encode(batch, asked)
        findings += encoded.findings
        writer.add(stored_features(encoded.matrix))
        done += len(batch)
        listener.step("features", done, len(table))
    return FeaturesWritten(writer.close(), gathered(findings))


class FeatureWriter:
    """Writes feature rows as they come, dense or sparse as the first of them are.

    Args:
        folder: Where to.
    """

    def __init__(self, folder: BuildFolder) -> None:
        self._folder = folder
        self._writer: _DenseWriter | _SparseWriter | None = None

    def add(self, rows: Matrix) -> None:
        """Write more rows.

        Args:
            rows: As a graph stores them.
        """
        if self._writer is None:
            kind = _SparseWriter if is_sparse(rows) else _DenseWriter
            self._writer = kind(self._folder, rows)
        self._writer.add(rows)

    def close(self) -> dict[str, StoredArray]:
        """All arrays, by their names."""
        return {} if self._writer is None else self._writer.close()


class _KeysFrom:
    """The keys behind a row: encoders name a few of a batch, by their places in it."""

    def __init__(self, keys: NodeKeys, start: int) -> None:
        self._keys, self._start = keys, start

    def __getitem__(self, places: IntArray) -> KeyArray:
        return self._keys.array_at(places + self._start)


class _DenseWriter:
    def __init__(self, folder: BuildFolder, rows: Matrix) -> None:
        self._rows = folder.writer("features.dense", rows.dtype, (rows.shape[1],))

    def add(self, rows: Matrix) -> None:
        self._rows.add(rows)

    def close(self) -> dict[str, StoredArray]:
        return {"features.dense": self._rows.close()}


class _SparseWriter:
    """CSR. Its two arrays of places must be of one type, which is known when all has come."""

    def __init__(self, folder: BuildFolder, rows: Matrix) -> None:
        self._folder, self._width = folder, rows.shape[1]
        self._data = folder.writer("features.data", np.float32)
        work = folder.work("places")
        work.mkdir(parents=True)
        self._ends_file, self._columns_file = work / "indptr.npy", work / "indices.npy"
        self._ends = ArrayWriter(self._ends_file, np.int64)
        self._columns = ArrayWriter(self._columns_file, np.int32)
        self._ends.add(np.zeros(1, dtype=np.int64))

    def add(self, rows: Any) -> None:
        self._ends.add(rows.indptr[1:].astype(np.int64) + self._data.length)
        self._columns.add(rows.indices)
        self._data.add(rows.data)

    def close(self) -> dict[str, StoredArray]:
        kind = index_type(max(self._ends.length - 1, self._width, self._data.length))
        ends = self._recast("features.indptr", self._ends_file, self._ends.close(), kind)
        columns = self._recast("features.indices", self._columns_file, self._columns.close(), kind)
        return {
            "features.data": self._data.close(),
            "features.indices": columns,
            "features.indptr": ends,
        }

    def _recast(self, name: str, file: Path, stored: StoredArray, kind: type) -> StoredArray:
        final = self._folder.place / f"{name}{SUFFIX}"
        if np.dtype(stored.dtype) == kind:
            file.replace(final)
            return stored
        writer, numbers = self._folder.writer(name, kind), map_array(file, stored)
        for start in range(0, numbers.size, _BLOCK):
            writer.add(numbers[start : start + _BLOCK])
        return writer.close()
