import numpy as np
import torch

from nodegraft.graph.graph import Graph
from nodegraft.graph.labels import NodeLabels
from nodegraft.methods.ridge import Ridge
from tests.contract.streams import small_stream
from tests.graph.reference import dense, everyone
from tests.methods.reference import balanced_ridge


def taught(*sessions: tuple[str, ...], penalty: float = 0.02) -> tuple[Ridge, Graph, NodeLabels]:
    """Knows the classes of the split and then those of each session, all nodes visible."""
    stream = small_stream()
    model, labels = Ridge(max_epochs=4, penalty=penalty), stream.split.train
    model.fit(stream._graph, labels)
    for classes in sessions:
        support = stream.split.support.select(classes)
        model.add_classes(stream._graph, support)
        labels = labels | support
    return model, stream._graph, labels


def test_scores_are_the_closed_form_with_weights_written_out() -> None:
    split = small_stream().split
    model, graph, labels = taught(split.novel[:2], split.novel[2:3])
    vectors = dense(model.embed(graph, everyone(graph).tolist()))
    centre = np.mean([vectors[labels[name]].mean(axis=0) for name in split.known], axis=0)
    around = vectors - centre
    expected = balanced_ridge(around / np.linalg.norm(around, axis=1)[:, None], labels, 0.02)
    found = model.score_rows(graph, everyone(graph))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def test_session_by_session_is_all_at_once() -> None:
    novel = small_stream().split.novel
    whole, graph, _ = taught(novel)
    pieces, _, _ = taught(novel[:1], novel[1:4], novel[4:])
    ours, theirs = (model.score_rows(graph, everyone(graph)) for model in (whole, pieces))
    np.testing.assert_allclose(theirs, ours, rtol=1e-9, atol=1e-9)


def test_guesses_at_the_indicators_sum_to_1() -> None:
    # What a free bias buys; a penalised one would pull all of them towards 0.
    model, graph, _ = taught(small_stream().split.novel[:2], penalty=1.0)
    np.testing.assert_allclose(model.score_rows(graph, everyone(graph)).sum(axis=1), 1.0)


def test_a_removed_class_stays_in_the_shared_sums_only() -> None:
    novel = small_stream().split.novel
    model, graph, _ = taught(novel[:2])
    gram, weights = model.gram_, model.weights_
    model.remove_classes([novel[0]])
    assert model.gram_ is gram
    assert torch.equal(model.weights_, weights[[*range(len(weights) - 2), len(weights) - 1]])
    model.add_classes(graph, small_stream().split.support.select(novel[2:3]))
    assert model.score_rows(graph, everyone(graph)).shape[1] == len(weights)
