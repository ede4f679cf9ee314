import numpy as np
import pytest
from scipy.sparse import csr_array

from nodegraft.graph.algebra import propagation, row_blocks
from nodegraft.graph.algebra.matrix import Matrix
from tests.graph.reference import dense, everyone, joined_in, normalised, random_graph

ASKED = np.array([7, 39, 0, 7, 12])


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("hops", [0, 1, 2, 3])
@pytest.mark.parametrize("block", [1_000, 1 << 26])
def test_layers_are_powers_of_the_dense_matrix(
    sparse: bool, hops: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_blocks, "BLOCK_BYTES", block)
    graph = random_graph(sparse)
    layers = graph.propagated(ASKED, hops)
    assert len(layers) == hops + 1
    spread, power = normalised(joined_in(graph)), dense(graph.features(everyone(graph)))
    for layer in layers:
        np.testing.assert_allclose(dense(layer), power[ASKED], atol=1e-6)
        assert isinstance(layer, csr_array) == sparse
        power = spread @ power


@pytest.mark.parametrize("sparse", [False, True])
def test_which_rows_are_made_together_changes_no_bit(sparse: bool) -> None:
    few, whole = random_graph(sparse), random_graph(sparse)
    everything = whole.propagated(everyone(whole), 3)
    for _ in range(2):
        for layer, truth in zip(few.propagated(ASKED, 3), everything, strict=True):
            assert np.array_equal(dense(layer), dense(truth)[ASKED])


def test_few_rows_are_made_alone_and_many_products_once(monkeypatch: pytest.MonkeyPatch) -> None:
    view, passes = random_graph(), []
    spread = propagation.PropagatedFeatures._spread

    def watched(self: propagation.PropagatedFeatures, layer: Matrix) -> Matrix:
        passes.append(layer)
        return spread(self, layer)

    monkeypatch.setattr(propagation.PropagatedFeatures, "_spread", watched)
    view.propagated(ASKED[:1], 2)
    assert not passes
    for _ in range(view.num_nodes):
        view.propagated(ASKED, 2)
    assert len(passes) == 1
