import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nodegraft.graph.graph import Graph
from nodegraft.methods.sgc_mean import SGCMean
from tests.property.strategies import graphs, some_of, thorough


@thorough
@given(graphs(), st.integers(0, 3), st.data())
def test_a_node_scores_the_same_in_any_company(
    graph: Graph, hops: int, data: st.DataObject
) -> None:
    everyone = np.arange(graph.num_nodes)
    model = SGCMean(hops=hops).fit(graph, {"a": [0, 1], "b": [2]})
    model.add_classes(graph, {"c": [3]})
    together = model.score_rows(graph, everyone)
    batch = data.draw(st.permutations(data.draw(some_of(graph.num_nodes, 1)).tolist()))
    apart = model.score_rows(graph, np.array(batch))
    np.testing.assert_allclose(apart, together[batch], rtol=0, atol=1e-6)
    assert (np.abs(together) <= 1 + 1e-4).all()
