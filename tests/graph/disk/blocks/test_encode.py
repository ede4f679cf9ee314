import sys
from pathlib import Path

import numpy as np
import pytest
from performance.anonymous_peak import AnonymousPeak

from nodegraft.base.errors import ParameterError
from nodegraft.graph.disk.blocks.encode import encode, stored_encoding
from nodegraft.graph.disk.blocks.layer_work import LayerWork, RowMap, RowNetwork, ThisProcess
from nodegraft.graph.edges.matrix import is_sparse
from nodegraft.graph.graph import Graph
from tests.graph.blocks_of import SMALL, network_of, placed, rows_in, same_bits, wide_graph
from tests.graph.reference import everyone, typed_graph

CLOSE = 1e-6
KINDS = ["float32", "float16", "sparse"]


def by_hand(graph: Graph, network: RowNetwork) -> np.ndarray:
    """In double precision, with all of S and every layer in memory."""
    spread = graph._adjacency.normalised.toarray().astype(np.float64)
    features = graph.features(everyone(graph))
    rows = np.asarray(features.toarray() if is_sparse(features) else features, dtype=float)
    for place, one in enumerate(network.maps):
        rows = spread @ rows if place else rows
        rows = rows if one.bias is None else rows + one.bias
        rows = np.maximum(rows, 0) if one.relu else rows
        rows = rows if one.weight is None else rows @ one.weight
    return rows


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("widths", [(3,), (6, 4), (5, 6, 2)])
def test_every_row_is_what_the_network_says(
    kind: str, widths: tuple[int, ...], tmp_path: Path
) -> None:
    graph, network = wide_graph(kind), network_of(7, *widths)
    made = encode(graph, network, folder=tmp_path, block_bytes=SMALL)
    assert made.computed > len(network.maps)
    np.testing.assert_allclose(rows_in(made), by_hand(graph, network), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_depends_on_where_blocks_begin(kind: str, tmp_path: Path) -> None:
    graph, network = wide_graph(kind, nodes=1536), network_of(7, 33, 17)
    made = [
        encode(graph, network, folder=tmp_path / str(size), block_bytes=size)
        for size in (SMALL, 3 * SMALL + 1, None)
    ]
    assert len({one.computed for one in made}) == 3
    for one in made[:2]:
        np.testing.assert_allclose(rows_in(one), rows_in(made[2]), rtol=CLOSE, atol=CLOSE)


def test_a_row_alone_is_the_row_among_many() -> None:
    rows = np.random.default_rng(0).standard_normal((1074, 128), dtype=np.float32)
    one = network_of(7, 128, 32).maps[1]
    many = one(rows)
    for place in (0, 7, 1018, 1073):
        np.testing.assert_allclose(
            one(rows[place : place + 1])[0], many[place], rtol=CLOSE, atol=CLOSE
        )


def test_whoever_starts_again_goes_on_and_leaves_the_last_layer(tmp_path: Path) -> None:
    class Cut(ThisProcess):
        def run(self, work: LayerWork):  # type: ignore[no-untyped-def]
            for count, done in enumerate(super().run(work)):
                if count == 3 and work.target.place.name == "2":
                    raise KeyboardInterrupt
                yield done

    graph, network = placed(wide_graph(), tmp_path / "cut"), network_of(7, 6, 4)
    truth = encode(graph, network, folder=tmp_path / "whole", block_bytes=SMALL)
    with pytest.raises(KeyboardInterrupt):
        encode(graph, network, Cut(), block_bytes=SMALL)
    assert stored_encoding(graph, network) is None
    made = encode(graph, network)
    blocks = truth.computed // 3
    assert made.computed == blocks - 3
    assert same_bits(stored_encoding(graph, network), rows_in(truth))
    assert sorted(one.name for one in made.place.parent.iterdir()) == [
        "2",
        "layout.json",
        "layout.json.hash",
    ]
    assert not encode(graph, network).computed


@pytest.mark.parametrize("layer", ["1", "2"])
def test_whoever_comes_second_finds_all_of_it_made(layer: str, tmp_path: Path) -> None:
    class Overtaken(ThisProcess):
        def run(self, work: LayerWork):  # type: ignore[no-untyped-def]
            for count, done in enumerate(super().run(work)):
                if count == 1 and work.target.place.name == layer:
                    encode(graph, network)
                yield done

    graph, network = placed(wide_graph(), tmp_path / "graph"), network_of(7, 6, 4)
    truth = encode(graph, network, folder=tmp_path / "whole", block_bytes=SMALL)
    made = encode(graph, network, Overtaken(), block_bytes=SMALL)
    assert same_bits(rows_in(made), rows_in(truth))


def test_other_weights_and_other_operators_are_kept_apart(tmp_path: Path) -> None:
    graph = typed_graph()
    width = graph.num_features
    weighed = graph.weighing({"plain": 1.0, "heavy": 0.5, "told": 0.0})
    cases = [
        (view, network_of(width, 4, 3, seed=seed)) for view in (graph, weighed) for seed in (0, 1)
    ]
    places = {encode(view, network, folder=tmp_path).place for view, network in cases}
    assert len(places) == 4
    plain = network_of(width, 4, 3).maps
    cut_off = RowNetwork((*plain[:-1], RowMap(plain[-1].bias, True)), width)
    assert cut_off.name != network_of(width, 4, 3).name


def test_what_cannot_be_kept_is_refused(tmp_path: Path) -> None:
    graph, network = wide_graph(), network_of(7, 4)
    with pytest.raises(ParameterError, match="name one"):
        encode(graph, network)
    with pytest.raises(ParameterError, match="whole graphs"):
        encode(graph.view(np.arange(5)), network, folder=tmp_path)
    with pytest.raises(ParameterError, match="takes 8 features, and the graph has 7"):
        encode(graph, network_of(8, 4), folder=tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of anonymous memory")
def test_memory_is_for_a_block_whatever_a_layer_takes(tmp_path: Path) -> None:
    nodes, width = 40_000, 256
    graph, network = wide_graph(nodes=nodes), network_of(7, width, 64)
    layer = 4 * nodes * width
    # Whatever is started once is started.
    encode(wide_graph(), network, folder=tmp_path / "small")
    with AnonymousPeak() as blocks:
        made = encode(graph, network, folder=tmp_path / "blocks", block_bytes=1_000_000)
    with AnonymousPeak() as whole:
        encode(graph, network, folder=tmp_path / "whole", block_bytes=10 * layer)
    assert made.computed > 100
    assert blocks.bytes < layer / 4 < layer < whole.bytes
