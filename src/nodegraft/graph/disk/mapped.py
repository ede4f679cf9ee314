"""A graph on disk: its manifest, and memory-mapped arrays that are read only when needed."""

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
"""Written last: a folder that has one holds a whole graph."""

SCHEMA, KIND = 1, "mapped graph"
LAYERS = "propagated"
"""The folder of products with the whole feature matrix, which can be made again."""

_ARRAY_NAME = re.compile(r"[a-z]+(\.[a-z0-9]+)+")
_FIELDS = {"kind", "schema", "nodes", "features", "relations", "recipe", "arrays"}


@dataclass(frozen=True)
class Manifest:
    """All that is known of a mapped graph before one of its arrays is read."""

    nodes: int
    """How many nodes."""

    features: int
    """How many columns a feature row has."""

    relations: tuple[str, ...]
    """Names of the edge types."""

    recipe: str | None
    """The content hash of the recipe of its features, if they were made from tables."""

    arrays: Mapping[str, StoredArray]
    """The arrays by name, each in a file that is called so."""

    def write(self, folder: Path) -> None:
        """Put it into the folder of its graph, whole or not at all."""
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
        """Read the manifest of a folder; refuse one that :meth:`write` would not write."""
        place = folder / MANIFEST
        try:
            return cls.from_json(json.loads(place.read_text()))
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise CheckpointError(f"{place} describes no graph: {error}.") from error

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> "Manifest":
        """Return the manifest from what :meth:`to_json` gave; anything else is an error of Python's
        own.
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
        """Return the file of each array."""
        return {name: folder / f"{name}{SUFFIX}" for name in self.arrays}

    def mapped(self, files: Mapping[str, Path]) -> Arrays:
        """Map all arrays; small ones are compared with their hashes, once per process."""
        return {name: map_checked(files[name], array) for name, array in self.arrays.items()}


MERGED = "merged"
"""Stands for the place of a kind where the edges of all kinds are one."""

_INDEX = ("<i4", "<i8")


@dataclass(frozen=True, eq=False)
class MappedStore(EdgesByKind):
    """Arrays that ``nodegraft build`` wrote, in a folder or among the objects of a model's store.
    Opening it reads none of them."""

    folder: Path
    """Where what is worked out from them may lie."""

    manifest: Manifest
    """What they are."""

    files: Mapping[str, Path]
    """Where each of them lies, and each of what came later."""

    keys: NodeKeys
    """The nodes, in row order."""

    feature_matrix: StoredRows
    """One row per node, float16, float32 or CSR."""

    edges: Mapping[str, Adjacency]
    """Who is joined to whom, by the name of each kind of edges."""

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
            files: Where its arrays lie; None for the folder.
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
        """Read everything and refuse what is not as it was written, or is no graph."""
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
        """Depends on every byte of every array, of which none is read."""
        stored = {name: array.to_json() for name, array in self._stored.items()}
        return content_hash(stored, list(self.edges))

    def merged_edges(self) -> Adjacency:
        """Return the edges of all types as one adjacency."""
        return self.merged


class _Checked:
    """Arrays whose types and shapes fit each other, or a ``ValueError``."""

    def __init__(self, manifest: Manifest, arrays: Arrays, files: Mapping[str, Path]) -> None:
        self._nodes, self._columns, self._arrays = manifest.nodes, manifest.features, arrays
        self._files = files

    def _origin(self, *names: str) -> str:
        """Return the files of some arrays, for messages."""
        return " or ".join(f"{self._files[name]} ({name})" for name in names)

    def _get(self, name: str, dtypes: tuple[str, ...], *shape: int) -> NDArray[Any]:
        array = self._arrays[name]
        if array.dtype.str not in dtypes or array.shape != shape:
            raise ValueError(f"{name} is {array.dtype.str} of shape {array.shape}")
        return array

    def _index(self, name: str) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return row ends and columns of a CSR matrix, of one type."""
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
        # Its constructor would read arrays of 64-bit numbers, to see if they fit into 32.
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
