"""Graphs among the objects of a store: in memory, or mapped as they were built."""

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

from nodegraft.base.errors import CheckpointError, ParameterError
from nodegraft.base.files.bundle import under
from nodegraft.graph.graph import Graph
from nodegraft.graph.stores.manifest import KIND, LAYERS, Manifest
from nodegraft.graph.stores.mapped import MappedStore
from nodegraft.store.objects import Document, Objects
from nodegraft.store.shelf import DERIVED
from nodegraft.tables.features.recipe import FeatureRecipe
from nodegraft.tables.storage import pack_graph, unpack_graph

_RECIPE = "recipe."


class GraphObjects:
    """The graphs of a store.

    A graph in memory is written array by array. Of one on disk the files that were built become
    objects as they are, and its manifest becomes the object that names them: no array is read, be
    it to keep or to open the graph.

    Args:
        place: The folder of the store.
        objects: What its versions name.
    """

    def __init__(self, place: Path, objects: Objects) -> None:
        self._place, self._objects = place, objects

    def put(self, graph: Graph) -> str:
        """Keep a graph; the object that holds it.

        Args:
            graph: In memory or on disk.
        """
        if isinstance(graph._store, MappedStore):
            return self._put_mapped(graph._store)
        return self._objects.put(*pack_graph(graph))

    def get(self, name: str) -> Graph:
        """The graph that an object holds.

        Args:
            name: The object.
        """
        document = self._objects.document(name)
        if document.get("kind") != KIND:
            return unpack_graph(*self._objects.get(name), f"Object {name}")[0]
        try:
            return Graph.from_store(self._mapped(name, document))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise CheckpointError(f"Object {name} describes no graph: {error}.") from error

    def _mapped(self, name: str, document: Document) -> MappedStore:
        manifest, recipe = Manifest.from_json(document["manifest"]), None
        if document["recipe"] is not None:
            arrays, _ = self._objects.get(name, _RECIPE)
            recipe = FeatureRecipe.from_state(under(_RECIPE, arrays), document["recipe"])
        files = self._objects.paths(name)
        return MappedStore.open(self._place / DERIVED / name, manifest, recipe, files)

    def _put_mapped(self, store: MappedStore) -> str:
        require_local(self._objects)
        arrays = store.manifest.arrays
        parts = {name: self._objects.put_file(store.files[name], arrays[name]) for name in arrays}
        document: dict[str, Any] = {"kind": KIND, "recipe": None}
        if isinstance(store.recipe, FeatureRecipe):
            learned, document["recipe"] = store.recipe.state()
            parts |= {_RECIPE + part: self._objects.put_array(learned[part]) for part in learned}
        name = self._objects.put_list(parts, {**document, "manifest": store.manifest.to_json()})
        self._take_layers(name, store)
        return name

    def _take_layers(self, name: str, store: MappedStore) -> None:
        """What ``nodegraft propagate`` has worked out; what cannot be linked is made again."""
        if store.layers_folder is None or not store.layers_folder.is_dir():
            return
        place = self._place / DERIVED / name / LAYERS
        with suppress(OSError, shutil.Error):
            shutil.copytree(store.layers_folder, place, copy_function=os.link, dirs_exist_ok=True)


def require_local(objects: Objects) -> None:
    """Refuse to keep a graph on disk where it could not be mapped.

    Args:
        objects: Where the store would keep it.
    """
    if not objects.are_local:
        raise ParameterError(
            "A graph on disk is mapped where it lies, so its store keeps its objects on this "
            "machine: leave objects out (--objects), or name a folder. A graph that fits into "
            "memory can be kept behind a URL: read it from its tables."
        )
