"""What came to a graph on disk, written down and read again."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from nodegraft.base.files.array_file import SUFFIX, ArrayWriter, StoredArray
from nodegraft.base.files.bundle import Arrays
from nodegraft.graph.disk.mapped import MappedStore
from nodegraft.graph.edges.relation import Relation
from nodegraft.graph.graph import Graph
from nodegraft.graph.growth.growth_arrays import grown_store, growth_arrays
from nodegraft.tables.disk.save import save_mapped
from tests.tables.disk.test_build import expect_same_edges

NODES, COLUMNS = 400, 5


def drawn_edges(draws: Any, keys: list[Any], count: int, form: str) -> Any:
    def pairs(some: int) -> list[tuple[Any, Any]]:
        places = draws.integers(len(keys), size=(some, 2)).tolist()
        return [(keys[one], keys[other]) for one, other in places]

    if form == "plain":
        return pairs(count)
    return {
        "cites": Relation(pairs(count), directed=True),
        "alike": Relation(pairs(count), weights=draws.random(count) + 0.5),
    }


def drawn_features(draws: Any, count: int, form: str) -> Any:
    dense = draws.standard_normal((count, COLUMNS)).astype(np.float16)
    return (
        dense
        if form == "kinds"
        else csr_array(np.where(dense > 0.5, dense, 0.0).astype(np.float32))
    )


def reopened(before: MappedStore, now: Graph, folder: Path) -> MappedStore | None:
    """What another process sees of a graph that has grown."""
    arrays = growth_arrays(before, now._store)
    if arrays is None:
        return None
    written, files = _written(arrays, folder)
    base = MappedStore.open(before.folder, before.manifest, None, before.files)
    return grown_store(base, written, {**before.files, **files})


def _written(arrays: Arrays, folder: Path) -> tuple[dict[str, StoredArray], dict[str, Path]]:
    folder.mkdir()
    files = {name: folder / f"{name}{SUFFIX}" for name in arrays}
    written = {}
    for name, array in arrays.items():
        writer = ArrayWriter(files[name], array.dtype, array.shape[1:])
        writer.add(array)
        written[name] = writer.close()
    return written, files


@pytest.mark.parametrize("text", [True, False], ids=["text", "integers"])
@pytest.mark.parametrize("form", ["plain", "kinds"])
def test_many_growths_are_those_of_a_graph_in_memory(form: str, text: bool, tmp_path: Path) -> None:
    draws = np.random.default_rng(5)
    keys: list[Any] = [f"n{row}" if text else 7 * row for row in range(NODES + 40)]
    edges = drawn_edges(draws, keys[:NODES], 2000, form)
    memory = Graph(keys[:NODES], drawn_features(draws, NODES, form), edges)
    mapped, kept = save_mapped(memory, tmp_path / "graph"), 0
    for step in range(20):
        known = memory.num_nodes
        new = keys[known : known + int(draws.integers(3))]
        more = drawn_features(draws, len(new), form)
        edges = drawn_edges(draws, keys[: known + len(new)], int(draws.integers(1, 4)), form)
        memory, grown = (graph.grow(new, more, edges) for graph in (memory, mapped))
        assert isinstance(mapped._store, MappedStore)
        store = reopened(mapped._store, grown, tmp_path / str(step))
        if store is None:
            mapped = save_mapped(grown, tmp_path / f"whole {step}")
        else:
            mapped, kept = Graph.from_store(store), kept + 1
        assert mapped.content_hash == memory.content_hash
        expect_same_edges(mapped._adjacency, memory._adjacency)
        drawn = mapped.sampled(50, np.arange(5)), memory.sampled(50, np.arange(5))
        np.testing.assert_array_equal(*drawn)
    assert 0 < kept < 20


def test_a_graph_that_did_not_grow_from_it_has_no_growth(tmp_path: Path) -> None:
    graph = Graph(["a", "b"], np.eye(2), [("a", "b")])
    one, other = (save_mapped(graph, tmp_path / name) for name in ("one", "other"))
    grown = other.grow(["c"], np.ones((1, 2)), [("a", "c")])
    assert isinstance(one._store, MappedStore)
    assert growth_arrays(one._store, grown._store) is None


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("nodes", lambda nodes: nodes - 1),
        ("nodes", lambda nodes: nodes[::-1]),
        ("nodes", lambda nodes: nodes.astype(np.float64)),
        ("nodes", lambda nodes: np.concatenate((nodes[1:], nodes[-1:] + 1))),
        ("indptr", lambda ends: ends + 1),
        ("indptr", lambda ends: ends[::-1]),
        ("indptr", lambda ends: ends[:-1]),
        ("indices", lambda columns: columns[:, None]),
        ("indices", lambda columns: columns[:-1]),
    ],
)
def test_rows_that_do_not_fit_are_told_when_a_graph_is_opened(
    part: str, change: Any, tmp_path: Path
) -> None:
    keys = [f"n{row}" for row in range(NODES)]
    draws = np.random.default_rng(3)
    graph = Graph(keys, draws.standard_normal((NODES, COLUMNS)), pairwise(keys))
    store = save_mapped(graph, tmp_path / "graph")._store
    assert isinstance(store, MappedStore)
    grown = Graph.from_store(store).grow(["new"], np.ones((1, COLUMNS)), [("n3", "new")])
    arrays = growth_arrays(store, grown._store)
    assert arrays is not None
    arrays[f"growth.edges.0.{part}"] = change(arrays[f"growth.edges.0.{part}"])
    written, files = _written(arrays, tmp_path / "growth")
    with pytest.raises(ValueError, match="do not fit the nodes"):
        grown_store(store, written, {**store.files, **files})
