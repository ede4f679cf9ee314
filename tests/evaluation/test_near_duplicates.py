import numpy as np
import pytest
from scipy.sparse import csr_array

from nodegraft.evaluation.near_duplicates import same_as_labelled
from nodegraft.graph.graph import Graph

FEATURES = np.array([[1.0, 0, 2], [1, 0, 2], [1, 2, 0], [0, 0, 0], [0, 0, 0], [2, 0, 1]])


@pytest.mark.parametrize("sparse", [True, False])
def test_nodes_with_the_features_of_a_labelled_node_are_near_duplicates(sparse: bool) -> None:
    graph = Graph(range(6), csr_array(FEATURES) if sparse else FEATURES, [(0, 1)])
    found = same_as_labelled(graph, np.array([1, 2, 4, 5]), np.array([0, 3]))
    # Row 4 has no features, as the labelled row 3, which says nothing about its text.
    assert found.tolist() == [True, False, False, False]
