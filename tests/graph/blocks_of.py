"""Graphs that keep layers on disk, and what the layers must be."""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.graph.disk.blocks.encode import Encoded
from nodegraft.graph.disk.blocks.layer_work import RowMap, RowNetwork
from nodegraft.graph.edges.matrix import Matrix
from nodegraft.graph.graph import Graph
from nodegraft.graph.stores import MemoryStore
from tests.graph.reference import random_graph

SMALL = 25_000
"""Bytes of a block: some forty rows."""


@dataclass(frozen=True, eq=False)
class PlacedStore(MemoryStore):
    """In memory, with a place for layers."""

    place: Path | None = None

    @property
    def layers_folder(self) -> Path | None:
        return self.place


def placed(graph: Graph, place: Path) -> Graph:
    store = graph._store
    return Graph.from_store(
        PlacedStore(store.keys, store.feature_matrix, graph._kinds(), place=place)
    )


def wide_graph(kind: str = "float32", nodes: int = 300, seed: int = 0) -> Graph:
    """Of dense features in float32 or float16, or sparse ones."""
    graph = random_graph(kind == "sparse", nodes=nodes, edges=5 * nodes, seed=seed)
    features = graph._features
    return graph if kind == "sparse" else graph.with_features(features.astype(kind))


def bits(layer: Matrix | None) -> list[NDArray[np.generic]]:
    assert layer is not None
    parts = (layer.indptr, layer.indices, layer.data) if isinstance(layer, csr_array) else (layer,)
    return [np.array(part) for part in parts]


def same_bits(one: Matrix | None, other: Matrix | None) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(bits(one), bits(other), strict=True))


def in_memory(graph: Graph, hops: int) -> list[Matrix]:
    """The layers as a graph in memory makes them."""
    return graph.propagated(np.arange(graph.num_nodes), hops)


def network_of(features: int, *widths: int, seed: int = 0) -> RowNetwork:
    """Graph convolutions of these widths, their weights drawn by the seed."""
    draws = np.random.default_rng(seed)

    def numbers(*shape: int) -> NDArray[np.float32]:
        return draws.standard_normal(shape, dtype=np.float32)

    first, *others = (numbers(*pair) for pair in pairwise((features, *widths)))
    inner = [RowMap(numbers(len(weight)), True, weight) for weight in others]
    return RowNetwork((RowMap(weight=first), *inner, RowMap(numbers(widths[-1]))), features)


def rows_in(made: Encoded) -> NDArray[np.float32]:
    """The rows that an encoding left."""
    rows: NDArray[np.float32] = np.load(made.place / "rows.npy")
    return rows
