"""Encode the features of a graph in batches and write them to disk."""

from pathlib import Path
from typing import Any

import numpy as np

from nodegraft.base.events import Listener
from nodegraft.base.files.array_file import SUFFIX, ArrayWriter, StoredArray, map_array
from nodegraft.graph.edges.matrix import IntArray, Matrix, index_type, is_sparse
from nodegraft.graph.keys import KeyArray, NodeKeys
from nodegraft.graph.stores import stored_features
from nodegraft.tables.columns import SourceTable
from nodegraft.tables.data_report import Finding, gathered
from nodegraft.tables.disk.folder import BuildFolder, StoredArrays
from nodegraft.tables.features.recipe import FeatureRecipe

_BLOCK = 1 << 20


def write_features(
    folder: BuildFolder,
    table: SourceTable,
    recipe: FeatureRecipe,
    keys: NodeKeys,
    listener: Listener,
) -> tuple[StoredArrays, list[Finding]]:
    """Encode and write the features of each node; return the written arrays and the findings."""
    findings, writer, number = list[Finding](), FeatureWriter(folder), 0
    for batch in table.batches(*recipe.columns):
        batch_keys: Any = _KeysFrom(keys, number)
        encoded = recipe.encode(batch, batch_keys)
        findings += encoded.findings
        writer.add(stored_features(encoded.matrix))
        number += len(batch)
        listener.step("features", number, len(table))
    return writer.close(), gathered(findings)


class _KeysFrom:
    """Array-like access to the node keys of a batch: index 0 is the first row of the batch."""

    def __init__(self, keys: NodeKeys, start: int) -> None:
        self._keys, self._start = keys, start

    def __getitem__(self, places: IntArray) -> KeyArray:
        return self._keys.array_at(places + self._start)


class FeatureWriter:
    """Writer of feature rows; the first batch decides whether features are dense or sparse.

    ``indptr`` and ``indices`` of a CSR matrix must have the same integer type, which is known only
    after the last batch. Therefore both are first written to a folder for temporary files.

    Args:
        folder: Folder of the graph build.
    """

    def __init__(self, folder: BuildFolder) -> None:
        self._folder = folder
        self._parts: dict[str, ArrayWriter] = {}
        self._width = 0

    def add(self, rows: Matrix) -> None:
        """Append a batch of feature rows."""
        if not self._parts:
            self._begin(rows)
        if not is_sparse(rows):
            self._parts["dense"].add(rows)
            return
        self._parts["indptr"].add(rows.indptr[1:].astype(np.int64) + self._parts["data"].length)
        self._parts["indices"].add(rows.indices)
        self._parts["data"].add(rows.data)

    def _begin(self, rows: Matrix) -> None:
        folder, self._width = self._folder, int(rows.shape[1])
        if not is_sparse(rows):
            self._parts["dense"] = folder.writer("features.dense", rows.dtype, (self._width,))
            return
        self._work = folder.work("places")
        self._work.mkdir(parents=True)
        self._parts = {
            "data": folder.writer("features.data", np.float32),
            "indices": ArrayWriter(self._work / "indices.npy", np.int32),
            "indptr": ArrayWriter(self._work / "indptr.npy", np.int64),
        }
        self._parts["indptr"].add(np.zeros(1, dtype=np.int64))

    def close(self) -> StoredArrays:
        """Close the array files; return the written arrays by name."""
        arrays = {f"features.{part}": writer.close() for part, writer in self._parts.items()}
        if "indptr" in self._parts:
            lengths = {part: writer.length for part, writer in self._parts.items()}
            kind = index_type(max(lengths["indptr"] - 1, self._width, lengths["data"]))
            for part in ("indices", "indptr"):
                name, file = f"features.{part}", self._work / f"{part}.npy"
                arrays[name] = self._recast(name, file, arrays[name], kind)
        return arrays

    def _recast(self, name: str, file: Path, stored: StoredArray, kind: type) -> StoredArray:
        if np.dtype(stored.dtype) == kind:
            file.replace(self._folder.place / f"{name}{SUFFIX}")
            return stored
        writer, numbers = self._folder.writer(name, kind), map_array(file, stored)
        for start in range(0, numbers.size, _BLOCK):
            writer.add(numbers[start : start + _BLOCK])
        return writer.close()
