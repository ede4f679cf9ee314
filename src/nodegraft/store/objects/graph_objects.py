"""Storage of graphs as objects, which are loaded into memory, or memory-mapped if built on disk.

The files of a graph on disk are hard-linked into the objects folder, where they are named by the
hashes in the graph's manifest. The graph's object contains the manifest and lists these files. If a
graph has grown, its object lists the files of the old graph and small arrays with the new rows. Its
field ``diffusion_on`` names the graph on which heat diffusion was computed. If the new rows are
more than a sixteenth of the graph, all arrays are written again.
"""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from numpy.typing import NDArray

from nodegraft.base.errors import CheckpointError, ParameterError
from nodegraft.base.files.array_file import SUFFIX, ArrayWriter, StoredArray
from nodegraft.base.files.bundle import Document, under
from nodegraft.graph.disk.mapped import KIND, LAYERS, Manifest, MappedStore
from nodegraft.graph.graph import Graph
from nodegraft.graph.growth.growth_arrays import grown_store, growth_arrays
from nodegraft.store.objects.derived_cache import DERIVED, UNFINISHED, FolderCache
from nodegraft.store.objects.objects import Objects, convert_write_errors
from nodegraft.tables.disk.save import save_mapped
from nodegraft.tables.features.recipe import FeatureRecipe
from nodegraft.tables.storage import pack_graph, unpack_graph

_RECIPE = "recipe."

BASE = "diffusion_on"
"""JSON field of a graph that has grown: name of the graph object whose heat diffusion is reused."""


class GraphObjects:
    """Reader and writer of the graphs of a store.

    A graph in memory is written array by array. The files of a graph on disk are added as objects
    without being read.

    Args:
        place: Folder of the store.
        objects: Files of the store's versions.
    """

    def __init__(self, place: Path, objects: Objects) -> None:
        self._place, self._objects = place, objects

    def put(self, graph: Graph, parent: Graph | None = None) -> tuple[str, Graph]:
        """Write a graph; return the name of its object, and the stored graph.

        Args:
            parent: Stored graph from which the new graph grew; None if it did not grow. If the
                parent is on disk, only the new rows are written, unless they are more than a
                sixteenth of the graph.
        """
        store = graph._store
        cache = None if parent is None or graph.is_settled else parent._store.array_cache
        base = cache.base.graph if isinstance(cache, FolderCache) else None
        if isinstance(store, MappedStore):
            return self._put_mapped(store, store.growth, store.files, base)
        if parent is None or not isinstance(parent._store, MappedStore):
            graph = graph if base else graph.settled()
            packed, document = pack_graph(graph)
            return self._objects.put(packed, document | _base_entry(base)), graph
        arrays = growth_arrays(parent._store, store)
        with self.work_folder() as folder:
            if arrays is None:
                return self.put(save_mapped(graph, folder))
            folder.mkdir(parents=True)
            stored_arrays = {name: _write(folder, name, array) for name, array in arrays.items()}
            files = {name: folder / f"{name}{SUFFIX}" for name in arrays}
            places = {**parent._store.files, **files}
            name, graph_on_disk = self._put_mapped(parent._store, stored_arrays, places, base)
        # Reuse the caches of the graph in memory, so that the stored graph does not recompute them.
        graph_on_disk.take_over(graph)
        return name, graph_on_disk

    @contextmanager
    def work_folder(self) -> Iterator[Path]:
        """Yield a path for a new folder, which is deleted at the end of the context."""
        place = self._place / DERIVED / f"{UNFINISHED}{uuid4().hex}"
        try:
            with convert_write_errors(place.parent):
                yield place
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def get(self, name: str) -> Graph:
        """Return the graph stored in an object."""
        document = self._objects.document(name)
        if document.get("kind") != KIND:
            return unpack_graph(*self._objects.get(name), f"Object {name}")[0]
        try:
            return Graph.from_store(self._mapped(name, document))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise CheckpointError(f"Object {name} describes no graph: {error}.") from error

    def base_of(self, name: str) -> str | None:
        """Return the name of the graph whose heat diffusion is reused; None if none is reused."""
        base: str | None = self._objects.document(name).get(BASE)
        return base

    def _mapped(self, name: str, document: Document) -> MappedStore:
        manifest, recipe = Manifest.from_json(document["manifest"]), None
        if document["recipe"] is not None:
            arrays, _ = self._objects.get(name, _RECIPE)
            recipe = FeatureRecipe.from_state(under(_RECIPE, arrays), document["recipe"])
        files, place = self._objects.paths(name), self._place / DERIVED / name
        store = MappedStore.open(place, manifest, recipe, files)
        growth = {part: StoredArray.from_json(entry) for part, entry in document["growth"].items()}
        return grown_store(store, growth, files) if growth else store

    def _put_mapped(
        self,
        store: MappedStore,
        growth: Mapping[str, StoredArray],
        files: Mapping[str, Path],
        base: str | None,
    ) -> tuple[str, Graph]:
        require_local(self._objects)
        arrays = {**store.manifest.arrays, **growth}
        parts = {name: self._objects.put_file(files[name], array) for name, array in arrays.items()}
        document: dict[str, Any] = {"kind": KIND, "recipe": None, **_base_entry(base)}
        if isinstance(store.recipe, FeatureRecipe):
            learned, document["recipe"] = store.recipe.state()
            parts |= {_RECIPE + part: self._objects.put_array(learned[part]) for part in learned}
        document["manifest"] = store.manifest.to_json()
        document["growth"] = {name: array.to_json() for name, array in growth.items()}
        name = self._objects.put_list(parts, document)
        if not growth:
            self._take_layers(name, store)
        return name, self.get(name)

    def _take_layers(self, name: str, store: MappedStore) -> None:
        """Hard-link layers of ``nodegraft propagate``; other layers are computed when needed."""
        if store.layers_folder is None or not store.layers_folder.is_dir():
            return
        place = self._place / DERIVED / name / LAYERS
        with suppress(OSError, shutil.Error):
            shutil.copytree(store.layers_folder, place, copy_function=os.link, dirs_exist_ok=True)


def _base_entry(base: str | None) -> Document:
    return {} if base is None else {BASE: base}


def _write(folder: Path, name: str, array: NDArray[Any]) -> StoredArray:
    writer = ArrayWriter(folder / f"{name}{SUFFIX}", array.dtype, array.shape[1:])
    writer.add(array)
    return writer.close()


def require_local(objects: Objects) -> None:
    """Refuse objects that are not on this machine, because a graph could not be memory-mapped."""
    if not objects.are_local:
        raise ParameterError(
            "A graph on disk is memory-mapped, so its store needs its objects on this machine: "
            "omit objects=… (--objects), or give a folder. A graph that fits into memory can be "
            "stored at a URL: read it from its tables."
        )
