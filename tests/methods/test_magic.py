import numpy as np
import pytest
from scipy.sparse import csr_array

from nodegraft.evaluation.checks import check_no_leaks
from nodegraft.graph.graph import Graph
from nodegraft.graph.labels import NodeLabels
from nodegraft.methods.magic import Magic, edges_within, label_pair_prior, mean_field, two_hops
from nodegraft.methods.sgc_ridge import SGCRidge


def test_two_rounds_of_mean_field_by_hand() -> None:
    # A labelled node, its neighbour, and that one's neighbour.
    edges = csr_array(np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    unary = np.log(np.array([[1.0, 1], [1, 1], [1, 3]]))
    fixed = np.array([0, -1, -1])
    field = mean_field(unary, fixed, edges, np.log(4), rounds=2)
    # Round 0: (1, 0), (1/2, 1/2), (1/4, 3/4).
    middle = np.array([4 ** (1 + 1 / 4), 4 ** (3 / 4)])
    last = np.array([4 ** (1 / 2), 3 * 4 ** (1 / 2)])
    middle, last = middle / middle.sum(), last / last.sum()
    np.testing.assert_allclose(last, [1 / 4, 3 / 4])
    again = np.array([4 ** (1 + last[0]), 4 ** last[1]])
    end = np.array([4 ** middle[0], 3 * 4 ** middle[1]])
    np.testing.assert_allclose(field[0], [1, 0])
    np.testing.assert_allclose(field[1], again / again.sum())
    np.testing.assert_allclose(field[2], end / end.sum())


def test_the_prior_counts_edges_between_labelled_nodes() -> None:
    edges = [("a", "b"), ("c", "d"), ("a", "c"), ("d", "e")]
    graph = Graph(list("abcde"), np.eye(5), edges)
    labels = NodeLabels({"x": [0, 1], "y": [2, 3]})
    # Three edges, two of them within a class; each class has half of the ends.
    observed = (2 + 1 / 2) / 4
    expected = np.log(observed / 0.5), np.log((1 - observed) / 0.5)
    np.testing.assert_allclose(label_pair_prior(graph, labels), expected)
    assert label_pair_prior(graph, NodeLabels({"x": [0], "y": [4]})) == (0.0, 0.0)


def test_hops_and_edges_are_visible_ones() -> None:
    path = Graph(list("abcde"), np.eye(5), [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")])
    assert two_hops(path, np.array([0])).tolist() == [0, 1, 2]
    assert two_hops(path.view(np.array([0, 2, 3])), np.array([0])).tolist() == [0]
    assert edges_within(path, np.array([0, 1, 3])).toarray().tolist() == [
        [0, 1, 0],
        [1, 0, 0],
        [0, 0, 0],
    ]


def star() -> tuple[Graph, dict[str, list[str]]]:
    """Four nodes around each of two labelled ones; features say little of the classes."""
    keys = ["x", "y", *(f"{centre}{number}" for centre in "xy" for number in range(4))]
    features = np.random.default_rng(0).random((10, 12)) + np.eye(10, 12)
    edges = [(key[0], key) for key in keys[2:]] + [("x0", "x1"), ("y0", "y1")]
    return Graph(keys, features, edges), {"x": ["x", "x0", "x1"], "y": ["y", "y0", "y1"]}


def test_nodes_the_field_is_sure_of_join_as_labels() -> None:
    graph, labels = star()
    rows = np.arange(10)
    model = Magic(threshold=0.6, most_joining=2).fit(graph, labels)
    assert model.prior_[0] > 0 > model.prior_[1]
    more = {name: [*own, f"{name}2", f"{name}3"] for name, own in labels.items()}
    expected = SGCRidge().fit(graph, more).score_rows(graph, rows)
    np.testing.assert_allclose(model.score_rows(graph, rows), expected, atol=1e-6)


@pytest.mark.parametrize("off", [{"most_joining": 0}, {"few_labels": 1}, {"threshold": 0.999999}])
def test_without_refinement_it_is_sgc_ridge(off: dict[str, float]) -> None:
    graph, labels = star()
    ridge = SGCRidge().fit(graph, labels).score_rows(graph, np.arange(10))
    found = Magic(**off).fit(graph, labels)  # type: ignore[arg-type]
    np.testing.assert_allclose(found.score_rows(graph, np.arange(10)), ridge, atol=1e-12)


def test_refinement_sees_no_hidden_label() -> None:
    check_no_leaks(lambda: Magic(threshold=0.3))
