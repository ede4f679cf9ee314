import numpy as np
import pytest
import torch
from torch import Tensor
from torch_geometric.nn import GCNConv

from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.edges.operator import Neighbourhood
from nodegraft.graph.graph import Graph
from nodegraft.methods.neural.encoders import GCN
from tests.graph.reference import everyone, joined_in, random_graph

ROWS = np.array([0, 5, 6, 21, 39])


def encoder(sizes: tuple[int, ...] = (7, 6, 4)) -> GCN:
    made = GCN(list(sizes), torch.Generator().manual_seed(3))
    with torch.no_grad():
        for bias in made.biases:
            bias.uniform_(-1, 1, generator=torch.Generator().manual_seed(4))
    return made


def by_pyg(ours: GCN, graph: Graph) -> tuple[Tensor, list[Tensor]]:
    """Embeddings of all nodes by PyG's layers with the same weights, and these weights."""
    data = graph.to_pyg()
    hidden, parameters = data.x, []
    for layer, (weight, bias) in enumerate(zip(ours.weights, ours.biases, strict=True)):
        convolution = GCNConv(*weight.shape)
        convolution.lin.weight = torch.nn.Parameter(weight.detach().T.clone())
        convolution.bias = torch.nn.Parameter(bias.detach().clone())
        parameters += [convolution.lin.weight, convolution.bias]
        hidden = convolution(hidden.relu() if layer else hidden, data.edge_index)
    return hidden, parameters


def gradients(embeddings: Tensor, parameters: list[Tensor]) -> list[Tensor]:
    """Of a loss in which every number of every embedding weighs differently."""
    weights = torch.randn(embeddings.shape, generator=torch.Generator().manual_seed(5))
    return list(torch.autograd.grad((embeddings * weights).sum(), parameters))


def check_equal(ours: GCN, neighbourhood: Neighbourhood, graph: Graph, rows: IntArray) -> None:
    theirs, their_parameters = by_pyg(ours, graph)
    parameters = [part for pair in zip(ours.weights, ours.biases, strict=True) for part in pair]
    embeddings = ours(neighbourhood)
    torch.testing.assert_close(embeddings, theirs[torch.from_numpy(rows)], rtol=1e-5, atol=1e-6)
    expected = gradients(theirs[torch.from_numpy(rows)], their_parameters)
    for found, truth in zip(gradients(embeddings, parameters), expected, strict=True):
        torch.testing.assert_close(
            found, truth.T if truth.ndim == 2 else truth, rtol=1e-4, atol=1e-5
        )


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("sizes", [(7, 4), (7, 6, 4), (7, 6, 5, 4)])
def test_the_same_function_and_gradients_as_pyg(sparse: bool, sizes: tuple[int, ...]) -> None:
    graph, ours = random_graph(sparse), encoder(sizes)
    assert not joined_in(graph)[39].any()
    check_equal(ours, graph.full_batch(ours.hops), graph, everyone(graph))
    check_equal(ours, graph.neighbourhood(ROWS, ours.hops), graph, ROWS)


def test_the_generator_decides_the_weights() -> None:
    states = [
        GCN([7, 6], torch.Generator().manual_seed(seed)).state_dict()["weights.0"]
        for seed in (1, 1, 2)
    ]
    assert torch.equal(states[0], states[1])
    assert not torch.equal(states[0], states[2])


def test_dropout_keeps_the_mean_and_follows_its_generator() -> None:
    ours, neighbourhood = encoder(), random_graph().full_batch(2)
    plain = ours(neighbourhood)
    draws = [ours(neighbourhood, 0.5, np.random.default_rng(seed)) for seed in range(400)]
    assert not torch.equal(draws[0], plain)
    assert torch.equal(draws[0], ours(neighbourhood, 0.5, np.random.default_rng(0)))
    mean = torch.stack(draws).mean(dim=0)
    assert (mean - plain).abs().max() < 0.25 * (draws[0] - plain).abs().max()


def test_without_a_generator_nothing_is_dropped() -> None:
    before = torch.get_rng_state()
    ours, neighbourhood = encoder(), random_graph().full_batch(2)
    assert torch.equal(ours(neighbourhood, 0.5), ours(neighbourhood))
    ours(neighbourhood, 0.5, np.random.default_rng(0))
    assert torch.equal(torch.get_rng_state(), before)
