"""A graph that grew, step by step, is the graph that its whole tables make."""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, vstack

from nodegraft.graph.edges.matrix import Matrix, is_sparse
from nodegraft.graph.edges.relation import Relation
from nodegraft.graph.graph import Graph
from nodegraft.graph.growth import grown as grown_adjacency
from nodegraft.graph.keys import Key
from nodegraft.methods.graft import Graft
from tests.graph.reference import dense, everyone, joined_in, within
from tests.slow_suite import examples

often = settings(max_examples=examples(500, 50), deadline=None, derandomize=True)


@pytest.fixture(scope="module", autouse=True)
def no_growth_is_small() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grown_adjacency, "FEW_NODES", 10**12)
        patch.setattr(grown_adjacency, "FEW_EDGES", 10**12)
        yield


NODES, CLASSES = 300, {"a": range(12), "b": range(12, 17), "c": range(17, 40)}

Pair = tuple[int, int, float]


@dataclass(frozen=True)
class Tables:
    """What a graph is made of, as lists."""

    features: Matrix
    edges: dict[str, list[Pair]]
    typed: bool
    text: bool

    def key(self, row: int) -> Key:
        return f"n{row}" if self.text else 7 * row

    def keys(self, rows: range) -> list[Key]:
        return [self.key(row) for row in rows]

    def relations(self, edges: dict[str, list[Pair]]) -> dict[str, Relation]:
        """Kinds of their names: with weights, or with a direction, or plain."""
        return {
            kind: Relation(
                [(self.key(a), self.key(b)) for a, b, _ in some],
                [weight for *_, weight in some] if kind == "heavy" else None,
                directed="leading" in kind,
            )
            for kind, some in edges.items()
        }

    def graph(self) -> Graph:
        keys = self.keys(range(self.features.shape[0]))
        return Graph(keys, self.features, self.relations(self.edges))


def drawn_edges(draws: np.random.Generator, nodes: int, count: int) -> list[Pair]:
    ends = draws.integers(nodes, size=(count, 2)).tolist()
    return [(a, b, float(w)) for (a, b), w in zip(ends, draws.uniform(0.2, 3, count), strict=True)]


def drawn_features(draws: np.random.Generator, count: int, sparse: bool) -> Matrix:
    values = (draws.random((count, 9)) * (draws.random((count, 9)) < 0.5)).astype(np.float32)
    return csr_array(values) if sparse else values


def first_tables(typed: bool, sparse: bool) -> Tables:
    draws = np.random.default_rng(2 * typed + sparse)
    kinds = ("plain", "heavy", "leading", "also leading") if typed else ("edges",)
    edges = {kind: drawn_edges(draws, NODES, 200 // len(kinds)) for kind in kinds}
    return Tables(drawn_features(draws, NODES, sparse), edges, typed, text=typed != sparse)


def more(tables: Tables, draws: np.random.Generator) -> tuple[Tables, Tables]:
    """With a few nodes and edges more, some of them told before; and what came alone."""
    before, added = tables.features.shape[0], int(draws.integers(4))
    rows = drawn_features(draws, added, is_sparse(tables.features))
    both = vstack if is_sparse(rows) else np.concatenate
    new = {
        kind: [
            *drawn_edges(draws, before + added, int(draws.integers(4))),
            *(some[int(place)] for place in draws.integers(len(some), size=draws.integers(2))),
        ]
        for kind, some in tables.edges.items()
        if draws.random() < 0.8
    }
    edges = {kind: some + new.get(kind, []) for kind, some in tables.edges.items()}
    whole = replace(tables, features=both((tables.features, rows)), edges=edges)
    return whole, replace(tables, features=rows, edges=new)


def grown(graph: Graph, whole: Tables, new: Tables) -> Graph:
    keys = whole.keys(range(graph.num_nodes, whole.features.shape[0]))
    return graph.grow(keys, new.features, new.relations(new.edges))


def fitted(tables: Tables) -> Graft:
    labels = {name: [tables.keys(range(40))[row] for row in rows] for name, rows in CLASSES.items()}
    return Graft().fit(tables.graph(), labels)


FIRST = [first_tables(typed, sparse) for typed in (False, True) for sparse in (False, True)]
FITTED = [fitted(tables) for tables in FIRST]


@often
@given(st.sampled_from(range(len(FIRST))), st.integers(0, 2**32))
def test_growing_is_building_anew(place: int, seed: int) -> None:
    """Edges are equal. Rows, and the scores of a model that was asked on the way, are within 1e-6:
    that is what a graph that has grown promises, not equal bits. Heat is computed again here, as
    after a large growth; what a small one keeps is in ``test_grown_diffusion.py``."""
    draws, tables = np.random.default_rng(seed), FIRST[place]
    model, fresh = deepcopy(FITTED[place]), deepcopy(FITTED[place])
    graph = tables.graph()
    for _ in range(draws.integers(1, 5)):
        if draws.random() < 0.8:
            asked = draws.choice(graph.num_nodes, int(draws.integers(1, graph.num_nodes)))
            model.score_rows(graph, asked)
        tables, new = more(tables, draws)
        graph = grown(graph, tables, new)
        if draws.random() < 0.3:
            graph.refresh(int(draws.integers(50)))
    rebuilt, all_nodes = tables.graph(), everyone(graph)
    for rows in (draws.choice(graph.num_nodes, 20), all_nodes):
        scores = model.score_rows(graph, rows)
        np.testing.assert_allclose(scores, fresh.score_rows(rebuilt, rows), rtol=0, atol=1e-6)
    for ours, theirs in zip(
        graph.propagated(all_nodes, 2), rebuilt.propagated(all_nodes, 2), strict=True
    ):
        np.testing.assert_allclose(dense(ours), dense(theirs), rtol=0, atol=1e-6)
    assert np.array_equal(graph._adjacency.indices, rebuilt._adjacency.indices)
    assert graph.num_edges == rebuilt.num_edges
    assert graph.content_hash == rebuilt.content_hash


@often
@given(st.sampled_from(range(len(FIRST))), st.integers(0, 2**32), st.integers(2, 4))
def test_what_is_made_anew_is_what_lies_within_the_hops(place: int, seed: int, hops: int) -> None:
    draws, tables = np.random.default_rng(seed), FIRST[place]
    graph = tables.graph()
    for _ in range(hops + 1):
        graph.propagated(everyone(graph), hops)
    tables, new = more(tables, draws)
    larger = grown(graph, tables, new)
    ends = {end for some in new.edges.values() for a, b, _ in some if a != b for end in (a, b)}
    changed = np.union1d(everyone(larger)[graph.num_nodes :], np.array(sorted(ends), dtype=int))
    # Of sparse features the last layer is not kept.
    kept = range(1, hops + 1 - is_sparse(tables.features))
    near = [within(joined_in(larger), changed, away).size for away in kept]
    assert larger.refresh(10**6) == sum(near)
    assert larger.refresh(10**6) == 0
