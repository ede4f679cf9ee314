import numpy as np
import pytest
from scipy.sparse import csr_array

from nodegraft.graph.algebra import propagation
from tests.graph.reference import dense, everyone, joined_in, normalised, random_graph

ASKED = np.array([7, 39, 0, 7, 12])


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("hops", [0, 1, 2, 3])
@pytest.mark.parametrize("block", [7, 65_536])
def test_layers_are_powers_of_the_dense_matrix(
    sparse: bool, hops: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(propagation, "BLOCK_ROWS", block)
    graph = random_graph(sparse)
    layers = graph.propagated(ASKED, hops)
    assert len(layers) == hops + 1
    spread, power = normalised(joined_in(graph)), dense(graph.features(everyone(graph)))
    for layer in layers:
        np.testing.assert_allclose(dense(layer), power[ASKED], atol=1e-6)
        assert isinstance(layer, csr_array) == sparse
        power = spread @ power


def test_products_are_computed_once_per_view(monkeypatch: pytest.MonkeyPatch) -> None:
    view = random_graph()
    first = view.propagated(ASKED, 2)
    monkeypatch.setattr(propagation.PropagatedFeatures, "_spread", None)
    again = view.propagated(ASKED, 2)
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
