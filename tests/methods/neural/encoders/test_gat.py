import numpy as np
import pytest
import torch
from torch import Tensor
from torch_geometric.nn import GATConv

from nodegraft.base.errors import ParameterError
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.edges.operator import Neighbourhood
from nodegraft.graph.graph import Graph
from nodegraft.methods.neural.encoders import GAT
from tests.graph.reference import everyone, joined_in, random_graph

ROWS = np.array([0, 5, 6, 21, 39])


def encoder(sizes: tuple[int, ...] = (7, 8, 4), heads: tuple[int, ...] = (4, 1)) -> GAT:
    made = GAT(list(sizes), list(heads), torch.Generator().manual_seed(3))
    for name, value in made.named_parameters():
        if name.endswith("bias"):
            value.data.uniform_(-1, 1, generator=torch.Generator().manual_seed(4))
    return made


def parameters(ours: GAT) -> list[Tensor]:
    found = dict(ours.named_parameters())
    names = ("weights.{}", "layers.{}.att_src", "layers.{}.att_dst", "layers.{}.bias")
    return [found[name.format(number)] for number in range(ours.hops) for name in names]


def by_pyg(ours: GAT, graph: Graph) -> tuple[Tensor, list[Tensor]]:
    """Embeddings of all nodes by PyG's own layers on dense features, and their weights."""
    data = graph.to_pyg()
    hidden, theirs = data.x, []
    for number, (weight, layer) in enumerate(zip(ours.weights, ours.layers, strict=True)):
        plain = GATConv(weight.shape[0], layer.out_channels, heads=layer.heads)
        copies = {name: value.detach().clone() for name, value in layer.named_parameters()}
        plain.load_state_dict(copies | {"lin.weight": weight.detach().T.clone()})
        theirs += [plain.lin.weight, plain.att_src, plain.att_dst, plain.bias]
        hidden = torch.nn.functional.elu(hidden) if number else hidden
        hidden = plain(hidden, data.edge_index)
    return hidden, theirs


def gradients(embeddings: Tensor, weights: list[Tensor]) -> list[Tensor]:
    """Of a loss in which every number of every embedding weighs differently."""
    noise = torch.randn(embeddings.shape, generator=torch.Generator().manual_seed(5))
    return list(torch.autograd.grad((embeddings * noise).sum(), weights))


def check_equal(ours: GAT, neighbourhood: Neighbourhood, graph: Graph, rows: IntArray) -> None:
    theirs, their_weights = by_pyg(ours, graph)
    expected, embeddings = theirs[torch.from_numpy(rows)], ours(neighbourhood)
    torch.testing.assert_close(embeddings, expected, rtol=1e-5, atol=1e-6)
    pairs = zip(
        gradients(embeddings, parameters(ours)), gradients(expected, their_weights), strict=True
    )
    for found, truth in pairs:
        torch.testing.assert_close(
            found, truth.T if truth.ndim == 2 else truth, rtol=1e-4, atol=1e-5
        )


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    ("sizes", "heads"), [((7, 4), (2,)), ((7, 8, 4), (4, 1)), ((7, 6, 6, 4), (3, 2, 1))]
)
def test_the_same_function_and_gradients_as_pyg(
    sparse: bool, sizes: tuple[int, ...], heads: tuple[int, ...]
) -> None:
    graph, ours = random_graph(sparse), encoder(sizes, heads)
    assert not joined_in(graph)[39].any()
    check_equal(ours, graph.full_batch(ours.hops), graph, everyone(graph))
    check_equal(ours, graph.neighbourhood(ROWS, ours.hops), graph, ROWS)


def test_the_generator_decides_every_weight_and_the_global_one_is_left_alone() -> None:
    before = torch.get_rng_state()
    made = [
        GAT([7, 8, 4], [4, 1], torch.Generator().manual_seed(seed)).state_dict()
        for seed in (1, 1, 2)
    ]
    assert torch.equal(torch.get_rng_state(), before)
    for name, value in made[0].items():
        assert torch.equal(value, made[1][name])
        assert name.endswith("bias") or not torch.equal(value, made[2][name])


def test_the_first_stored_weight_tells_the_number_of_features() -> None:
    ours = encoder()
    assert next(iter(ours.state_dict().values())).shape == (7, 8)
    assert (ours.hops, ours.size) == (2, 4)


def test_dropout_follows_its_generator() -> None:
    ours, neighbourhood = encoder(), random_graph().full_batch(2)
    plain, before = ours(neighbourhood), torch.get_rng_state()
    dropped = [ours(neighbourhood, 0.5, np.random.default_rng(0)) for _ in range(2)]
    assert torch.equal(*dropped)
    assert not torch.equal(dropped[0], plain)
    assert torch.equal(ours(neighbourhood, 0.5), plain)
    assert torch.equal(torch.get_rng_state(), before)


def test_heads_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ParameterError, match="3 heads cannot share 8 numbers evenly"):
        encoder(heads=(3, 1))
