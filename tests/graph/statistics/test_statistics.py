from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from nodegraft.graph.edges.relation import Relation
from nodegraft.graph.graph import Graph
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.statistics import GraphStatistics, KindStatistics, describe

# A star of four around 0, a pair 5-6, and 7 alone; 4 has no label.
EDGES = [(0, 1), (0, 2), (0, 3), (0, 4), (5, 6)]
LABELS = NodeLabels({"a": [0, 1, 2, 5], "b": [3, 6], "c": [7]})


def test_every_number_by_hand() -> None:
    features = csr_array(np.eye(8, 3))
    # NodeLabels edges: aa, aa, ab, ab. Ends: six of a, two of b.
    chance = (6 / 8) ** 2 + (2 / 8) ** 2
    assert describe(Graph(range(8), features, EDGES), LABELS) == GraphStatistics(
        nodes=8,
        edges=5,
        features=3,
        features_per_node=3 / 8,
        classes=3,
        smallest_class=1,
        median_class=2,
        largest_class=4,
        isolated=1,
        degree_quantiles=(0, 1, 1, 1, 1, 1, 4, 4),
        homophily=0.5,
        adjusted_homophily=(0.5 - chance) / (1 - chance),
        kinds=(KindStatistics("edges", 5, False, False, 0.5, (0.5 - chance) / (1 - chance)),),
    )


def test_every_number_of_every_kind_by_hand() -> None:
    kinds = {
        # aa, aa, and one that is in both kinds: ab.
        "cites": Relation([(0, 1), (2, 0), (0, 3), (3, 0)], directed=True),
        "near": Relation([(0, 3), (0, 4), (5, 6)], weights=[1, 2, 3]),
    }
    found = describe(Graph(range(8), np.eye(8), kinds), LABELS)
    plain = describe(Graph(range(8), np.eye(8), EDGES), LABELS)
    assert replace(found, kinds=plain.kinds) == plain
    cites, near = (5 / 6) ** 2 + (1 / 6) ** 2, 1 / 2
    assert found.kinds == (
        KindStatistics("cites", 3, True, False, 2 / 3, (2 / 3 - cites) / (1 - cites)),
        KindStatistics("near", 3, False, True, 0.0, (0 - near) / (1 - near)),
    )


def test_one_class_alone_is_homophilous_and_says_nothing() -> None:
    found = describe(Graph(range(8), np.eye(8), EDGES), NodeLabels({"a": range(8)}))
    assert (found.homophily, found.adjusted_homophily) == (1.0, 0.0)
    assert found.features_per_node == 8


@pytest.mark.parametrize("labels", [NodeLabels({}), NodeLabels({"a": [7]})])
def test_without_labelled_edges_homophily_is_zero(labels: NodeLabels) -> None:
    found = describe(Graph(range(8), np.eye(8), EDGES), labels)
    assert (found.homophily, found.adjusted_homophily) == (0.0, 0.0)
    assert found.classes == found.largest_class == len(labels)
