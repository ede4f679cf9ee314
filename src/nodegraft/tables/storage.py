"""Save graphs and their feature recipe as directories of arrays and JSON, and load them."""

from pathlib import Path
from typing import Any

from nodegraft.base.errors import CheckpointError, DataError, ParameterError
from nodegraft.base.files.bundle import Arrays, prefixed, read_bundle, under, write_bundle
from nodegraft.graph.disk.mapped import MANIFEST, Manifest, MappedStore
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.matrix import Matrix, csr_arrays, from_csr_arrays, is_sparse
from nodegraft.graph.graph import Graph
from nodegraft.graph.growth.grown import GrownAdjacency
from nodegraft.graph.growth.growth_arrays import apart_arrays, edge_arrays, with_apart
from nodegraft.graph.keys import NodeKeys, pack_keys, unpack_keys
from nodegraft.tables.features.recipe import FeatureRecipe

SCHEMA = 3

RECIPE = "recipe"
"""Name of the subfolder with the feature recipe, in the folder of a graph on disk."""

APART = "apart."
"""Name prefix of arrays with the changed rows of an adjacency."""


def save_graph(graph: Graph, directory: str | Path, document: dict[str, Any] | None = None) -> None:
    """Write a graph to a new directory.

    Args:
        graph: Graph to save.
        directory: Path of the new directory, which must not exist.
        document: JSON document of the caller that is stored with the graph; None for no document.
    """
    write_bundle(Path(directory), *pack_graph(graph, document))


def pack_graph(
    graph: Graph, document: dict[str, Any] | None = None
) -> tuple[Arrays, dict[str, Any]]:
    """Convert a graph and a JSON document of the caller to arrays and JSON."""
    if not isinstance(graph, Graph):
        raise ParameterError(f"A whole nodegraft.Graph is needed, not a {type(graph).__name__}.")
    store, recipe = graph._store, graph.recipe
    arrays: Arrays = {
        **_pack_edges(graph),
        **_pack_features(graph._features),
        **prefixed("keys.", pack_keys(store.keys.values())),
    }
    header: dict[str, Any] = {
        "schema": SCHEMA,
        "kind": "graph",
        "num_features": graph.num_features,
        "relations": list(graph.relations),
        "recipe": None,
        "document": document or {},
    }
    if isinstance(recipe, FeatureRecipe):
        own, header["recipe"] = recipe.state()
        arrays |= prefixed("recipe.", own)
    return arrays, header


def load_graph(directory: str | Path, *, verify: bool = False) -> Graph:
    """Load a graph and its recipe from a directory.

    Args:
        directory: Directory that :func:`save_graph` or :func:`nodegraft.build_graph` wrote. A graph
            of :func:`nodegraft.build_graph` stays on disk: only data that is needed is read.
        verify: Whether to read a graph on disk completely and raise an error if it is damaged. Use
            it for a folder that comes from another machine or person.
    """
    if (Path(directory) / MANIFEST).exists():
        return _mapped_graph(Path(directory), verify)
    return load_graph_and_document(directory)[0]


def _mapped_graph(folder: Path, verify: bool) -> Graph:
    manifest, recipe = Manifest.read(folder), None
    if manifest.recipe is not None:
        recipe = FeatureRecipe.from_state(*read_bundle(folder / RECIPE))
        if recipe.content_hash != manifest.recipe or recipe.num_features != manifest.features:
            raise CheckpointError(f"{folder / RECIPE} is not the recipe of this graph's features.")
    store = MappedStore.open(folder, manifest, recipe)
    if verify:
        store.verify()
    return Graph.from_store(store)


def load_graph_and_document(directory: str | Path) -> tuple[Graph, dict[str, Any]]:
    """Load a graph, and the caller's JSON document that was saved with it, from a directory."""
    return unpack_graph(*read_bundle(Path(directory)), str(directory))


def unpack_graph(
    arrays: Arrays, header: dict[str, Any], where: str
) -> tuple[Graph, dict[str, Any]]:
    """Convert the result of :func:`pack_graph` back to the graph and the caller's JSON document."""
    if header.get("kind") != "graph" or header.get("schema") != SCHEMA:
        raise CheckpointError(f"{where} does not hold a graph of schema {SCHEMA}.")
    try:
        keys = NodeKeys(unpack_keys(under("keys.", arrays)))
        edges = {
            str(name): _unpack_edges(under(f"edges.{place}.", arrays), len(keys))
            for place, name in enumerate(header["relations"])
        }
        features = _unpack_features(arrays, header["num_features"])
        recipe = None
        if header["recipe"] is not None:
            recipe = FeatureRecipe.from_state(under("recipe.", arrays), header["recipe"])
        document: dict[str, Any] = header["document"]
        return Graph.from_parts(keys, features, edges, recipe), document
    except (KeyError, TypeError, ValueError, DataError) as error:
        raise CheckpointError(f"{where} does not hold a whole graph: {error}") from error


def _pack_edges(graph: Graph) -> Arrays:
    arrays: Arrays = {}
    for place, name in enumerate(graph.relations):
        edges = graph._store.adjacency(name)
        if isinstance(edges, GrownAdjacency):
            arrays |= prefixed(f"edges.{place}.{APART}", apart_arrays(edges))
            edges = edges.base
        arrays |= prefixed(f"edges.{place}.", edge_arrays(edges))
    return arrays


def _unpack_edges(arrays: Arrays, num_nodes: int) -> Adjacency:
    weights, directions = arrays.get("weights"), arrays.get("directions")
    edges = Adjacency(arrays["indptr"], arrays["indices"], weights, directions)
    edges.check()
    apart = under(APART, arrays)
    return with_apart(edges, apart, num_nodes) if apart else edges


def _pack_features(features: Matrix) -> Arrays:
    if is_sparse(features):
        return prefixed("features.", csr_arrays(features))
    return {"features": features}


def _unpack_features(arrays: Arrays, columns: int) -> Matrix:
    if "features" in arrays:
        return arrays["features"]
    return from_csr_arrays(arrays, columns, "features.")
