import numpy as np
import torch

from nodegraft.graph.block_model import BlockModel
from nodegraft.graph.graph import Graph
from nodegraft.methods.linear.dual import dual_lda
from nodegraft.methods.ugcn_lda import UGCNLDA, untrained_layers
from tests.graph.reference import dense

KEYS = ["a", "b", "c"]
FEATURES = np.array([[1.0, 0], [0, 2], [1, 1]], dtype=np.float32)


def test_layers_by_hand() -> None:
    # A path a - b - c: with loops, degrees are 2, 3 and 2.
    graph = Graph(KEYS, FEATURES, [("a", "b"), ("b", "c")])
    r = 1 / np.sqrt(6)
    spread = np.array([[1 / 2, r, 0], [r, 1 / 3, r], [0, r, 1 / 2]])
    weights = [np.array([[1.0, -1], [0.5, 2]]), np.array([[0.3, 1], [1, 0]])]
    first = np.tanh(spread @ FEATURES @ weights[0])
    second = np.tanh(spread @ first @ weights[1])
    rows = np.array([0, 2])
    neighbourhood, places = graph.around(rows, 2)
    tensors = [torch.from_numpy(one).float() for one in weights]
    found = untrained_layers(neighbourhood, tensors).numpy()[places]
    np.testing.assert_allclose(found, np.hstack((first, second))[rows], atol=1e-6)


def test_scores_are_discriminants_of_the_layers() -> None:
    graph, labels = BlockModel(nodes=120, classes=4, features=10).draw()
    taught = {name: graph.keys_of(rows[:8]) for name, rows in labels.items()}
    model = UGCNLDA(width=16, shrinkage=0.2).fit(graph, taught)
    rows = np.arange(graph.num_nodes)
    vectors = dense(model.embed(graph, graph.keys_of(rows))).astype(np.float64)
    assert vectors.shape == (120, 32)
    assert np.abs(vectors).max() < 1
    examples = vectors[np.concatenate([own[:8] for own in labels.values()])]
    head = dual_lda(examples @ examples.T, np.full(4, 8), 0.2, 32)
    expected = vectors @ examples.T @ head.coefficients + head.offsets
    np.testing.assert_allclose(model.score_rows(graph, rows), expected, rtol=1e-6, atol=1e-6)


def test_other_seeds_draw_other_encoders() -> None:
    graph, labels = BlockModel(nodes=40, classes=4, features=10).draw()
    taught = {name: graph.keys_of(rows[:3]) for name, rows in labels.items()}
    first, other, same = (
        UGCNLDA(width=4, seed=seed).fit(graph, taught).score_rows(graph, np.arange(5))
        for seed in (0, 1, 0)
    )
    np.testing.assert_array_equal(first, same)
    assert np.abs(first - other).max() > 1e-3
