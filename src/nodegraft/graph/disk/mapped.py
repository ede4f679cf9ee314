"""Graph on disk: a manifest, and memory-mapped arrays that are read only when they are needed."""

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
from nodegraft.graph.stores import ArrayCache, GraphStore, Recipe

MANIFEST = "manifest.json"
"""File name of the manifest, which is written last: a folder with it contains a complete graph."""

SCHEMA, KIND = 1, "mapped graph"
LAYERS = "propagated"
"""Name of the folder with cached propagated features, which can be recomputed from the graph."""

_ARRAY_NAME = re.compile(r"[a-z]+(\.[a-z0-9]+)+")
_FIELDS = {"kind", "schema", "nodes", "features", "relations", "recipe", "arrays"}


@dataclass(frozen=True)
class Manifest:
    """Description of a graph on disk: sizes, edge types and the list of its arrays."""

    nodes: int
    """Number of nodes of the graph."""

    features: int
    """Number of feature columns."""

    relations: tuple[str, ...]
    """Names of the edge types."""

    recipe: str | None
    """Content hash of the feature recipe; None if the features were not made from tables."""

    arrays: Mapping[str, StoredArray]
    """Number type, shape and hash of each array, by name; an array's file has the same name."""

    def write(self, folder: Path) -> None:
        """Write the manifest atomically to the folder of its graph."""
        draft = folder / f".{MANIFEST}"
        draft.write_text(json.dumps(self.to_json(), indent=2) + "\n")
        flush_to_disk(draft)
        draft.replace(folder / MANIFEST)
        flush_to_disk(folder)

    def to_json(self) -> dict[str, Any]:
        """Return the manifest as a JSON document."""
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
        """Read the manifest in a folder; raise ``CheckpointError`` if it is not valid."""
        place = folder / MANIFEST
        try:
            return cls.from_json(json.loads(place.read_text()))
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise CheckpointError(f"{place} describes no graph: {error}.") from error

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> "Manifest":
        """Create a manifest from the result of :meth:`to_json`.

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
        """Return the path of each array's file in a folder, by array name."""
        return {name: folder / f"{name}{SUFFIX}" for name in self.arrays}

    def mapped(self, files: Mapping[str, Path]) -> Arrays:
        """Memory-map all arrays from their files.

        The hash of a small array is verified once per process.
        """
        return {name: map_checked(files[name], array) for name, array in self.arrays.items()}


MERGED = "merged"
"""In array names, this text stands for all edge types merged, in place of an edge type's number."""

_INDEX = ("<i4", "<i8")


@dataclass(frozen=True, eq=False)
class MappedStore(GraphStore):
    """Graph store whose arrays, written by ``nodegraft build``, are memory-mapped.

    The array files are in a folder of their own or among the objects of a model's store. Opening
    the store reads only small arrays, to verify their checksums.
    """

    folder: Path
    """Folder of the graph, where derived data is cached, too."""

    manifest: Manifest
    """Manifest with the sizes of the graph and a description of its arrays."""

    files: Mapping[str, Path]
    """Path of each array's file by array name, including arrays with later additions."""

    keys: NodeKeys
    """Node keys, in row order."""

    feature_matrix: StoredRows
    """Feature matrix with one row per node: float16, float32 or CSR."""

    edges: Mapping[str, Adjacency]
    """Mapping from edge type to its edges."""

    merged: Adjacency
    """Edges of all types, merged into one adjacency."""

    recipe: Recipe | None = None
    """Recipe that made the features from tables; None if there is no recipe."""

    array_cache: ArrayCache = field(default_factory=ArrayCache)
    """Cache on disk of arrays that were derived from the graph."""

    growth: Mapping[str, StoredArray] = field(default_factory=dict)
    """Arrays of later additions, see :mod:`nodegraft.graph.growth.growth_arrays`."""

    @classmethod
    def open(
        cls,
        folder: Path,
        manifest: Manifest,
        recipe: Recipe | None = None,
        files: Mapping[str, Path] | None = None,
    ) -> "MappedStore":
        """Open a graph on disk; check sizes and types of its arrays.

        Contents are checked by :meth:`verify`.

        Args:
            recipe: Recipe that made the features from tables; None if there is none.
            files: Path of each array's file by array name; None if all files are in `folder`.
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
        """Read all arrays; raise an error if a checksum is wrong or if the content is not valid.

        Raises:
            DamagedFileError: The checksum of an array is wrong.
            CheckpointError: The arrays do not form a valid graph.
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
        """Folder for propagated features; None if nodes or edges were added to the graph later."""
        return None if self.growth else self.folder / LAYERS

    @property
    def _stored(self) -> dict[str, StoredArray]:
        return {**self.manifest.arrays, **self.growth}

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the checksums of all arrays; no array is read for it."""
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
        """Return the file paths and names of some arrays as text for error messages."""
        return " or ".join(f"{self._files[name]} ({name})" for name in names)

    def _get(self, name: str, dtypes: tuple[str, ...], *shape: int) -> NDArray[Any]:
        array = self._arrays[name]
        if array.dtype.str not in dtypes or array.shape != shape:
            raise ValueError(f"{name} is {array.dtype.str} of shape {array.shape}")
        return array

    def _index(self, name: str) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return row offsets and column numbers of a CSR matrix, if they fit together."""
        ends = self._get(f"{name}.indptr", _INDEX, self._nodes + 1)
        indices = self._arrays[f"{name}.indices"]
        if (ends[0], ends[-1]) != (0, indices.size):
            raise DamagedFileError(
                self._origin(f"{name}.indptr"), "its first or last offset does not fit the entries"
            )
        return ends, self._get(f"{name}.indices", (ends.dtype.str,), indices.size)

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
        # Set the arrays afterwards, because the constructor of csr_array would read 64-bit arrays
        # completely to see if they fit into 32 bits.
        matrix = csr_array((self._nodes, self._columns), dtype=np.float32)
        matrix.data, matrix.indices, matrix.indptr = numbers, columns, ends
        return mark_mapped(matrix, self._origin("features.indptr", "features.indices"))

    def edges(self, place: str) -> Adjacency:
        name = f"edges.{place}"
        ends, indices = self._index(name)
        own = under(f"{name}.", self._arrays)
        kinds = {"weights": "<f4", "directions": "|u1"}
        more = {
            part: self._get(f"{name}.{part}", (kind,), indices.size) if part in own else None
            for part, kind in kinds.items()
        }
        files = self._origin(f"{name}.indptr", f"{name}.indices")
        return Adjacency(ends, indices, **more, origin=files)
