from pathlib import Path

import numpy as np
import torch

from nodegraft.graph.graph import Graph
from nodegraft.methods.ranpac import RanPAC
from tests.contract.streams import small_stream
from tests.graph.reference import dense, everyone
from tests.methods.reference import balanced_ridge


def fitted(seed: int = 0, max_epochs: int = 4) -> tuple[RanPAC, Graph]:
    stream = small_stream()
    model = RanPAC(features=30, seed=seed, max_epochs=max_epochs)
    return model.fit(stream._graph, stream.split.train), stream._graph


def test_the_random_layer_depends_on_the_seed_alone() -> None:
    one, _ = fitted()
    longer, _ = fitted(max_epochs=6)
    other, _ = fitted(seed=1)
    assert one.lift_.shape == (one.out, 30)
    assert torch.equal(one.lift_, longer.lift_)
    assert not torch.equal(one.lift_, other.lift_)


def test_it_stays_fixed_through_sessions_saving_and_loading(tmp_path: Path) -> None:
    model, graph = fitted()
    drawn = model.lift_.clone()
    support = small_stream().split.support
    model.add_classes(graph, support.select(support.classes[:2]))
    model.save(tmp_path / "model")
    loaded = RanPAC.load(tmp_path / "model")
    for one in (model, loaded):
        one.add_classes(graph, support.select(support.classes[2:3]))
        assert torch.equal(one.lift_, drawn)


def test_scores_are_ridge_on_relu_of_the_random_layer() -> None:
    model, graph = fitted()
    vectors = dense(model.embed(graph, everyone(graph).tolist()))
    features = np.maximum(vectors @ dense(model.lift_), 0.0)
    expected = balanced_ridge(features, small_stream().split.train, model.penalty)
    found = model.score_rows(graph, everyone(graph))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
