"""Manifest of a graph on disk: sizes, edge types, and the list of its arrays."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nodegraft.base.errors import CheckpointError
from nodegraft.base.files.array_file import SUFFIX, StoredArray, flush_to_disk, map_checked
from nodegraft.base.files.bundle import Arrays

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
