"""Graph on disk: its manifest, and memory-mapped arrays that are read only when needed."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.base.errors import CheckpointError, DamagedFileError, DataError
from nodegraft.base.files.array_file import (
    SUFFIX,
    StoredArray,
    flush_to_disk,
    map_array,
    map_checked,
    require_unchanged,
)
from nodegraft.base.files.bundle import Arrays, under
from nodegraft.base.hashing import content_hash
from nodegraft.graph.disk.mapped_keys import WORD, MappedKeys, PackedTexts, Stored
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.matrix import Matrix, is_sparse, mark_mapped
from nodegraft.graph.growth.stacked import Stored as StoredRows
from nodegraft.graph.growth.stacked import parts_of
from nodegraft.graph.keys import NodeKeys
from nodegraft.graph.stores import ArrayCache, EdgesByKind, Recipe

MANIFEST = "manifest.json"
"""Name of the manifest. It is written last: a folder that has one holds a complete graph."""

SCHEMA, KIND = 1, "mapped graph"
LAYERS = "propagated"
"""Folder of cached products with the whole feature matrix; they can be recomputed."""

_ARRAY_NAME = re.compile(r"[a-z]+(\.[a-z0-9]+)+")
_FIELDS = {"kind", "schema", "nodes", "features", "relations", "recipe", "arrays"}


@dataclass(frozen=True)
class Manifest:
    """Description of a mapped graph: everything that is known before an array is read."""

    nodes: int
    """Number of nodes."""

    features: int
    """Number of feature columns."""

    relations: tuple[str, ...]
    """Names of the edge types."""

    recipe: str | None
    """Content hash of the recipe that made the features from tables; None without tables."""

    arrays: Mapping[str, StoredArray]
    """Type, shape and hash of each array, by name; the file has the same name."""

    def write(self, folder: Path) -> None:
        """Write the manifest atomically into the folder of its graph."""
        draft = folder / f".{MANIFEST}"
        draft.write_text(json.dumps(self.to_json(), indent=2) + "\n")
        flush_to_disk(draft)
        draft.replace(folder / MANIFEST)
        flush_to_disk(folder)

    def to_json(self) -> dict[str, Any]:
        """Return the manifest as plain JSON."""
        return {
            "kind": KIND,
            "schema": SCHEMA,
            "nodes": self.nodes,
            "features": self.features,
            "relations": list(self.relations),
            "recipe": self.recipe,
            "arrays": {name: array.to_json() for name, array in self.arrays.items()},
        }

    @classmethod
    def read(cls, folder: Path) -> "Manifest":
        """Read the manifest of a folder; raise ``CheckpointError`` if it is not valid."""
        place = folder / MANIFEST
        try:
            return cls.from_json(json.loads(place.read_text()))
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise CheckpointError(f"{place} describes no graph: {error}.") from error

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> "Manifest":
        """Return the manifest from the result of :meth:`to_json`.

        Raises:
            ValueError: The document is not valid; a wrong type may also raise other built-in
                exceptions.
        """
        if document.get("kind") != KIND or document.get("schema") != SCHEMA:
            raise ValueError(f"it is of another kind or schema than {SCHEMA}")
        if document.keys() != _FIELDS:
            raise ValueError(f"its fields must be {', '.join(sorted(_FIELDS))}")
        nodes, features, recipe = document["nodes"], document["features"], document["recipe"]
        names = document["relations"]
        if not all(type(size) is int and size >= 0 for size in (nodes, features)):
            raise ValueError("nodes and features must be whole numbers")
        if not names or not all(isinstance(name, str) for name in names):
            raise ValueError("relations must be names")
        if not (recipe is None or isinstance(recipe, str)):
            raise ValueError("the recipe is known by its hash")
        strange = [name for name in document["arrays"] if not _ARRAY_NAME.fullmatch(name)]
        if strange:
            raise ValueError(f"{strange[0]!r} is no name of an array")
        arrays = {
            name: StoredArray.from_json(fields) for name, fields in document["arrays"].items()
        }
        return cls(nodes, features, tuple(names), recipe, arrays)

    def files_in(self, folder: Path) -> dict[str, Path]:
        """Return the path of each array in a folder, by name."""
        return {name: folder / f"{name}{SUFFIX}" for name in self.arrays}

    def mapped(self, files: Mapping[str, Path]) -> Arrays:
        """Map all arrays from files; check the hashes of small ones, once per process."""
        return {name: map_checked(files[name], array) for name, array in self.arrays.items()}


MERGED = "merged"
"""Name part of the arrays of all edge types merged, in place of the number of an edge type."""

_INDEX = ("<i4", "<i8")


@dataclass(frozen=True, eq=False)
class MappedStore(EdgesByKind):
    """Graph store of memory-mapped arrays that ``nodegraft build`` wrote.

    The arrays are in a folder or among the objects of a model's store. Opening reads none of them.
    """

    folder: Path
    """Folder of the graph; derived data is cached in it."""

    manifest: Manifest
    """Description of the arrays."""

    files: Mapping[str, Path]
    """Path of each array by name, including the arrays of later additions."""

    keys: NodeKeys
    """Node keys, in row order."""

    feature_matrix: StoredRows
    """One row per node, float16, float32 or CSR."""

    edges: Mapping[str, Adjacency]
    """Edges by edge type."""

    merged: Adjacency
    """Edges of all types merged into one adjacency."""

    recipe: Recipe | None = None
    """Recipe that made the features from tables; None if they were not made from tables."""

    array_cache: ArrayCache = field(default_factory=ArrayCache)
    """Cache of arrays that were derived from the graph."""

    growth: Mapping[str, StoredArray] = field(default_factory=dict)
    """Arrays of later additions to the graph, see :mod:`nodegraft.graph.growth.growth_arrays`."""

    @classmethod
    def open(
        cls,
        folder: Path,
        manifest: Manifest,
        recipe: Recipe | None = None,
        files: Mapping[str, Path] | None = None,
    ) -> "MappedStore":
        """Open the store in a folder. Sizes and types are checked; contents are not, see
        :meth:`verify`.

        Args:
            folder: Folder of the graph.
            manifest: Description of its arrays.
            recipe: Recipe that made the features from tables; None if there is none.
            files: Path of each array by name; None if all arrays are in `folder`.
        """
        files = manifest.files_in(folder) if files is None else files
        try:
            arrays = _Checked(manifest, manifest.mapped(files), files)
            places = [str(place) for place in range(len(manifest.relations))]
            edges = {
                name: arrays.edges(place)
                for name, place in zip(manifest.relations, places, strict=True)
            }
            merged = arrays.edges(MERGED) if len(places) > 1 else next(iter(edges.values()))
            parts = arrays.keys(), arrays.features(), edges, merged
            return cls(folder, manifest, files, *parts, recipe)
        except (KeyError, ValueError) as error:
            raise CheckpointError(f"{folder} does not hold a whole graph: {error}.") from error

    def verify(self) -> None:
        """Read and check all arrays.

        Raises:
            DamagedFileError: The checksum of an array is wrong.
            CheckpointError: The arrays do not form a graph.
        """
        for name, array in self._stored.items():
            require_unchanged(self.files[name], map_array(self.files[name], array), array)
        try:
            for edges in (self.merged, *self.edges.values()):
                edges.check()
            for rows in parts_of(self.feature_matrix):
                if is_sparse(rows):
                    rows.check_format(full_check=True)
        except (DataError, ValueError) as error:
            raise CheckpointError(f"{self.folder} does not hold a graph: {error}") from error

    @property
    def layers_folder(self) -> Path | None:
        """Folder for products with the whole feature matrix; None for a graph that has grown."""
        return None if self.growth else self.folder / LAYERS

    @property
    def _stored(self) -> dict[str, StoredArray]:
        return {**self.manifest.arrays, **self.growth}

    @cached_property
    def fingerprint(self) -> str:
        """Hash that depends on every byte of every array; computed without reading arrays."""
        stored = {name: array.to_json() for name, array in self._stored.items()}
        return content_hash(stored, list(self.edges))

    def merged_edges(self) -> Adjacency:
        """Return the edges of all types as one adjacency."""
        return self.merged


class _Checked:
    """Reader of mapped arrays that raises ``ValueError`` if their types or shapes are wrong."""

    def __init__(self, manifest: Manifest, arrays: Arrays, files: Mapping[str, Path]) -> None:
        self._nodes, self._columns, self._arrays = manifest.nodes, manifest.features, arrays
        self._files = files

    def _origin(self, *names: str) -> str:
        """Return the files and names of some arrays, for error messages."""
        return " or ".join(f"{self._files[name]} ({name})" for name in names)

    def _get(self, name: str, dtypes: tuple[str, ...], *shape: int) -> NDArray[Any]:
        array = self._arrays[name]
        if array.dtype.str not in dtypes or array.shape != shape:
            raise ValueError(f"{name} is {array.dtype.str} of shape {array.shape}")
        return array

    def _index(self, name: str) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the row offsets and columns of a CSR matrix; both have the same integer type."""
        ends = self._get(f"{name}.indptr", _INDEX, self._nodes + 1)
        joined = self._arrays[f"{name}.indices"]
        if (ends[0], ends[-1]) != (0, joined.size):
            raise DamagedFileError(
                self._origin(f"{name}.indptr"), "its first or last offset does not fit the entries"
            )
        return ends, self._get(f"{name}.indices", (ends.dtype.str,), joined.size)

    def keys(self) -> MappedKeys:
        stored: Stored
        order = rows = self._get("keys.rows", _INDEX, self._nodes)
        if "keys.letters" in self._arrays:
            letters = self._arrays["keys.letters"]
            if letters.size < WORD or letters.size % WORD:
                raise ValueError("nothing follows the last key")
            bounds = self._get("keys.bounds", ("<i8",), self._nodes + 1)
            files = self._origin("keys.bounds", "keys.letters")
            if bounds[0] != 0 or not letters.size - 2 * WORD < bounds[-1] <= letters.size - WORD:
                raise DamagedFileError(files, "the first or last offset does not fit the letters")
            letters = self._get("keys.letters", ("|u1",), letters.size)
            stored = PackedTexts(letters, bounds, files)
            order = self._get("keys.order", _INDEX, self._nodes)
        else:
            stored = self._get("keys.integers", ("<i8",), self._nodes)
        names = [name for name in ("keys.rows", "keys.order") if name in self._arrays]
        hashes = self._get("keys.hashes", ("<u8",), self._nodes)
        return MappedKeys(stored, hashes, rows, order, self._origin(*names))

    def features(self) -> Matrix:
        if "features.dense" in self._arrays:
            return self._get("features.dense", ("<f2", "<f4"), self._nodes, self._columns)
        ends, columns = self._index("features")
        numbers = self._get("features.data", ("<f4",), columns.size)
        # The constructor of csr_array would read 64-bit arrays, to see if they fit into 32 bits.
        matrix = csr_array((self._nodes, self._columns), dtype=np.float32)
        matrix.data, matrix.indices, matrix.indptr = numbers, columns, ends
        return mark_mapped(matrix, self._origin("features.indptr", "features.indices"))

    def edges(self, place: str) -> Adjacency:
        name = f"edges.{place}"
        ends, joined = self._index(name)
        own = under(f"{name}.", self._arrays)
        kinds = {"weights": "<f4", "directions": "|u1"}
        more = {
            part: self._get(f"{name}.{part}", (kind,), joined.size) if part in own else None
            for part, kind in kinds.items()
        }
        files = self._origin(f"{name}.indptr", f"{name}.indices")
        return Adjacency(ends, joined, **more, origin=files)
