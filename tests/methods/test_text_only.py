import numpy as np
import pytest

from nodegraft.base.errors import ParameterError
from nodegraft.graph.graph import Graph
from nodegraft.methods.sgc_mean import SGCMean
from nodegraft.methods.text_only import TextOnly
from nodegraft.model.registry import make_method
from tests.graph.reference import Dense, everyone, random_graph

BASE = {"a": [0, 1, 2, 38], "b": [3, 4], "c": [5]}


def scores(model: SGCMean, graph: Graph) -> Dense:
    model.fit(graph, BASE)
    model.add_classes(graph, {"d": [6, 7, 39]})
    return model.score_rows(graph, everyone(graph))


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_removing_every_edge_changes_nothing(sparse: bool) -> None:
    graph, bare = random_graph(sparse), random_graph(sparse, edges=0)
    assert graph.num_edges > bare.num_edges == 0
    np.testing.assert_array_equal(scores(TextOnly(), bare), scores(TextOnly(), graph))
    assert not np.allclose(scores(SGCMean(), bare), scores(SGCMean(), graph))


def test_it_is_sgc_mean_after_no_hop_and_cannot_be_told_otherwise() -> None:
    graph = random_graph()
    np.testing.assert_array_equal(scores(TextOnly(), graph), scores(SGCMean(hops=0), graph))
    assert TextOnly().get_params() == {"seed": 0}
    with pytest.raises(ParameterError, match="hops"):
        make_method("text-only", hops=2)
