import numpy as np
import pytest
from scipy.sparse import csr_array

from nodegraft.graph.edges import row_blocks
from nodegraft.graph.edges.matrix import Matrix
from nodegraft.graph.propagation import propagation
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


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[Matrix]:
    """The layers that were spread as a whole."""
    found: list[Matrix] = []
    spread = propagation.PropagatedFeatures._spread

    def watched(self: propagation.PropagatedFeatures, layer: Matrix) -> Matrix:
        found.append(layer)
        return spread(self, layer)

    monkeypatch.setattr(propagation.PropagatedFeatures, "_spread", watched)
    return found


def test_few_sparse_rows_are_made_alone_and_many_products_once(passes: list[Matrix]) -> None:
    view = random_graph(sparse=True)
    view.propagated(ASKED[:1], 2)
    assert not passes
    for _ in range(view.num_nodes):
        view.propagated(ASKED, 2)
    assert len(passes) == 1


def test_dense_rows_are_made_once(passes: list[Matrix], monkeypatch: pytest.MonkeyPatch) -> None:
    """Many of them as a whole; those of the last hop never so."""
    view = random_graph()
    first = view.propagated(ASKED, 1)
    with monkeypatch.context() as patched:
        patched.setattr(propagation, "multiply", None)
        again = view.propagated(ASKED[::-1], 1)
    for layer, before in zip(again, first, strict=True):
        assert np.array_equal(layer[::-1], before)
    view.propagated(everyone(view), 1)
    assert not passes
    view.propagated(everyone(view), 2)
    view.propagated(everyone(view), 2)
    assert len(passes) == 1


def test_dense_rows_beyond_the_limit_are_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    truth = random_graph().propagated(ASKED, 2)
    monkeypatch.setattr(propagation, "MOST_CACHED_NUMBERS", 2 * truth[0].shape[1])
    view = random_graph()
    for asked in (ASKED[:1], ASKED, ASKED[:2], ASKED):
        for layer, wanted in zip(view.propagated(asked, 2), truth, strict=True):
            assert np.array_equal(layer, wanted[: asked.size])


def test_rows_that_are_not_copied_cannot_be_written_into() -> None:
    view = random_graph()
    for layer in view.propagated(everyone(view), 1):
        assert isinstance(layer, np.ndarray)
        with pytest.raises(ValueError, match="read-only"):
            layer[0] = 0.0
