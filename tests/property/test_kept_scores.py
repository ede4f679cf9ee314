"""Scores of before a change and after it: what is kept and what is compared anew."""

from copy import copy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.graph import Graph
from nodegraft.methods.graft import Graft
from nodegraft.methods.graft.classes import Floats
from nodegraft.methods.graft.scoring import Scoring
from nodegraft.store.objects.derived_cache import FolderCache
from tests.graph.reference import random_graph
from tests.slow_suite import examples

FIRST = {"a": list(range(12)), "b": list(range(12, 24)), "c": [24, 25]}
TEACHES = range(26, 60)
NODES, BLOCK = 90, 32


class SmallBlocks(Graft):
    """Three blocks, the last one shorter."""

    block_rows: ClassVar[int] = BLOCK


GRAPHS = {sparse: random_graph(sparse, nodes=NODES, edges=200) for sparse in (False, True)}
FITTED = {
    (sparse, practise): SmallBlocks(practise=practise).fit(graph, FIRST)
    for sparse, graph in GRAPHS.items()
    for practise in (False, True)
}


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@settings(max_examples=examples(200, 20), deadline=None, derandomize=True)
@given(st.integers(0, 2**32))
def test_rescoring_what_moved_is_scoring_all(sparse: bool, seed: int) -> None:
    """However classes and labels came and went, and as the graph grows."""
    draws = np.random.default_rng(seed)
    bare, model = GRAPHS[sparse], copy(FITTED[sparse, bool(seed % 2)])
    with TemporaryDirectory() as folder:
        graph = bare.with_array_cache(FolderCache(Path(folder) / "0"))
        for step in range(6):
            if draws.random() < 0.15:
                bare = bare.grow([1000 + step], np.ones((1, 7)), [(1000 + step, 3)])
                graph = bare.with_array_cache(FolderCache(Path(folder) / f"{step + 1}"))
            change(model, graph, draws)
            kept = model.score_rows(graph, graph.rows)
            fresh = model.score_rows(bare, bare.rows)
            np.testing.assert_allclose(kept, fresh, rtol=0, atol=1e-9)


def change(model: Graft, graph: Graph, draws: np.random.Generator) -> None:
    """A class comes or goes, or labels come."""
    taken = {int(key) for keys in model.labels_.values() for key in keys}
    free = [node for node in TEACHES if node not in taken]
    if draws.random() < 0.3 and len(model.classes_) > 2:
        model.remove_classes([str(draws.choice(model.classes_))])
    elif len(free) >= 4:
        some = draws.choice(free, int(draws.integers(1, 4)), replace=False).tolist()
        new, known = f"n{len(free)}", str(draws.choice(model.classes_))
        if draws.random() < 0.6 and new not in model.classes_:
            model.add_classes(graph, {new: some})
        else:
            model.add_labels(graph, {known: some})


def test_only_classes_that_moved_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The new class, and those with few labels, whose means unlabelled nodes refine."""
    graph, model = GRAPHS[False].with_array_cache(FolderCache(tmp_path)), copy(FITTED[False, False])
    compared = list[int]()
    scores = Scoring.scores

    def counted(scoring: Scoring, rows: IntArray) -> Floats:
        compared.append(scoring.classes.scarcity.size)
        return scores(scoring, rows)

    monkeypatch.setattr(Scoring, "scores", counted)

    def columns() -> list[int]:
        compared.clear()
        model.score_rows(graph, graph.rows)
        return compared.copy()

    assert columns() == [3, 3, 3]
    assert columns() == []
    model.add_classes(graph, {"d": [30, 31, 32]})
    assert columns() == [2, 2, 2]
    model.remove_classes(["d"])
    assert columns() == []
    model.add_labels(graph, {"a": [40]})
    assert columns() == [3, 3, 3]
